"""The records of a tlparse report, as if its trace had been read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Unparsed
from aoti_logs.records.prefixes import processes
from aoti_logs.records.tlparse.clock import give_ranks, merged, offset
from aoti_logs.records.tlparse.events import Events
from aoti_logs.records.tlparse.lines import LINE, Lines
from aoti_logs.records.tlparse.names import named_entries
from aoti_logs.records.tlparse.payloads import Payloads
from aoti_logs.records.tlparse.rebuilt import Rebuilt, RebuiltTrace
from aoti_logs.records.tlparse.record import ReportRecord
from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources import kinds
from aoti_logs.sources.source import Kind, Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.scan import Columns
    from aoti_logs.records.tlparse.entry import Entry
    from aoti_logs.sources.report import Report

_Range = tuple[str, int, int]
_CODE_KINDS = frozenset(
    {
        Kind.WRAPPER_CPP,
        Kind.KERNEL_CPP,
        Kind.OUTPUT_CODE,
        Kind.TRITON_KERNEL,
        Kind.GRAPH,
        Kind.PROVENANCE,
        Kind.KERNEL_INFORMATION,
    }
)


class ReportIndex(TraceIndex):
    """The records of a report whose trace is missing: a sequence in the order of the trace.

    From `raw.jsonl`, the files that it names and `chromium_events.json`, or else from names of files.
    `columns` and `source.data` are those of a trace written again from it, so whatever reads a trace reads
    a report; places and spans are those of the report's files.

    Args:
        report: the report; it has a lead.
        others: as for `TraceIndex`.
    """

    record_type = ReportRecord

    def __init__(self, report: Report, others: Callable[[], Iterable[TraceIndex]] = tuple) -> None:
        assert report.lead is not None, "its raw.log is the trace"
        super().__init__(RebuiltTrace(report.lead, report.rank, lambda: self.rebuilt), others)
        self.report = report
        self._refused: list[tuple[Source, int, int]] = []

    @cached_property
    def columns(self) -> Columns:
        """Offsets of every record in the trace that was written again."""
        return self.rebuilt.columns

    @cached_property
    def processes(self) -> tuple[int, ...]:
        """Process ids in order of appearance, where they are told."""
        return tuple(process for process in processes(self) if process)

    @cached_property
    def rebuilt(self) -> Rebuilt:
        """The trace written again."""
        out = Rebuilt()
        for entry in self._entries():
            if not out.add(entry):
                self._refused.append((entry.source, entry.start, entry.end))
        return out

    @cached_property
    def _payloads(self) -> Payloads:
        return Payloads(self.report)

    @cached_property
    def _lines(self) -> Lines | None:
        report = self.report
        if report.records is None:
            return None
        return Lines(report.records, self._payloads, own_strings_only=report.several_ranks)

    @cached_property
    def _events(self) -> Events | None:
        report, lines = self.report, self._lines
        only_pid = report.rank if report.events is None else None
        source = report.events or (report.events_of_all if only_pid is not None else None)
        if source is None:
            return None
        return Events(
            source,
            process=lines.process if lines is not None else None,
            restarted=lines.restarted() if lines is not None else None,
            only_pid=only_pid,
        )

    def _entries(self) -> Iterator[Entry]:
        report, lines = self.report, self._lines
        events = list(self._events) if self._events is not None else []
        times = [e.microseconds / 1000 for e in events if e.microseconds is not None]
        apart = None
        if lines is not None and times:
            apart = offset(lines.source.data, times[0], times[-1])
        if lines is not None:
            give_ranks(events, *lines.rank(), apart)
        yield from merged(lines or (), events, apart)
        directory = report.directory if lines is None else None
        yield from named_entries(report.files, self._payloads.unclaimed(), directory)

    def at(self, source: str, line: int) -> TraceRecord | None:
        """Return the record that a line of a file of the report tells of, or is the payload of; None for others."""
        found = super().at(source, line)
        if found is not None:
            return found
        told = (record for record in self if record.has_payload and record.name != "chromium_event")
        for record in told:
            file, lines = record.payload_where
            if file == source and line in lines:
                return record
        return None

    # ------------------------------------------------------------ what is in no record

    def leftovers(self) -> Iterator[Source]:
        """Yield generated code and graphs in `payloads/` of which no record says what they are.

        `tlparse --export` writes nothing else of most records. The kind is told from the content.
        """
        _ = self.rebuilt
        for path in self._payloads.unclaimed():
            file = self.report.files[path]
            if (
                path.startswith("payloads/")
                and (kind := kinds.tell(bytes(file.data[: kinds.HEAD]), path)) in _CODE_KINDS
            ):
                yield Source(
                    f"{file.name}#payload",
                    kind,
                    _reader(file),
                    parent=file,
                    parent_lines=range(1, bytes(file.data).count(b"\n") + 2),
                    role=file.role,
                    rank=self.report.rank,
                )

    def spans_in(self, source: Source) -> tuple[list[_Range], list[_Range]]:
        """Return (records, unparsed) of a file of the report, as (kind, start, end); together they are all of it."""
        claimed: dict[int, _Range] = {}
        unparsed: list[_Range] = []
        rebuilt, report = self.rebuilt, self.report
        if source in {report.records, report.events}:
            number = next((n for n, s in enumerate(rebuilt.sources) if s is source), -1)
            for at, (origin, start, end, _) in enumerate(rebuilt.origins):
                if origin == number:
                    claimed[start] = (self[at].key, start, end)
            unparsed = [
                (row.expected, row.span.start, row.span.end)
                for row in self.unparsed
                if row.span.source is source
            ]
        if source is report.records and self._lines is not None:
            claimed.update({start: ("string_table", start, end) for start, end in self._lines.tables})
        records: list[_Range] = []
        at = 0
        for kind, start, end in sorted([*claimed.values(), *unparsed], key=lambda r: r[1]):
            if at < start:
                records.append((str(source.kind), at, start))
            if claimed.get(start) == (kind, start, end):
                records.append((kind, start, end))
            at = end
        if at < source.size:
            records.append((str(source.kind), at, source.size))
        return records, unparsed

    @cached_property
    def unparsed(self) -> tuple[Unparsed, ...]:
        """Lines of `raw.jsonl` and pieces of `chromium_events.json` that are no records."""
        _ = self.rebuilt
        found = [Unparsed(Span(source, start, end), LINE) for source, start, end in self._refused]
        for part in (self._lines, self._events):
            if part is not None:
                found += [Unparsed(Span(part.source, start, end), what) for start, end, what in part.rows]
        return tuple(found)


def _reader(file: Source) -> Callable[[], bytes]:
    return lambda: bytes(file.data)
