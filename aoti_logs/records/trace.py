"""A TORCH_TRACE file as records that know where they stand; nothing is decoded before it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, overload

from aoti_logs.parse.events import Unparsed
from aoti_logs.records.children import trace_sources
from aoti_logs.records.record import Check, StackFrame, TraceRecord
from aoti_logs.records.scan import scan
from aoti_logs.records.strings import Strings, definitions
from aoti_logs.sources.source import Span

if TYPE_CHECKING:
    from aoti_logs.records.aoti import AotCompiles
    from aoti_logs.records.context import Context
    from aoti_logs.records.prefixes import Head
    from aoti_logs.records.scan import Columns
    from aoti_logs.records.strings import Definitions
    from aoti_logs.sources.source import Source

_Range = tuple[str, int, int]
_LARGEST_PROCESS = 1 << 32

__all__ = ["Check", "StackFrame", "TraceIndex", "TraceRecord", "trace_sources"]


class TraceIndex(Sequence[TraceRecord]):
    """The records of a trace, found in one pass; a sequence of `TraceRecord` in file order.

    Args:
        source: the trace.
        others: gives the traces among which the one may be whose interned strings this file uses
            without repeating them (a forked child's parent, torch 2.13).
    """

    record_type: type[TraceRecord] = TraceRecord
    """What a record is; those of a tlparse report stand in other files (`records/tlparse/index.py`)."""

    def __init__(self, source: Source, others: Callable[[], Iterable[TraceIndex]] = tuple) -> None:
        self.source = source
        self._others = others
        self.known_context: Context | None = None

    @cached_property
    def parent(self) -> TraceIndex | None:
        """The trace whose interned strings this one goes on with; None for most."""
        from aoti_logs.records.family import parent_of

        return parent_of(self, self._others())

    def inherited(self, number: int) -> str | None:
        """Return a string of the parent's; None from the first id on that this file defines itself.

        Both go on counting after they have parted: what is missing there was lost, and the parent's is another.
        """
        first = self._first_string
        if self.parent is None or (first is not None and number >= first):
            return None
        return self.parent.strings.find(number)

    @cached_property
    def _first_string(self) -> int | None:
        return min(self.string_definitions.of_all, default=None)

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

    def at(self, source: str, line: int) -> TraceRecord | None:
        """Return the record that a line of a file belongs to, None when there is none."""
        if self.record_type is TraceRecord:
            if source != self.source.name or line < 1:
                return None
            starts = self.columns.start
            number = bisect_right(starts, self.source.offset_of(line)) - 1
            found = self[number] if number >= 0 else None
        else:
            found = next((r for r in reversed(self) if r.where[0] == source and r.line <= line), None)
        spans = found.spans if found is not None else ()
        return found if any(span.line <= line <= span.end_line for span in spans) else None

    def with_stacks(self) -> Iterator[TraceRecord]:
        """Yield the records whose envelopes hold a stack that is not empty, without looking at any other."""
        if self.record_type is not TraceRecord:
            return (record for record in self if record.has_stack)
        from aoti_logs.records.stacks import with_stacks

        return with_stacks(self)

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
        return (self.record_type(self, number) for number in self.numbers(*names))

    @cached_property
    def context(self) -> Context:
        """Line, ids and prefix of all records; asked for by who reads most of them."""
        from aoti_logs.records.context import Context

        self.known_context = Context(self)
        return self.known_context

    def places(self, lines: Iterable[int]) -> Iterator[tuple[str, int]]:
        """Yield file and line of each record, given the lines of their prefixes."""
        if self.record_type is not TraceRecord or self.source.parent_lines is not None:
            return (record.where for record in self)
        return zip(repeat(self.source.name), lines)

    def numbers(self, *names: str) -> list[int]:
        """Return the numbers of the records of these names, which are as for `find`."""
        columns, wanted = self.columns, set(names)
        numbers: list[int] = []
        for (name, own), of_key in zip(columns.keys, columns.by_key, strict=True):
            if name in wanted or f"{name}:{own}" in wanted:
                numbers.extend(of_key)
        return sorted(numbers)

    def size_of(self, number: int) -> int:
        """Return how many bytes a record has."""
        columns = self.columns
        if self.record_type is not TraceRecord or number in columns.breaks:
            return self[number].size
        return columns.end[number] - columns.start[number]

    def payload_objects(self, *names: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield number and payload of those records of these names whose payload is a JSON object."""
        from orjson import JSONDecodeError, loads

        data, columns = self.source.data, self.columns
        starts, ends, breaks = columns.head_end, columns.end, columns.breaks
        for number in self.numbers(*names):
            try:
                value = None if number in breaks else loads(data[starts[number] : ends[number]])
            except JSONDecodeError:
                value = None
            value = self[number].json() if value is None else value
            if isinstance(value, dict):
                yield number, value

    def heads(self) -> Iterator[Head]:
        """Yield file, line, level and time of each record."""
        if self.record_type is not TraceRecord or self.source.parent_lines is not None:
            return ((*r.where, r.level, r.time) for r in self)
        from aoti_logs.records.prefixes import heads

        return heads(self)

    @cached_property
    def checks(self) -> list[Check]:
        """What `TraceRecord.check` says of each record; hashes the whole file."""
        if self.record_type is not TraceRecord:
            return [record.check() for record in self]
        from aoti_logs.records.checks import checks

        return checks(self)

    @cached_property
    def aot_compiles(self) -> AotCompiles:
        """The AOTInductor compiles, which torch gives no compile id."""
        from aoti_logs.records.aoti import AotCompiles

        return AotCompiles(self)

    def aot_of(self, record: TraceRecord) -> int | None:
        """Return the number of the AOTInductor compile that a record without compile id belongs to."""
        if not self.aot_compiles.stretches:
            return None
        return self.aot_compiles.of(record.number, record.process if self.several_processes else None)

    @cached_property
    def several_processes(self) -> bool:
        """Whether more than one process wrote into the file; what torch 2.4 prints are threads of one."""
        return sum(number <= _LARGEST_PROCESS for number in self.processes) > 1

    @cached_property
    def processes(self) -> tuple[int, ...]:
        """Process ids in order of appearance."""
        from aoti_logs.records.prefixes import processes

        return processes(self)

    def spans_in(self, source: Source) -> tuple[list[_Range], list[_Range]]:
        """Return (records, unparsed) of a file that it was read from, as (kind, start, end).

        Together they are all bytes of the file. A trace is one file; a tlparse report is several.
        """
        _ = source
        columns = self.columns
        names = [name if own is None else f"{name}:{own}" for name, own in columns.keys]
        records: list[_Range] = []
        for number, (start, end, key) in enumerate(zip(columns.start, columns.end, columns.key, strict=True)):
            if number in columns.breaks:
                records += [(names[key], *span) for span in columns.spans(number)]
            else:
                records.append((names[key], start, end))
        return records, [(expected, start, end) for start, end, expected in columns.rows]

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
