"""One input as bytes that stay where they are, with lines counted only when somebody quotes one."""

from __future__ import annotations

import bisect
import mmap
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.sources.name import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from aoti_logs.sources.report import Report
    from aoti_logs.sources.report_files import Part

Lines = range | list[int]
_BLOCK = 1 << 14  # a line number costs half a block; the marks of 500 MB take 1 MB
_SMALL = 1 << 18


class Kind(StrEnum):
    """What a source is, told from its content, never from its name alone."""

    LOG = "log"
    """Text that a run printed: stdout, stderr, both mixed, TORCH_LOGS lines among them."""
    TORCH_TRACE = "torch_trace"
    """A raw TORCH_TRACE / TORCH_DTRACE log."""
    WRAPPER_CPP = "wrapper_cpp"
    """AOTInductor's C++ wrapper; before torch 2.7 the CPU kernels are in the same file."""
    KERNEL_CPP = "kernel_cpp"
    """C++ kernels without a wrapper: `<hash>.kernel.cpp`, `<hash>.main.cpp` of torch.compile."""
    OUTPUT_CODE = "output_code"
    """The Python wrapper that torch.compile generates (`output_code.py`)."""
    TRITON_KERNEL = "triton_kernel"
    """One Triton kernel as a Python file of the inductor cache."""
    PACKAGE = "package"
    """A .pt2 archive."""
    KERNEL_INFORMATION = "kernel_information"
    """`kernel_information.json`, or the trace artifact `inductor_provenance_tracking_kernel_stack_traces`."""
    PROVENANCE = "provenance"
    """`inductor_provenance_tracking_node_mappings`."""
    GRAPH = "graph"
    """An FX graph as readable Python (trace entry, debug folder, printed ExportedProgram)."""
    TLPARSE_REPORT = "tlparse_report"
    """A file that tlparse wrote. What it says is told as what its trace says (`records/report.py`)."""
    JSON = "json"
    ARCHIVE = "archive"
    """.zip, .gz, .zst that is not a package."""
    BINARY = "binary"
    TEXT = "text"
    """Text that no reader of ours understands as a whole."""


class Role(StrEnum):
    """Why a source was read."""

    SUBJECT = "subject"
    """Asked about: what failed here?"""
    CONTEXT = "context"
    """Only consulted for evidence."""


class Place(NamedTuple):
    """A line of a file that a person can open."""

    source: str
    line: int
    end_line: int

    def __str__(self) -> str:
        """Return `file:line`."""
        return f"{self.source}:{self.line}"


class Source:
    """Bytes with a name.

    Args:
        name: how a person finds it, relative to what they passed in; a member of an
            archive is `archive!member`. Bytes that are not UTF-8 are escaped.
        kind: what it is.
        read: gives the bytes (a mapped file stays mapped); called once, when first needed.
        parent: the source that holds this one (archive, trace, log), if any.
        parent_lines: for text cut out of a parent: the parent's line number of each own line
            (a `range` when they follow each other), so that a quote names a line one can open; or
            what returns them, called when first needed.
        role: why it was read.
        label: what the parent calls it (`graph_dump inductor_aot_wrapper_code`, a cache path).
        rank: rank of the process that wrote it, where the file's name or record tells.
        compile_id: compile id (`0/1`) of the trace record that holds it.
        compile_: the same in readable form, without attempt; `aoti/0` for AOTInductor's first.
        filename: path that the generating process says it wrote it to.
        path: the file on disk that holds it: itself, or the outermost archive.

    Attributes:
        problems: what went wrong while its bytes were read, in sentences; filled by `read`.
        part: which file of a tlparse report it is, where its content tells.
        report: the tlparse report that it belongs to.
        asked: it, or the folder that it lies in, is what was asked about; False for what is only consulted.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        read: Callable[[], bytes | mmap.mmap],
        *,
        parent: Source | None = None,
        parent_lines: Lines | Callable[[], Lines] | None = None,
        role: Role = Role.SUBJECT,
        label: str = "",
        rank: int | None = None,
        compile_id: str | None = None,
        compile_: str | None = None,
        filename: str = "",
        path: Path | None = None,
    ) -> None:
        self.name = readable(name)
        self.kind = kind
        self.parent = parent
        self._parent_lines = parent_lines
        self.role = role
        self.asked = True
        self.label = label
        self.rank = rank
        self.compile_id = compile_id
        self.compile = compile_
        self.filename = filename
        self.path = path
        self.problems: list[str] = []
        self.part: Part | None = None
        self.report: Report | None = None
        self._read = read
        self._marks: list[int] = []
        self._last = 0, 1

    def __repr__(self) -> str:
        """Return name and kind."""
        return f"Source({self.name!r}, {self.kind})"

    @property
    def leads_report(self) -> bool:
        """Whether it stands for a tlparse report whose trace is missing."""
        return self.report is not None and self.report.lead is self

    @cached_property
    def parent_lines(self) -> Lines | None:
        """The parent's line number of each own line; None for a source that is not cut out of another."""
        return self._parent_lines() if callable(self._parent_lines) else self._parent_lines

    @cached_property
    def data(self) -> bytes | mmap.mmap:
        """The bytes; a memory map for a file on disk."""
        return self._read()

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.data)

    @cached_property
    def text(self) -> str:
        """The whole content as text; bytes that are not UTF-8 become U+FFFD. For small sources."""
        return bytes(self.data).decode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines without their ends; `lines[n - 1]` is line n. For small sources."""
        return [line.removesuffix("\r") for line in self.text.split("\n")]

    def cut(self, start: int, end: int) -> str:
        """Return the bytes from `start` to `end` as text."""
        return bytes(self.data[start:end]).decode("utf-8", "replace")

    def line_at(self, offset: int) -> int:
        """Return the line number (from 1) of a byte offset; counts each block of the file once."""
        data = self.data
        at, line = self._last
        if 0 <= offset - at < _BLOCK:
            # Whoever reads a file from top to bottom asks for one line after the other.
            line += bytes(data[at:offset]).count(b"\n")
        else:
            block = offset // _BLOCK
            self._mark(block)
            line = self._marks[block] + bytes(data[block * _BLOCK : offset]).count(b"\n")
        self._last = offset, line
        return line

    def _mark(self, block: int) -> None:
        """Count the line ends of all blocks up to one."""
        data = self.data
        while len(self._marks) <= block:
            at = len(self._marks) * _BLOCK
            before = self._marks[-1] + bytes(data[at - _BLOCK : at]).count(b"\n") if at else 1
            self._marks.append(before)

    def lines_at(self, offsets: Iterable[int]) -> Iterator[int]:
        """Yield the line number (from 1) of each offset; fast where they ascend."""
        data = self.data
        line, at = 1, 0
        for offset in offsets:
            line = line + data[at:offset].count(b"\n") if offset >= at else self.line_at(offset)
            at = offset
            yield line

    def line_text(self, line: int) -> str:
        """Return the text of a line (from 1); empty when there is no such line."""
        start = self.offset_of(line)
        if start < 0:
            return ""
        end = self.data.find(b"\n", start)
        return self.cut(start, len(self.data) if end < 0 else end).removesuffix("\r")

    def lines_from(self, first: int, last: int) -> list[str]:
        """Return `lines[first - 1 : last]`, without taking all of a large source apart."""
        first = max(first, 1)
        if "lines" in self.__dict__ or self.size < _SMALL:
            return self.lines[first - 1 : last]
        start = self.offset_of(first)
        if start < 0 or last < first:
            return []
        end = self.offset_of(last + 1)
        text = self.cut(start, self.size if end < 0 else end - 1)
        return [line.removesuffix("\r") for line in text.split("\n")]

    def offset_of(self, line: int) -> int:
        """Return where a line (from 1) begins, -1 when there is no such line."""
        data = self.data
        if line <= 1:
            return 0 if line == 1 else -1
        self._mark(max(len(data) - 1, 0) // _BLOCK)
        block = bisect.bisect_left(self._marks, line) - 1
        at, number = block * _BLOCK, self._marks[block]
        while number < line:
            at = data.find(b"\n", at) + 1
            if at == 0:
                return -1
            number += 1
        return at

    def place(self, line: int, end_line: int | None = None) -> Place:
        """Return where a person finds a line of this source: in the file on disk or archive member."""
        end_line = line if end_line is None else end_line
        lines = self.parent_lines
        if self.parent is None or lines is None:
            return Place(self.name, line, end_line)
        last = len(lines)
        if not last:
            return self.parent.place(1)
        first = lines[min(max(line, 1), last) - 1]
        return self.parent.place(first, first if end_line == line else lines[min(max(end_line, 1), last) - 1])


@dataclass(frozen=True)
class Unread:
    """A file or archive member that is there and was not read: a binary one, or one that could not be.

    Args:
        name: how a person finds it, as `Source.name`.
        size: its bytes when unpacked, as file system or archive say; None where nobody says.
        path: the file on disk that holds it: itself, or the outermost archive.
        parent: the archive that holds it, if any.
        problem: why it could not be read; None for a binary file, which nobody reads.
    """

    name: str
    size: int | None
    path: Path | None = None
    parent: Source | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Span:
    """A range of bytes of a source; everything that is claimed quotes one."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The bytes as text."""
        return self.source.cut(self.start, self.end)

    @property
    def line(self) -> int:
        """Line number (from 1) of the first byte, in the source itself."""
        return self.source.line_at(self.start)

    @property
    def end_line(self) -> int:
        """Line number (from 1) of the last byte, in the source itself."""
        return self.source.line_at(max(self.start, self.end - 1))

    @property
    def place(self) -> Place:
        """Where a person finds it."""
        return self.source.place(self.line, self.end_line)
