"""Code in a model that Inductor did not write, which a memory fault puts under suspicion: kernels and operators of the user's own.

Inductor's kernels test their indices (`assert_indirect_indexing`) and have indices as wide as their sizes need; in a user's
Triton kernel nobody does either, and of a custom operator nothing but its fake function is known to the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Num
from aoti_logs.code.kernel.inside import Inside
from aoti_logs.code.triton.body import triton_function
from aoti_logs.code.triton.narrow_products import LARGEST, narrow_products
from aoti_logs.rules.operators import is_custom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.code.model import Kernel, Launch
    from aoti_logs.code.triton.narrow_products import NarrowProduct
    from aoti_logs.code.view import ModelView
    from aoti_logs.sources.source import Place

_MOST = 3
"""So many of a kind are named."""
_MOST_WRAPPERS = 64
_MOST_PROGRAMS = (2**31 - 1, 65_536, 65_536)
"""No grid has more blocks along an axis (CUDA C++ Programming Guide, technical specifications: 65,535 along y and z)."""


@dataclass(frozen=True)
class Product:
    """An int32 product of a user's kernel in one launch: `value` is the parameter's, `programs` how many there can be."""

    kernel: str
    function: str
    product: NarrowProduct
    place: Place
    value: int | None
    programs: int | None
    constant: bool

    @property
    def where(self) -> str:
        """Its line, in a form that is short enough for a sentence."""
        name = self.place.source.rpartition("/")[2].rpartition("!")[2]
        return f"line {self.place.line} of {name if len(name) < 40 else name[:8] + '..' + name.partition('.')[2]}"

    @property
    def first(self) -> int | None:
        """The first program in which it does not fit, None where the parameter's value is not known."""
        return LARGEST // self.value + 1 if self.value is not None and self.value > 0 else None

    @property
    def can_overflow(self) -> bool:
        """Whether the numbers allow it; of a block size only where they show it, since every kernel has one."""
        if self.first is None or self.first >= _MOST_PROGRAMS[self.product.axis]:
            return False
        return not self.constant if self.programs is None else self.programs > self.first

    def wrapped(self, program: int) -> int | None:
        """Return what the product becomes in one program, where it does not fit."""
        if self.value is None or abs(program * self.value) <= LARGEST:
            return None
        return (program * self.value + 2**31) % 2**32 - 2**31


def suspects(evidence: Evidence) -> tuple[str, ...]:
    """Return what is suspect, each sentence as something possible."""
    said = []
    own = [kernel.name for _, kernel in _user_kernels(evidence)]
    if own:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(own[:_MOST]))
        said.append(f"possible: {names}: a kernel of the user's own, in which Inductor tests no index")
    said += [_overflow(p) for p in products(evidence) if p.can_overflow][:_MOST]
    operators = custom_operators(evidence)
    if operators:
        names = ", ".join(f"`{name}`" for name in operators[:_MOST])
        said.append(
            f"possible: {names}: a custom operator, of which the compiler knows only the fake (meta) function; with dynamic "
            "sizes that has to compute with SymInts, or the result is made for the example's sizes"
        )
    return tuple(said)


def _overflow(found: Product) -> str:
    product = found.product
    up_to = (
        "" if found.programs is None else f"; the model was compiled for up to {found.programs:,} programs"
    )
    return (
        f"possible: `{product.text}` in `{found.kernel}` ({found.where}) is computed in int32 and overflows from program "
        f"{found.first:,} on ({product.param} = {found.value}){up_to}"
    )


def products(evidence: Evidence) -> Iterator[Product]:
    """Yield the int32 products of the user's kernels at hand, for each launch with other numbers."""
    seen = set()
    for view, kernel in _user_kernels(evidence):
        meta = Inside(kernel).meta
        found = triton_function(kernel)
        if meta is None or found is None:
            continue
        types = {p.name: p.dtype or "" for p in kernel.params} | dict(meta.signature)
        constants = dict(meta.constants)
        for product in narrow_products(kernel, types):
            for launch in view.wrapper.launches_of(kernel.name):
                value = _value(view, launch, product.param, constants)
                made = Product(
                    kernel.name,
                    found[0].name,
                    product,
                    kernel.source.place(product.line),
                    value,
                    _programs(view, launch, product.axis),
                    types.get(product.param) == "constexpr",
                )
                if made not in seen:
                    seen.add(made)
                    yield made


def _user_kernels(evidence: Evidence) -> Iterator[tuple[ModelView, Kernel]]:
    for code in evidence.base.wrappers[:_MOST_WRAPPERS]:
        if code.wrapper is None:
            continue
        launched = {call.kernel for call in code.wrapper.calls}
        for kernel in code.kernels:
            meta = Inside(kernel).meta if kernel.name in launched else None
            if meta is not None and meta.kind == "user":
                yield evidence.view(code.wrapper), kernel


def _value(view: ModelView, launch: Launch, param: str, constants: dict[str, str]) -> int | None:
    """Return the value of a parameter in one launch: a literal, or what the kernel is compiled for."""
    del view
    for argument in launch.arguments:
        if argument.param == param and isinstance(argument.value, Num):
            number = argument.value.value
            return number if isinstance(number, int) else None
    text = constants.get(param, "")
    return int(text) if text.isdecimal() and len(text) < 12 else None


def _programs(view: ModelView, launch: Launch, axis: int) -> int | None:
    """Return how many programs there can be along an axis, where that is a number or a size with a known upper limit."""
    text = launch.grid[axis].strip().rstrip("L") if axis < len(launch.grid) else ""
    if text.isdecimal() and len(text) < 12:
        return int(text)
    if text not in view.sizes:
        return None
    limits = [
        limit.upper for limit in view.symbol(text).limits if limit.extent == text and limit.upper is not None
    ]
    return min(limits, default=None)


def custom_operators(evidence: Evidence) -> tuple[str, ...]:
    """Return the operators at hand that are not PyTorch's: those of packages, and those that Python wrappers call."""
    found: dict[str, None] = {}
    for package in evidence.packages:
        for model in package.models:
            for node in model.extern_nodes:
                if is_custom(_dotted(node.target)):
                    found.setdefault(str(node.target))
    for code in evidence.base.wrappers[:_MOST_WRAPPERS]:
        for call in code.wrapper.calls if code.wrapper is not None else ():
            if call.kernel.startswith("torch.ops.") and is_custom(call.kernel):
                found.setdefault(call.kernel)
    return tuple(found)


def _dotted(target: str | None) -> str | None:
    """Return `torch.ops.demo.mix` of `demo::mix` and `torch.ops.demo.mix.default`."""
    if target is None:
        return None
    dotted = target.replace("::", ".")
    return dotted if dotted.startswith("torch.ops.") else f"torch.ops.{dotted}"
