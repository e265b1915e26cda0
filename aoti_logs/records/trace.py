"""A TORCH_TRACE file as records that know where they stand; nothing is decoded before it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from aoti_logs.parse.events import Unparsed
from aoti_logs.records import envelope as _envelope
from aoti_logs.records import payload as _payload
from aoti_logs.records.children import trace_sources
from aoti_logs.records.scan import scan
from aoti_logs.records.strings import Strings, definitions
from aoti_logs.sources.source import Place, Span

if TYPE_CHECKING:
    from aoti_logs.records.scan import Columns
    from aoti_logs.records.strings import Definitions
    from aoti_logs.sources.source import Source

_Range = tuple[str, int, int]

__all__ = ["StackFrame", "TraceIndex", "TraceRecord", "trace_sources"]


@dataclass(frozen=True)
class StackFrame:
    """A Python frame of a record; `file` is None where the file's name was never recorded."""

    file: str | None
    line: int | None
    name: str
    loc: str | None


class TraceRecord:
    """One record of a trace: prefix, envelope and payload, each decoded when first asked for.

    Attributes:
        index: the trace it belongs to.
        number: position among the trace's records, from 0.
    """

    def __init__(self, index: TraceIndex, number: int) -> None:
        self.index = index
        self.number = number

    def __repr__(self) -> str:
        """Return its key and line."""
        return f"TraceRecord({self.key!r}, line {self.line})"

    @property
    def name(self) -> str:
        """The entry's name: `artifact`, `graph_dump`, `create_symbol`, ..."""
        return self._key[0]

    @property
    def artifact(self) -> str | None:
        """The own name of an `artifact` or `graph_dump` entry, None for other entries."""
        return self._key[1]

    @property
    def key(self) -> str:
        """`artifact:NAME`, `graph_dump:NAME`, or the entry's name."""
        name, own = self._key
        return name if own is None else f"{name}:{own}"

    @property
    def _key(self) -> tuple[str, str | None]:
        columns = self.index.columns
        return columns.keys[columns.key[self.number]]

    # ------------------------------------------------------------ where it is

    @property
    def spans(self) -> tuple[Span, ...]:
        """All its bytes; more than one span when other text stands between its payload's lines."""
        return tuple(Span(self.index.source, *piece) for piece in self.index.columns.spans(self.number))

    @property
    def span(self) -> Span:
        """The first of its spans."""
        return self.spans[0]

    @property
    def head(self) -> Span:
        """Prefix and envelope: the record's first line."""
        columns = self.index.columns
        return Span(self.index.source, columns.start[self.number], columns.head_end[self.number])

    @property
    def line(self) -> int:
        """Line number (from 1) of its prefix."""
        return self.index.source.line_at(self.index.columns.start[self.number])

    @property
    def place(self) -> Place:
        """Where a person finds it."""
        return self.index.source.place(self.line)

    # ------------------------------------------------------------ prefix

    @cached_property
    def _prefix(self) -> tuple[str, str, int, str, int]:
        columns = self.index.columns
        raw = bytes(self.index.source.data[columns.start[self.number] : columns.env[self.number]])
        return _envelope.parse_prefix(raw) or ("", "", 0, "", 0)

    @property
    def level(self) -> str:
        """Log level as printed, `V` for every record of torch's own."""
        return self._prefix[0]

    @property
    def time(self) -> str:
        """Local time as printed, `MMDD HH:MM:SS.uuuuuu`: no year, no zone."""
        return self._prefix[1]

    @property
    def process(self) -> int:
        """Process id; in torch 2.4 the thread id, 15 digits."""
        return self._prefix[2]

    @property
    def emitter(self) -> tuple[str, int]:
        """File and line of torch that wrote the record."""
        return self._prefix[3:]

    # ------------------------------------------------------------ envelope

    @cached_property
    def _decoded(self) -> tuple[dict[str, Any], str | None]:
        columns = self.index.columns
        raw = bytes(self.index.source.data[columns.env[self.number] : columns.head_end[self.number]])
        try:
            value = _envelope.decode_json(raw)
        except ValueError as error:
            return {}, f"the envelope is not JSON: {error}"
        return (value, None) if isinstance(value, dict) else ({}, "the envelope is not a JSON object")

    @property
    def envelope(self) -> dict[str, Any]:
        """The whole envelope; empty when it is not JSON (`problem` says so)."""
        return self._decoded[0]

    @property
    def metadata(self) -> Any:
        """What the envelope says under the entry's name; a dict except for `str`."""
        return self.envelope.get(self.name, {})

    @property
    def compile_id(self) -> str | None:
        """Compile id as torch prints it (`0/1_2`); None where the record knows none."""
        return _envelope.compile_id(self.envelope)

    @property
    def rank(self) -> int | None:
        """Rank that the record itself gives."""
        return _envelope.rank(self.envelope)

    @property
    def filename(self) -> str:
        """The file that the metadata says the payload was written to; empty when none."""
        data = self.metadata
        name = (data.get("file_path") or data.get("filename")) if isinstance(data, dict) else None
        return name if isinstance(name, str) else ""

    # ------------------------------------------------------------ payload

    @property
    def has_payload(self) -> bool:
        """Whether payload lines follow the envelope."""
        return bool(self.index.columns.pieces(self.number))

    @property
    def payload(self) -> bytes:
        """The payload as it was before torch put a TAB before every line; read anew each time."""
        columns, data = self.index.columns, self.index.source.data
        end = columns.head_end[self.number]
        return _payload.read(data, columns.pieces(self.number), crlf=end > 0 and data[end - 1] == 0x0D)

    @property
    def text(self) -> str:
        """The payload as text; bytes that are not UTF-8 become U+FFFD."""
        return self.payload.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the payload's JSON value, None when it is not JSON (`encoding: "json"` is no promise)."""
        try:
            return _envelope.decode_json(self.payload)
        except ValueError:
            return None

    def payload_lines(self) -> range | list[int]:
        """Return the file's line number of each line of the payload."""
        source, pieces = self.index.source, self.index.columns.pieces(self.number)
        lines: list[int] = []
        for start, end in pieces:
            first = source.line_at(start)
            last = source.line_at(end - 1)
            if len(pieces) == 1:
                return range(first, last + 1)
            lines.extend(range(first, last + 1))
        return lines

    @property
    def declared_md5(self) -> str | None:
        """The checksum that the envelope declares, None for a record without payload."""
        columns = self.index.columns
        return _payload.declared_md5(
            self.index.source.data, columns.env[self.number], columns.head_end[self.number]
        )

    @property
    def problem(self) -> str | None:
        """What is wrong with the record, in words; None when all of it is as torch wrote it."""
        if self._decoded[1]:
            return self._decoded[1]
        md5 = self.declared_md5
        if md5 is None:
            return "payload lines that the envelope does not declare" if self.has_payload else None
        if not _payload.matches(self.payload, md5):
            return "the payload is not the one that was written: its checksum differs"
        return None

    @property
    def strings(self) -> Strings:
        """The interned strings as they stand at this record."""
        return Strings(self.index, self)

    def frames(self, stack: object = None) -> tuple[StackFrame, ...]:
        """Return a stack's frames with file names put in, outermost first.

        Args:
            stack: a list of frames from the envelope or metadata; the envelope's `stack` if None.
        """
        stack = self.envelope.get("stack") if stack is None else stack
        return (
            tuple(self._frame(frame) for frame in stack if isinstance(frame, dict))
            if isinstance(stack, list)
            else ()
        )

    def _frame(self, frame: dict[str, Any]) -> StackFrame:
        file, line, loc = frame.get("filename"), frame.get("line"), frame.get("loc")
        if isinstance(file, int):
            file = self.strings.get(file)
        return StackFrame(
            file if isinstance(file, str) else None,
            line if isinstance(line, int) else None,
            str(frame.get("name", "")),
            loc if isinstance(loc, str) else None,
        )


class TraceIndex(Sequence[TraceRecord]):
    """The records of a trace, found in one pass; a sequence of `TraceRecord` in file order.

    Args:
        source: the trace.
        parent: the trace of the process that forked this one, whose interned strings a forked
            child's file uses without repeating them (torch 2.13).
    """

    record_type: type[TraceRecord] = TraceRecord
    """What a record is; those of a tlparse report stand in other files (`records/tlparse/index.py`)."""

    def __init__(self, source: Source, parent: TraceIndex | None = None) -> None:
        self.source = source
        self.parent = parent

    @cached_property
    def columns(self) -> Columns:
        """Offsets of every record, as arrays."""
        return scan(self.source.data)

    @property
    def records(self) -> TraceIndex:
        """The records; the index itself is the sequence."""
        return self

    def __len__(self) -> int:
        return len(self.columns.start)

    @overload
    def __getitem__(self, at: int) -> TraceRecord: ...
    @overload
    def __getitem__(self, at: slice) -> list[TraceRecord]: ...
    def __getitem__(self, at: int | slice) -> TraceRecord | list[TraceRecord]:
        if isinstance(at, slice):
            return [self.record_type(self, number) for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(at)
        return self.record_type(self, number)

    def __iter__(self) -> Iterator[TraceRecord]:
        return (self.record_type(self, number) for number in range(len(self)))

    def counts(self) -> dict[str, int]:
        """Return how many records each key has (`artifact:NAME`, `graph_dump:NAME`, entry name)."""
        columns = self.columns
        return {
            name if own is None else f"{name}:{own}": len(numbers)
            for (name, own), numbers in zip(columns.keys, columns.by_key, strict=True)
        }

    def find(self, *names: str) -> Iterator[TraceRecord]:
        """Yield the records of these names in file order, without looking at any other.

        Args:
            names: entry names (`artifact` means all artifacts), `artifact:NAME` or `graph_dump:NAME`.
        """
        columns, wanted = self.columns, set(names)
        numbers: list[int] = []
        for (name, own), of_key in zip(columns.keys, columns.by_key, strict=True):
            if name in wanted or f"{name}:{own}" in wanted:
                numbers.extend(of_key)
        return (self.record_type(self, number) for number in sorted(numbers))

    def spans_in(self, source: Source) -> tuple[list[_Range], list[_Range]]:
        """Return (records, unparsed) of a file that it was read from, as (kind, start, end).

        Together they are all bytes of the file. A trace is one file; a tlparse report is several.
        """
        _ = source
        return (
            [(r.key, s.start, s.end) for r in self for s in r.spans],
            [(u.expected, u.span.start, u.span.end) for u in self.unparsed],
        )

    @cached_property
    def unparsed(self) -> tuple[Unparsed, ...]:
        """The bytes of no record, in file order; with the records' spans they add up to the file."""
        return tuple(
            Unparsed(Span(self.source, start, end), expected) for start, end, expected in self.columns.rows
        )

    def damaged(self) -> Iterator[tuple[TraceRecord, str]]:
        """Yield the records that are not as torch wrote them; decodes and hashes the whole file."""
        for record in self:
            problem = record.problem
            if problem is not None:
                yield record, problem

    @cached_property
    def string_definitions(self) -> Definitions:
        """Every definition of every interned string."""
        return definitions(self)

    @property
    def strings(self) -> Strings:
        """The interned strings at the end of the file; `TraceRecord.strings` has those at a record."""
        return Strings(self)
