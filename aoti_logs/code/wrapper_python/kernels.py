"""Kernels that a Python wrapper defines: `name = async_compile.<backend>(..., '''source''')`.

Printed by `PythonWrapperCodegen.define_kernel` and the backends' `define_kernel` (`torch/_inductor/codegen/simd.py`,
`cpp.py`, `wrapper.py`); kernels that a user wrote in Triton are defined the same way.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.body import Param
from aoti_logs.code.kernel.text import (
    CPP_START,
    at_line_starts,
    check_messages,
    cpp_kernel_at,
    cpp_params,
    quoted,
    triton_kernel,
)
from aoti_logs.code.model import Backend, Kernel
from aoti_logs.code.wrapper_cpp.text import closing, split_arguments
from aoti_logs.code.wrapper_python.forms import CallForm, choice_form, plain_form, triton_form

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_START = re.compile(rb"([\w\x80-\xff]+) = (?:async_compile\.(\w+)|(compile_mps_shader))\(")
_QUOTE = re.compile(rb"'''|\"\"\"")
_PATH = re.compile(rb"^# kernel path: ([^\n]*)", re.MULTILINE)
_NAMES = re.compile(rb"[A-Za-z_]\w*")
_FUNCTION = re.compile(r"\(\s*['\"]((\w+?)(?:_\d+)?)['\"]")
"""The function that is the kernel, perhaps with a number: `async_compile.triton('scale', ...)` of `scale_0`."""
_LINE = 4096
_CHOICE = 1 << 16
_CHOICES = frozenset({"multi_kernel", "size_hint_multi_kernel"})
_PYTHON = frozenset({"pallas", "cutedsl", "nv_universal_gemm", "halide"})
"""Backends whose kernels are written in a dialect of Python that is not read."""
_PASSED = re.compile(rb"(\d{1,6}): \[([^\]]*)\]")
_SLICE = re.compile(rb"slice\((\d{1,6}), (\d{1,6}), None\)")
_MAIN = re.compile(r"^def (\w+)_main\(([^()]*)\)", re.MULTILINE)
_EXPORTED = re.compile(r"\b(?:PT_EXPORT|extern \"C\")\s+int\s+(\w+)\s*\(")
_METAL = re.compile(r"\bkernel\s+void\s+(\w+)\s*\(")


@dataclass(frozen=True)
class Definition:
    """One definition: byte offsets of the statement and of the kernel's text inside its quotes."""

    name: str
    backend: str
    start: int
    text_start: int
    text_end: int


class DefinedKernels:
    """The kernels of a Python wrapper, found by landmarks and read one by one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._read: dict[str, Kernel | None] = {}
        self._forms: dict[str, CallForm | None] = {}

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Name -> definition, in the order of the file."""
        data = self.source.data
        matches = at_line_starts(data, _START, b" = async_compile.", b" = compile_mps_shader(")
        ends = [m.start() for m in matches[1:]] + [len(data)]
        found = {}
        for match, limit in zip(matches, ends, strict=False):
            name = match[1].decode("utf-8", "replace")
            backend = (match[2] or match[3]).decode()
            line_end = data.find(b"\n", match.end(), limit)
            quote = _QUOTE.search(data, match.end(), limit if line_end < 0 else min(limit, line_end + _LINE))
            if quote is None or backend in _CHOICES:
                text = self.source.cut(match.end() - 1, min(limit, match.end() + _CHOICE))
                end = closing(text, 0)
                stop = limit if end < 0 else match.end() + len(text[: end - 1].encode())
                found[name] = Definition(name, backend, match.start(), match.end(), min(stop, limit))
                continue
            stop = data.find(quote[0], quote.end(), limit)
            found[name] = Definition(name, backend, match.start(), quote.end(), limit if stop < 0 else stop)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all kernels."""
        return tuple(self.definitions)

    def get(self, name: str) -> Kernel | None:
        """Return a kernel by its name in the wrapper."""
        if name not in self._read:
            definition = self.definitions.get(name)
            self._read[name] = None if definition is None else self._kernel(definition)
        return self._read[name]

    def holds(self, at: int) -> bool:
        """Tell whether a byte stands in the text of a kernel."""
        return self._holder(at) is not None

    def _holder(self, at: int) -> str | None:
        place = bisect.bisect_right(self._starts, at) - 1
        return self._known[place].name if place >= 0 and at < self._known[place].text_end else None

    @cached_property
    def _known(self) -> list[Definition]:
        return sorted(self.definitions.values(), key=lambda d: d.start)

    @cached_property
    def _starts(self) -> list[int]:
        return [d.start for d in self._known]

    def parts(self, name: str) -> tuple[str, ...]:
        """Return the kernels that a multi-kernel chooses from; empty for any other."""
        definition = self.definitions.get(name)
        if definition is None or definition.backend not in _CHOICES:
            return ()
        inside = bytes(self.source.data[definition.text_start : definition.text_end])
        names = (m[0].decode() for m in _NAMES.finditer(inside))
        return tuple(dict.fromkeys(n for n in names if n in self.definitions and n != name))

    def passed(self, name: str, part: str) -> tuple[range, ...] | None:
        """Return which arguments a multi-kernel passes to one of its kernels; None for all of them.

        `arg_index = {0: [slice(0, 4, None)], ...}` stands above its definition.
        """
        definition = self.definitions.get(name)
        parts = self.parts(name)
        if definition is None or part not in parts:
            return None
        start = max(0, definition.start - _LINE * (1 + len(parts)))
        above = bytes(self.source.data[start : definition.start])
        above = above[above.rfind(b"arg_index = {") :] if b"arg_index = {" in above else b""
        for match in _PASSED.finditer(above):
            if int(match[1]) == parts.index(part):
                return tuple(range(int(m[1]), int(m[2])) for m in _SLICE.finditer(match[2]))
        return None

    def form(self, name: str) -> CallForm | None:
        """Return how a kernel is called; None for names that are no kernel's."""
        if name not in self._forms:
            self._forms[name] = self._read_form(name)
        return self._forms[name]

    def _read_form(self, name: str) -> CallForm | None:
        definition, kernel = self.definitions.get(name), self.get(name)
        if definition is None or kernel is None:
            return None
        if definition.backend in _CHOICES:
            parts = self.parts(name)
            return choice_form([self.form(p) for p in parts], [self.passed(name, p) for p in parts])
        if definition.backend == "triton":
            return triton_form(self.source.cut(definition.text_start, definition.text_end), kernel.params)
        return plain_form(kernel.params)

    def _path(self, start: int) -> str | None:
        """Return the file of a `# kernel path:` comment directly above a definition."""
        data = self.source.data
        floor = max(0, data.rfind(b"\n\n", 0, start))
        found = [m[1].decode("utf-8", "replace").strip() for m in _PATH.finditer(data, floor, start)]
        return found[-1] if found else None

    def _kernel(self, definition: Definition) -> Kernel | None:
        source = self.source
        name, path = definition.name, self._path(definition.start)
        first = source.line_at(definition.text_start)
        parts = self.parts(name)
        if definition.backend in _CHOICES:
            chosen = self.get(parts[0]) if parts else None
            line = source.line_at(definition.start)
            params = () if chosen is None else chosen.params
            return Kernel(name, Backend.TRITON, source, line, line, params, first_line=line)
        text = source.cut(definition.text_start, definition.text_end)
        if definition.backend == "triton":
            function = _FUNCTION.search(source.cut(definition.start, definition.text_start))
            if function is not None and not re.search(rf"\bdef (?:{function[1]}|{function[2]})\(", text):
                # Lines are lost: the text is that of another kernel.
                last = source.line_at(max(definition.text_end - 1, definition.text_start))
                return Kernel(name, Backend.TRITON, source, first, last, first_line=first, path=path)
            return triton_kernel(source, text, first, name=name, path=path)
        match = CPP_START.search(source.data, definition.text_start, definition.text_end)
        if match is not None:
            return cpp_kernel_at(source, match.start(), name, definition.text_end)
        last = source.line_at(max(definition.text_end - 1, definition.text_start))
        asserts = tuple(check_messages(text, first))
        backend = Backend.OTHER if definition.backend in _PYTHON else Backend.CPP
        params = _python_params(text) if backend is Backend.OTHER else _foreign_params(text)
        return Kernel(
            name, backend, source, first, last, params, first_line=first, path=path, asserts=asserts
        )

    def with_message(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in whose text a check prints exactly that message."""
        held = (self._holder(at) for at in quoted(self.source.data, message))
        names = dict.fromkeys(name for name in held if name is not None)
        found = (self.get(name) for name in names)
        return tuple(k for k in found if k is not None and any(m == message for _, m in k.asserts))


def _python_params(text: str) -> tuple[Param, ...]:
    """Return the parameters of the entry `<kernel>_main` of a kernel in a dialect of Python."""
    found = _MAIN.search(text)
    if found is None:
        return ()
    names = (p.partition("=")[0].partition(":")[0].strip() for p in found[2].split(","))
    return tuple(Param(n, "", False) for n in names if n.isidentifier() and n != "stream")


def _foreign_params(text: str) -> tuple[Param, ...]:
    """Return the parameters of a CUTLASS or Metal kernel; those that Metal fills itself are not passed."""
    found = _EXPORTED.search(text) or _METAL.search(text)
    if found is None:
        return ()
    end = closing(text, found.end() - 1)
    parts = split_arguments(text[found.end() : end]) if end >= 0 else []
    return tuple(p for part in parts if "[[" not in part for p in cpp_params(part))
