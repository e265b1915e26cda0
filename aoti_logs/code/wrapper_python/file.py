"""The Python wrapper that `torch.compile` generates (`output_code.py`), read lazily.

Written by `torch/_inductor/codegen/wrapper.py`. Kernels are found by landmarks in the bytes, the functions
around the launches are parsed with `ast`; with `cpp_wrapper=True` the file holds C++ in a raw string, which the
reader of C++ wrappers takes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import at_line_starts
from aoti_logs.code.model import Call, CompiledModel, Constant, Kernel, Launch, ModelInput
from aoti_logs.code.wrapper.mentions import Mentions
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.code.wrapper_python.bind import bound
from aoti_logs.code.wrapper_python.body import CallReader
from aoti_logs.code.wrapper_python.kernels import DefinedKernels
from aoti_logs.code.wrapper_python.read import CallBody, RawCall
from aoti_logs.code.wrapper_python.regions import example_numbers, grid_functions
from aoti_logs.code.wrapper_python.text import parse_functions
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Collection

    from aoti_logs.code.model import Buffer, InputCheck, Launcher, Release, Size

_FUNCTION = re.compile(rb"([ ]*)def (\w+)\((?:self, )?args\):")
_CPP_START = re.compile(rb"cpp_wrapper_src = \(\s*\n\s*r?(?P<quote>'''|\"\"\")")
_KERNEL_SRC = re.compile(rb"^kernel_src = \(\s*\n\s*r?(?P<quote>'''|\"\"\")", re.MULTILINE)
_CONSTANT = re.compile(rb"(\w+) = None  # [0-9a-f]{8,}")
_DEVICE = re.compile(rb"device_str='(\w+)'|empty_strided_(cpu|cuda|xpu|mps|mtia)\(\(|async_compile\.(cpp)")
_PATHS = re.compile(rb"# kernel path: ([^\n]+)")
_LONGEST_KEPT = 1 << 17
"""What was read of longer text is not kept for other copies of it."""


class OutputCode:
    """A Python wrapper; every part is computed once, when first asked for.

    Args:
        source: the text, as a source of its own.
    """

    def __init__(self, source: Source) -> None:
        self._file = source

    @property
    def source(self) -> Source:
        """The text that line numbers count in: the file, or the C++ inside."""
        return self._file if self._cpp is None else self._cpp.source

    # ------------------------------------------------------------ C++ inside

    @cached_property
    def _cpp(self) -> WrapperFile | None:
        """The C++ in the raw string of a `cpp_wrapper=True` file."""
        data = self._file.data
        found = at_line_starts(data, _CPP_START, b"cpp_wrapper_src = (")
        if not found:
            return None
        match = found[0]
        start, quote = match.end(), match["quote"]
        kernels = _KERNEL_SRC.search(data, start)
        if kernels is not None:
            start_of_last, quote = kernels.end(), kernels["quote"]
        else:
            start_of_last = start
        stop = data.find(quote, start_of_last)
        stop = len(data) if stop < 0 else stop
        first = self._file.line_at(start)
        lines = bytes(data[start:stop]).count(b"\n") + 1
        child = Source(
            f"{self._file.name}!cpp_wrapper_src",
            Kind.WRAPPER_CPP,
            lambda: bytes(data[start:stop]),
            parent=self._file,
            parent_lines=range(first, first + lines),
            role=self._file.role,
            label="cpp_wrapper_src",
            rank=self._file.rank,
        )
        return WrapperFile(child)

    # ------------------------------------------------------------ kernels

    @cached_property
    def flavour(self) -> str:
        """`jit_python`, or `jit_cpp` when the wrapper is C++ in a string."""
        return "jit_python" if self._cpp is None else "jit_cpp"

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Devices that the code was written for."""
        if self._cpp is not None:
            return self._cpp.devices
        found = (next(g for g in m.groups() if g).decode() for m in _DEVICE.finditer(self._file.data))
        return tuple(dict.fromkeys("cpu" if d == "cpp" else d for d in found))

    @cached_property
    def _defined(self) -> DefinedKernels:
        return DefinedKernels(self._file)

    @cached_property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of all kernels that the file defines."""
        return self._defined.names if self._cpp is None else self._cpp.kernel_names

    def kernel(self, name: str) -> Kernel | None:
        """Return a kernel by the name that launches use, or None."""
        return self._defined.get(name) if self._cpp is None else self._cpp.kernel(name)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """All kernels that can be read, in file order."""
        return tuple(k for k in map(self.kernel, self.kernel_names) if k is not None)

    def kernels_with(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in whose text a check prints exactly that message."""
        return self._defined.with_message(message) if self._cpp is None else self._cpp.kernels_with(message)

    # ------------------------------------------------------------ functions

    @cached_property
    def _regions(self) -> list[tuple[str, str, int]]:
        """(name, text, line) of the functions that take `args`, those within the text of a kernel left out."""
        data = self._file.data
        found = []
        for match in at_line_starts(data, _FUNCTION, b"args):"):
            name = match[2].decode("utf-8", "replace")
            if name.startswith(("benchmark", "get_args", "recursively")) or self._defined.holds(
                match.start()
            ):
                continue
            deeper = re.compile(rb"\n[ ]{0,%d}[^\s]" % len(match[1]))
            end = deeper.search(data, match.end())
            stop = len(data) if end is None else end.start()
            found.append((name, self._file.cut(match.start(), stop), self._file.line_at(match.start())))
        return found

    @cached_property
    def _read(self) -> CallBody:
        constants = tuple(c.name for c in self.constants)
        return _body_of(tuple(self._regions), frozenset(self._defined.names), constants)

    def _bound(self, index: int, raw: RawCall, name: str | None = None) -> Launch:
        """Bind a call; `name` is the kernel that the multi-kernel called may choose."""
        defined = self._defined
        if name is not None and name != raw.callee:
            raw = _chosen(raw, name, defined.passed(raw.callee, name))
        kernel = self.kernel(raw.callee)
        return bound(index, raw, self._read.names, kernel, defined.form(raw.callee), self._grids)

    @cached_property
    def _grids(self) -> dict[str, tuple[str, ...]]:
        return grid_functions(self._file)

    def launches_of(self, name: str) -> tuple[Launch, ...]:
        """Return the launches of one kernel, those through a multi-kernel included."""
        if self._cpp is not None:
            return self._cpp.launches_of(name)
        found = []
        for index, raw in enumerate(self._read.calls):
            if raw.callee == name or name in self._defined.parts(raw.callee):
                found.append(self._bound(index, raw, name))
        return tuple(found)

    @cached_property
    def hints(self) -> dict[str, int | float]:
        """The numbers among the inputs that the model was compiled with, by the input's name."""
        names = {i.name for i in self.inputs}
        return {name: number for name, number in example_numbers(self._file).items() if name in names}

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """All launches and extern calls, in program order."""
        if self._cpp is not None:
            return self._cpp.launches
        calls, bound = self._read.calls, self._read.bound
        kernels = {raw.callee: self.kernel(raw.callee) for raw in calls}
        forms = tuple((n, k and k.backend, self._defined.form(n)) for n, k in kernels.items())
        key = (forms, tuple(self._grids.items()))
        if key not in bound:
            bound[key] = tuple(self._bound(index, raw) for index, raw in enumerate(calls))
        return bound[key]

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The same without their arguments."""
        if self._cpp is not None:
            return self._cpp.calls
        return tuple(Call(raw.callee, True, raw.within) for raw in self._read.calls)

    def launch(self, index: int) -> Launch:
        """Return one of the launches."""
        if self._cpp is not None:
            return self._cpp.launch(index)
        return self._bound(index, self._read.calls[index])

    def mentioning(self, names: Collection[str]) -> list[int]:
        """Return the launches that may read or write one of these buffers, in program order."""
        return self._mentions.of(names) if self._cpp is None else self._cpp.mentioning(names)

    @cached_property
    def _mentions(self) -> Mentions:
        texts = ((raw.text, *raw.outputs, *(a[2] for a in raw.arguments)) for raw in self._read.calls)
        return Mentions(texts, self._read.names.stands_for)

    @cached_property
    def inputs(self) -> tuple[ModelInput, ...]:
        """The run-time inputs (lifted parameters among them), by position in `args`."""
        if self._cpp is not None:
            return self._cpp.inputs
        scalars = self._read.names.scalars
        return tuple(
            ModelInput(i, name, line, line, name in scalars)
            for i, (name, line) in enumerate(self._read.inputs)
        )

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """Constants that the module holds; parameters are inputs in this flavour."""
        if self._cpp is not None:
            return self._cpp.constants
        return tuple(
            Constant(index, m[1].decode("utf-8", "replace"), None, None, None, self._file.line_at(m.start()))
            for index, m in enumerate(at_line_starts(self._file.data, _CONSTANT, b" = None  # "))
        )

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Where size symbols get their values, in program order."""
        return tuple(self._read.sizes) if self._cpp is None else self._cpp.sizes

    @property
    def checks(self) -> tuple[InputCheck, ...]:
        """Asserts on sizes, strides and symbols, in program order."""
        return tuple(self._read.checks) if self._cpp is None else self._cpp.checks

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Births, renames and views of buffers, in program order."""
        return tuple(self._read.buffers) if self._cpp is None else self._cpp.buffers

    @property
    def arrays(self) -> dict[str, tuple[str, ...]]:
        """Arrays that extents are passed in (C++ only), with their elements."""
        return {} if self._cpp is None else self._cpp.arrays

    @property
    def releases(self) -> tuple[Release, ...]:
        """Ends of buffers, in program order."""
        return tuple(self._read.releases) if self._cpp is None else self._cpp.releases

    @property
    def launchers(self) -> tuple[Launcher, ...]:
        """How kernels are started; Triton itself starts those of a Python wrapper, which says nothing of it."""
        return () if self._cpp is None else self._cpp.launchers

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names that are returned, in order."""
        return self._read.outputs if self._cpp is None else self._cpp.outputs

    @property
    def unread(self) -> tuple[tuple[int, str], ...]:
        """(line, text) of statements that no form fits."""
        return tuple(self._read.unread) if self._cpp is None else self._cpp.unread

    # ------------------------------------------------------------ other files

    @cached_property
    def compile_paths(self) -> tuple[str, ...]:
        """Paths of `# kernel path:` comments: cache files on the machine that compiled."""
        found = at_line_starts(self._file.data, _PATHS, b"# kernel path: ")
        return tuple(dict.fromkeys(m[1].decode("utf-8", "replace").strip() for m in found))

    @cached_property
    def kernel_files(self) -> tuple[str, ...]:
        """Base names of those cache files."""
        return tuple(dict.fromkeys(re.split(r"[/\\]", path)[-1] for path in self.compile_paths))

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


def _chosen(raw: RawCall, name: str, passed: tuple[range, ...] | None) -> RawCall:
    """Return the call of one kernel that a multi-kernel's call becomes."""
    placed = [a for a in raw.arguments if a[0] is None]
    if passed is not None:
        if any(r.stop > len(placed) for r in passed):
            passed = ()
        kept = [placed[i] for r in passed for i in r]
        return replace(raw, callee=name, arguments=(*kept, *(a for a in raw.arguments if a[0] is not None)))
    return replace(raw, callee=name)


def _body_of(
    regions: tuple[tuple[str, str, int], ...], kernels: frozenset[str], constants: tuple[str, ...]
) -> CallBody:
    """Return what functions say; the same text in another copy, rank or recompile is read once."""
    kept = sum(len(text) for _, text, _ in regions) <= _LONGEST_KEPT
    read = _read_functions if kept else _read_functions.__wrapped__
    return read(regions, kernels, constants)


@lru_cache(maxsize=32)
def _read_functions(
    regions: tuple[tuple[str, str, int], ...], kernels: frozenset[str], constants: tuple[str, ...]
) -> CallBody:
    torn: list[tuple[int, str]] = []
    functions = parse_functions(regions, lambda line, text: torn.append((line, text)))
    body = CallReader(functions, kernels, constants).read()
    body.unread.extend(torn)
    return body
