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

from aoti_logs.code.kernel_text import (
    CPP_START,
    at_line_starts,
    check_messages,
    cpp_kernel_at,
    quoted,
    triton_kernel,
)
from aoti_logs.code.model import Backend, Kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.body import Param
    from aoti_logs.sources.source import Source

_START = re.compile(rb"(\w+) = (?:async_compile\.(\w+)|(compile_mps_shader))\(")
_QUOTE = re.compile(rb"'''|\"\"\"")
_PATH = re.compile(rb"^# kernel path: ([^\n]*)", re.MULTILINE)
_NAMES = re.compile(rb"[A-Za-z_]\w*")
_LINE = 4096


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
            if quote is None or backend == "multi_kernel":
                end = data.find(b")", match.end(), limit)
                found[name] = Definition(name, backend, match.start(), match.end(), limit if end < 0 else end)
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

    def parts(self, name: str) -> tuple[str, ...]:
        """Return the kernels that a multi-kernel chooses from; empty for any other."""
        definition = self.definitions.get(name)
        if definition is None or definition.backend != "multi_kernel":
            return ()
        inside = bytes(self.source.data[definition.text_start : definition.text_end])
        names = (m[0].decode() for m in _NAMES.finditer(inside.partition(b"[")[2].partition(b"]")[0]))
        return tuple(n for n in names if n in self.definitions)

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
        if definition.backend == "multi_kernel":
            chosen = self.get(parts[0]) if parts else None
            line = source.line_at(definition.start)
            params = () if chosen is None else chosen.params
            return Kernel(name, Backend.TRITON, source, line, line, params, first_line=line)
        if definition.backend == "triton":
            text = source.cut(definition.text_start, definition.text_end)
            return triton_kernel(source, text, first, name=name, path=path)
        match = CPP_START.search(source.data, definition.text_start, definition.text_end)
        if match is not None:
            return cpp_kernel_at(source, match.start(), name, definition.text_end)
        text = source.cut(definition.text_start, definition.text_end)
        last = source.line_at(max(definition.text_end - 1, definition.text_start))
        asserts = tuple(check_messages(text, first))
        return Kernel(
            name, Backend.CPP, source, first, last, (), first_line=first, path=path, asserts=asserts
        )

    def with_message(self, message: str) -> tuple[Kernel, ...]:
        """Return the kernels in whose text a check prints exactly that message."""
        known = list(self.definitions.values())
        starts = [d.start for d in known]
        names: dict[str, None] = {}
        for at in quoted(self.source.data, message):
            place = bisect.bisect_right(starts, at) - 1
            if place >= 0 and at < known[place].text_end:
                names[known[place].name] = None
        found = (self.get(name) for name in names)
        return tuple(k for k in found if k is not None and any(m == message for _, m in k.asserts))


def positional(params: Sequence[Param], count: int) -> tuple[Param, ...]:
    """Return the parameters that `count` positional arguments of `kernel.run(...)` go to.

    Block sizes (`XBLOCK: tl.constexpr`) come from the chosen configuration and are not passed; a user's kernel
    may be called with its constants. What is passed beyond the parameters is the grid.
    """
    plain = tuple(p for p in params if p.dtype != "constexpr")
    return tuple(params) if len(plain) < count == len(params) else plain
