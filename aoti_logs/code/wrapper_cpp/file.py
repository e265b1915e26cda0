"""A generated C++ wrapper read lazily: an AOTInductor `wrapper.cpp`, an older combined `.cpp`, or the C++ of
`torch.compile` with `cpp_wrapper=True`.

Landmarks are found in the bytes; what lies between them is read when somebody asks for it, so that one
question to a file with thousands of kernels costs little more than finding where they start. Some 660 lines of
fixed text in front of the model (runtime interface, launch helpers) are never read as model code.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.model import Call, CompiledModel, Kernel, Launch, ModelInput
from aoti_logs.code.wrapper.mentions import Mentions
from aoti_logs.code.wrapper_cpp import info, landmarks
from aoti_logs.code.wrapper_cpp.body import body_of
from aoti_logs.code.wrapper_cpp.bound import bound
from aoti_logs.code.wrapper_cpp.constants import constants, model_base
from aoti_logs.code.wrapper_cpp.kernels import Kernels
from aoti_logs.code.wrapper_cpp.read import EntryBody, RawLaunch

if TYPE_CHECKING:
    from collections.abc import Collection

    from aoti_logs.code.model import Buffer, Constant, InputCheck, Launcher, Release, Size
    from aoti_logs.code.wrapper_cpp.constants import ModelBase
    from aoti_logs.sources.source import Source

_DEVICE_INCLUDE = re.compile(rb"#include <torch/csrc/inductor/(?:aoti_include|cpp_wrapper)/(\w+)\.h>")
_DEVICE_USE = re.compile(
    rb"cached_torch_device_type_(\w+)|CACHE_TORCH_DEVICE\((\w+)\)|empty_strided_(cpu|cuda|xpu)\b"
)


class WrapperFile:
    """A C++ wrapper; every part is computed once, when first asked for.

    Args:
        source: the text, as a source of its own; lines are its lines.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    # ------------------------------------------------------------ landmarks

    @cached_property
    def flavour(self) -> str:
        """`aoti_cpp` or `jit_cpp`."""
        entry = self._entry
        if entry is not None:
            return "aoti_cpp" if b"::run_impl" in entry[0] else "jit_cpp"
        return "aoti_cpp" if self.source.data.find(b"AOTInductorModel") >= 0 else "jit_cpp"

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Devices that the code was written for."""
        head = bytes(self.source.data[:65536])
        found = [m[1].decode() for m in _DEVICE_INCLUDE.finditer(head)]
        if not found:
            used = _DEVICE_USE.finditer(self._entry_text.encode())
            found = [next(g for g in m.groups() if g).decode() for m in used]
        return tuple(dict.fromkeys(found)) or ("cpu",)

    @cached_property
    def _entry(self) -> landmarks.Function | None:
        return landmarks.entry_function(self.source.data)

    @cached_property
    def _entry_text(self) -> str:
        entry = self._entry
        return "" if entry is None else self.source.cut(entry[1], entry[2])

    @cached_property
    def _constructor(self) -> tuple[int, int]:
        return info.constructor(self.source)

    # ------------------------------------------------------------ kernels

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels(self.source)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of all kernels that the wrapper defines, declares or keeps a slot for."""
        return self._kernels.names

    def kernel(self, name: str) -> Kernel | None:
        """Return a kernel by the name that launches use, or None."""
        return self._kernels.kernel(name)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """All kernels that can be read, in the order of their names in the file."""
        return self._kernels.all

    def kernels_with(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in whose body a check prints exactly that message."""
        return self._kernels.with_check(message)

    @property
    def launchers(self) -> tuple[Launcher, ...]:
        """How each kernel is started on its device, where the wrapper says it."""
        return (*self._kernels.launchers, *self._read.launchers.values())

    # ------------------------------------------------------------ the entry function

    @cached_property
    def _listed_inputs(self) -> tuple[tuple[int, str, int], ...]:
        return tuple(info.input_names(self.source, *self._constructor))

    @cached_property
    def _read(self) -> EntryBody:
        return body_of(
            frozenset(self.kernel_names),
            tuple((name, index) for index, name, _ in self._listed_inputs),
            tuple(c.name for c in self.constants if c.name),
            self._text_of(landmarks.folding_function(self.source.data)),
            self._text_of(self._entry),
        )

    def _text_of(self, function: landmarks.Function | None) -> tuple[str, int] | None:
        if function is None or function[2] <= function[1]:
            return None
        return self.source.cut(function[1], function[2]), self.source.line_at(function[1])

    def _bound(self, index: int, raw: RawLaunch) -> Launch:
        return bound(index, raw, self._kernels.target(raw.kernel), self._read)

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, raw in enumerate(self._read.launches):
            found.setdefault(raw.kernel, []).append(index)
        return found

    def launches_of(self, name: str) -> tuple[Launch, ...]:
        """Return the launches of one kernel, in program order."""
        return tuple(self._bound(i, self._read.launches[i]) for i in self._by_name.get(name, []))

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """All launches and extern calls, in program order."""
        raws, done = self._read.launches, self._read.bound
        key = tuple((name, self._kernels.target(name)) for name in dict.fromkeys(raw.kernel for raw in raws))
        if key not in done:
            done[key] = tuple(self._bound(index, raw) for index, raw in enumerate(raws))
        return done[key]

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The same without their arguments."""
        return tuple(Call(raw.kernel, raw.checked, raw.within) for raw in self._read.launches)

    def launch(self, index: int) -> Launch:
        """Return one of the launches."""
        return self._bound(index, self._read.launches[index])

    def mentioning(self, names: Collection[str]) -> list[int]:
        """Return the launches that may read or write one of these buffers, in program order."""
        return self._mentions.of(names)

    @cached_property
    def _mentions(self) -> Mentions:
        texts = ((raw.text, *raw.outputs, *(raw.arguments or ())) for raw in self._read.launches)
        return Mentions(texts, self._read.names.stands_for)

    @cached_property
    def inputs(self) -> tuple[ModelInput, ...]:
        """The run-time inputs, by index."""
        read = self._read
        rows = {
            index: ModelInput(
                index, name, line, read.input_lines.get(name, (0, None))[1], name in read.names.scalars
            )
            for index, name, line in self._listed_inputs
        }
        for name, (index, line) in read.input_lines.items():
            rows.setdefault(index, ModelInput(index, name, line, line, name in read.names.scalars))
        return tuple(row for _, row in sorted(rows.items()))

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Weights, buffers and folded constants, by index."""
        return tuple(constants(self.source, *self._constructor))

    @cached_property
    def base(self) -> ModelBase | None:
        """What the constructor gives to its base class: how many there are of each, and who brings the weights."""
        return model_base(self.source, *self._constructor)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Where size symbols get their values, in program order."""
        return tuple(self._read.sizes)

    @cached_property
    def checks(self) -> tuple[InputCheck, ...]:
        """Checks of the inputs, then the asserts in the entry function."""
        return (*info.checks(self.source), *self._read.checks)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Births, renames and views of buffers, in program order."""
        return tuple(self._read.buffers)

    @property
    def arrays(self) -> dict[str, tuple[str, ...]]:
        """Arrays that extents are passed in (`int_array_3`), with their elements."""
        return self._read.arrays

    @property
    def releases(self) -> tuple[Release, ...]:
        """Ends of buffers, in program order."""
        return tuple(self._read.releases)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names that are returned, in order."""
        return tuple(name for _, name in sorted(self._read.outputs.items()))

    @property
    def unread(self) -> tuple[tuple[int, str], ...]:
        """(line, text) of statements that no form fits."""
        return tuple(self._read.unread)

    # ------------------------------------------------------------ other files

    @cached_property
    def kernel_files(self) -> tuple[str, ...]:
        """Base names of the `.kernel.cpp` files that the compile and link commands name."""
        return info.kernel_files(self.source)

    @cached_property
    def compile_paths(self) -> tuple[str, ...]:
        """Paths of the sources in the compile commands, as they were on the machine that compiled."""
        return info.compile_paths(self.source)

    @cached_property
    def model(self) -> CompiledModel:
        """Everything the wrapper says."""
        return CompiledModel(
            self.source,
            self.flavour,
            self.devices,
            self.kernels,
            self.launches,
            self.inputs,
            self.constants,
            self.sizes,
            self.checks,
            self.buffers,
            self.releases,
            self.outputs,
            self.kernel_files,
            self.unread,
        )
