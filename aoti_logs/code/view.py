"""One wrapper with its kernels and names: who wrote a buffer, what reaches it, how long it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.body import Store
from aoti_logs.code.kernel.slice import value_loads
from aoti_logs.code.model import ArgumentKind, Backend, CheckKind

if TYPE_CHECKING:
    from aoti_logs.code.body import Body
    from aoti_logs.code.buffers.flow import InputsReaching
    from aoti_logs.code.buffers.life import BufferLife, BufferLives
    from aoti_logs.code.buffers.uses import BufferUses
    from aoti_logs.code.buffers.writers import LastWriter
    from aoti_logs.code.codebase import CodeBase, Wrapper
    from aoti_logs.code.model import (
        Argument,
        Constant,
        InputCheck,
        Kernel,
        Launch,
        ModelInput,
        Size,
    )
    from aoti_logs.code.names.input_names import InputName
    from aoti_logs.code.sizes.evidence import SizeEvidence
    from aoti_logs.code.sizes.example_inputs import Example
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.code.sizes.missing_checks import MissingCheck
    from aoti_logs.code.sizes.symbol_facts import SymbolFacts, Symbols

_EXTENTS = re.compile(r"[{(]([^{}()]*(?:\([^()]*\)[^{}()]*)*)[})]")


@dataclass(frozen=True)
class Tensor:
    """A tensor behind a launch argument.

    `arg` is its name in the generated code. `name` is what the user calls it (an input's name, a
    weight's module path), None when no evidence tells. `shape` are extents as the code writes them.
    """

    arg: str
    kind: ArgumentKind
    input_index: int | None = None
    name: str | None = None
    line: int | None = None
    shape: tuple[str, ...] | None = None
    constant: Constant | None = None

    @property
    def shown(self) -> str:
        """The user's name, else the generated one."""
        return self.name or self.arg


class ModelView:
    """Questions about one wrapper."""

    def __init__(
        self,
        wrapper: Wrapper,
        base: CodeBase,
        names: dict[str, InputName],
        told: SizeEvidence | None = None,
    ) -> None:
        self.wrapper = wrapper
        self.base = base
        self.names = names
        self._told = told
        self._bodies: dict[str, Body | None] = {}
        self._named: dict[tuple[str, ArgumentKind], Tensor] = {}

    @cached_property
    def inputs(self) -> dict[str, ModelInput]:
        """Inputs by generated name."""
        return {i.name: i for i in self.wrapper.inputs}

    @cached_property
    def constants(self) -> dict[str, Constant]:
        """Constants by generated name."""
        return {c.name: c for c in self.wrapper.constants}

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """The first definition of each size symbol."""
        found: dict[str, Size] = {}
        for size in self.wrapper.sizes:
            found.setdefault(size.symbol, size)
        return found

    def size_chain(self, symbol: str) -> tuple[Size, ...]:
        """Return the definition of a symbol and of what it is an alias of, the symbol's own first."""
        chain: list[Size] = []
        while symbol in self.sizes and len(chain) < 50:
            size = self.sizes[symbol]
            if size in chain:
                break
            chain.append(size)
            if size.alias_of is None:
                break
            symbol = size.alias_of
        return tuple(chain)

    @cached_property
    def input_dims(self) -> tuple[InputDim, ...]:
        """Every dimension of the inputs that are tensors: what it is, and what is tested about it."""
        from aoti_logs.code.sizes.input_dims import input_dims

        return input_dims(self.wrapper.inputs, self.wrapper.sizes, self.wrapper.checks, self.names)

    @cached_property
    def examples(self) -> dict[str, Example]:
        """The example inputs that a Python wrapper carries, by generated name."""
        from aoti_logs.code.sizes.example_inputs import example_inputs

        return {} if self.is_aot else example_inputs(self.wrapper.source)

    @cached_property
    def symbols(self) -> Symbols:
        """The size symbols."""
        from aoti_logs.code.sizes.symbol_facts import Symbols

        return Symbols(self, self._told, self.examples)

    def symbol(self, name: str) -> SymbolFacts:
        """Return everything that is known of one size symbol."""
        return self.symbols[name]

    @cached_property
    def missing_checks(self) -> tuple[MissingCheck, ...]:
        """What nobody tests before the model computes."""
        from aoti_logs.code.sizes.missing_checks import missing_checks

        return missing_checks(self)

    @property
    def is_aot(self) -> bool:
        """True for AOTInductor: nothing guards its inputs when it runs."""
        return self.wrapper.flavour == "aoti_cpp"

    @cached_property
    def layouts(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]]:
        """Extents and strides by tensor name: from constants, asserts, buffers, and checks of inputs.

        Checks of single dimensions tell the rank only together with a check of the last stride.
        """
        found: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]] = {}
        for constant in self.wrapper.constants:
            if constant.shape is not None:
                shape = tuple(str(n) for n in constant.shape)
                found[constant.name] = (shape, _contiguous(constant.shape))
        dims: dict[str, dict[int, str]] = {}
        strides: dict[str, dict[int, str]] = {}
        for check in self.wrapper.checks:
            if check.kind is CheckKind.SIZE_STRIDE:
                parts = [
                    tuple(_extent(p) for p in m[1].split(",") if p.strip())
                    for m in _EXTENTS.finditer(check.expected)
                ]
                if parts:
                    found.setdefault(check.tensor, (parts[0], parts[1] if len(parts) > 1 else None))
            elif check.kind is CheckKind.EQUAL and check.dim is not None:
                dims.setdefault(check.tensor, {})[check.dim] = check.expected
            elif check.kind is CheckKind.STRIDE and check.dim is not None:
                strides.setdefault(check.tensor, {})[check.dim] = check.expected
        for size in self.wrapper.sizes:
            if size.tensor and size.dim is not None and not size.stride:
                dims.setdefault(size.tensor, {}).setdefault(size.dim, size.symbol)
        for tensor, steps in strides.items():
            rank = max(steps) + 1
            known = dims.get(tensor, {})
            if sorted(known) == list(range(rank)) and steps[rank - 1] == "1":
                shape = tuple(_extent(known[d]) for d in range(rank))
                whole = tuple(steps[d] for d in range(rank)) if len(steps) == rank else None
                found.setdefault(tensor, (shape, whole))
        for buffer in self.wrapper.buffers:
            if buffer.shape is not None:
                step = tuple(_extent(s) for s in buffer.stride) if buffer.stride is not None else None
                found.setdefault(buffer.name, (tuple(_extent(s) for s in buffer.shape), step))
        return found

    @cached_property
    def shapes(self) -> dict[str, tuple[str, ...]]:
        """Extents by tensor name, as the code writes them."""
        return {name: shape for name, (shape, _) in self.layouts.items()}

    @cached_property
    def strides(self) -> dict[str, tuple[str, ...]]:
        """Strides by tensor name, where the code tells them all."""
        return {name: stride for name, (_, stride) in self.layouts.items() if stride is not None}

    @cached_property
    def dtypes(self) -> dict[str, str]:
        """Dtypes by tensor name, as the code writes them: of constants, buffers, and checks of inputs."""
        found = {c.name: c.dtype for c in self.wrapper.constants if c.dtype}
        for buffer in self.wrapper.buffers:
            if buffer.dtype:
                found.setdefault(buffer.name, buffer.dtype)
        for check in self.wrapper.checks:
            if check.kind is CheckKind.DTYPE:
                found.setdefault(check.tensor, check.expected)
        return found

    def tensor(self, argument: Argument) -> Tensor:
        """Return what a pointer argument of a launch is."""
        return self.named(argument.name or argument.text, argument.kind)

    def named(self, name: str, kind: ArgumentKind = ArgumentKind.OTHER) -> Tensor:
        """Return the tensor of a generated name."""
        if (name, kind) not in self._named:
            self._named[name, kind] = self._read_named(name, kind)
        return self._named[name, kind]

    def _read_named(self, name: str, kind: ArgumentKind) -> Tensor:
        shape = self.shapes.get(name)
        if name in self.constants:
            constant = self.constants[name]
            return Tensor(name, ArgumentKind.CONSTANT, None, constant.fqn, constant.line, shape, constant)
        if name in self.inputs:
            entry = self.inputs[name]
            user = self.names.get(name)
            return Tensor(
                name, ArgumentKind.INPUT, entry.index, user.name if user else None, entry.line, shape
            )
        if name in self._buffer_lines:
            return Tensor(name, ArgumentKind.BUFFER, line=self._buffer_lines[name], shape=shape)
        return Tensor(name, kind, shape=shape)

    @cached_property
    def _buffer_lines(self) -> dict[str, int]:
        """Line of each buffer's birth."""
        return {b.name: b.line for b in reversed(self.wrapper.buffers)}

    def definition(self, name: str) -> Kernel | None:
        """Return the kernel with its body: in the wrapper, or in the kernel file that goes with it."""
        own = self.wrapper.kernel(name)
        if own is not None and (
            own.backend is Backend.TRITON or own.end_line > own.line + len(own.params) + 1
        ):
            return own
        from aoti_logs.code.kernel.choice import defined_elsewhere

        return defined_elsewhere(name, own, self.wrapper, self.base) or own

    def body(self, name: str) -> Body | None:
        """Return the body of a kernel, read once."""
        if name not in self._bodies:
            kernel = self.definition(name)
            self._bodies[name] = read_body(kernel) if kernel is not None else None
        return self._bodies[name]

    def written_by(self, launch: Launch) -> tuple[str, ...]:
        """Return the buffers that a launch writes."""
        found = list(launch.outputs)
        by_name = [a for a in launch.arguments if a.param and "out_ptr" in a.param]
        if by_name:
            found += [a.name for a in by_name if a.name]
        elif launch.backend is not Backend.EXTERN and (body := self.body(launch.kernel)) is not None:
            stored = {s.ptr for s in body.statements if isinstance(s, Store)}
            found += [a.name for a in launch.arguments if a.param in stored and a.name]
        return tuple(dict.fromkeys(found))

    def producer(self, name: str, before: int) -> Launch | None:
        """Return the launch that certainly wrote a buffer last before launch number `before`; None if that depends."""
        index = self.last_writer(name, before).launch
        return None if index is None else self.wrapper.launch(index)

    def read_by(self, launch: Launch, name: str) -> tuple[str, ...]:
        """Return the tensors that a launch makes the values of one of its outputs from."""
        pointers = [a for a in launch.arguments if a.name and a.kind in _TENSORS]
        if launch.backend is Backend.EXTERN:
            return tuple(dict.fromkeys(a.name for a in pointers if a.name and a.name not in launch.outputs))
        body = self.body(launch.kernel)
        stored = [a.param for a in pointers if a.name == name and a.param]
        if body is None or not stored:
            return tuple(a.name for a in pointers if a.name and "out_ptr" not in (a.param or ""))
        loaded = {ptr for param in stored for ptr in value_loads(body, param)}
        return tuple(dict.fromkeys(a.name for a in pointers if a.param in loaded and a.name))

    def roots(self, name: str, before: int) -> tuple[Tensor, ...]:
        """Return the model inputs (and constants) that the values of a buffer are made from, or may be."""
        return tuple(self.named(n) for n in self.inputs_reaching(name, before).values)

    @cached_property
    def _buffer_uses(self) -> BufferUses:
        from aoti_logs.code.buffers.uses import BufferUses

        return BufferUses(self.wrapper, self.body, self.sizes, self.layouts)

    @cached_property
    def lives(self) -> BufferLives:
        """The lives of all buffers."""
        from aoti_logs.code.buffers.life import BufferLives

        return BufferLives(self._buffer_uses)

    def buffer(self, name: str) -> BufferLife | None:
        """Return the life of a buffer, input or constant; None when the wrapper has none of that name."""
        return self.lives.of(name)

    def last_writer(self, name: str, before: int | None = None) -> LastWriter:
        """Return who wrote a tensor last before launch number `before` (None: before the model returns)."""
        from aoti_logs.code.buffers.writers import last_writer

        return last_writer(self._buffer_uses, name, -1 if before is None else before)

    def inputs_reaching(self, name: str, before: int | None = None) -> InputsReaching:
        """Return the inputs and constants that reach a tensor as launch number `before` would see it."""
        from aoti_logs.code.buffers.flow import BufferFlow

        return BufferFlow(self._buffer_uses).inputs(name, -1 if before is None else before)

    def limits(self, tensor: str, dim: int) -> dict[CheckKind, InputCheck]:
        """Return the checks of one dimension of an input."""
        wanted = {CheckKind.MIN, CheckKind.MAX, CheckKind.EQUAL}
        return {
            c.kind: c for c in self.wrapper.checks if c.tensor == tensor and c.dim == dim and c.kind in wanted
        }


_TENSORS = {ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT}


def _contiguous(shape: tuple[int, ...]) -> tuple[str, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(str(step))
        step *= extent
    return tuple(reversed(strides))


@lru_cache(maxsize=4096)
def _extent(text: str) -> str:
    text = text.strip()
    return text[:-1] if re.fullmatch(r"\d+L", text) else text


def read_body(kernel: Kernel) -> Body:
    """Read a kernel's body in its own language."""
    if kernel.backend is Backend.TRITON:
        from aoti_logs.code.triton.body import triton_body

        return triton_body(kernel)
    from aoti_logs.code.cpp.body import cpp_body

    return cpp_body(kernel.source, kernel.line, kernel.end_line)
