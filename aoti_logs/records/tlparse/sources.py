"""Generated code in reports that is in no record: pages on their own, payloads without a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.records.tlparse.index import ReportIndex
from aoti_logs.records.tlparse.page import page_source
from aoti_logs.sources.report_files import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


def report_sources(given: Sequence[Source], traces: Sequence[TraceIndex]) -> Iterator[Source]:
    """Yield the sources in files of reports that the records do not lead to.

    Args:
        given: files and archive members.
        traces: those that were read, reports among them.
    """
    for trace in traces:
        if isinstance(trace, ReportIndex):
            yield from trace.leftovers()
    for source in given:
        if source.part is Part.CODE_PAGE and source.report is None:
            code = page_source(source)
            if code is not None:
                yield code
