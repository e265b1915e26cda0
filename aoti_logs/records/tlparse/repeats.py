"""Reports of traces that were given themselves: their records would be there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.records.tlparse.index import ReportIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.records.trace import TraceIndex, TraceRecord

_Mark = tuple[str, str, int, tuple[str, int]]


def without_repeats(traces: Iterable[TraceIndex]) -> tuple[TraceIndex, ...]:
    """Return the traces without the reports whose every record another trace or report has as well."""
    given = tuple(traces)
    reports = [trace for trace in given if isinstance(trace, ReportIndex)]
    if not reports or len(given) == 1:
        return given
    marks = {id(trace): _marks(trace) for trace in given}
    kept = [trace for trace in given if not isinstance(trace, ReportIndex)]
    # The one with most records first, so that a part of it is what is left out.
    for report in sorted(reports, key=lambda r: -len(marks[id(r)])):
        own = marks[id(report)]
        if not own or not any(own <= marks[id(other)] for other in kept):
            kept.append(report)
    return tuple(trace for trace in given if any(trace is one for one in kept))


def _marks(trace: TraceIndex) -> set[_Mark]:
    """Return what tells each record of one process from those of all others."""
    return {_mark(r) for r in trace if r.name not in {"str", "chromium_event"} and r.time}


def _mark(record: TraceRecord) -> _Mark:
    return record.key, record.time, record.process, record.emitter
