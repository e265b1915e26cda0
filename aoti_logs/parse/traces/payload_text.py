"""The payload of a trace record as a text whose lines one can open in the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceRecord
    from aoti_logs.sources.source import Place


def payload_source(record: TraceRecord) -> Source:
    """Return the payload as a source of its own."""
    trace = record.index.source
    return Source(
        f"{trace.name}#{record.artifact or record.name}.{record.number}",
        Kind.LOG,
        lambda: record.payload,
        parent=trace,
        parent_lines=record.payload_lines(),
        role=trace.role,
        rank=record.rank if record.rank is not None else trace.rank,
    )


def line_place(record: TraceRecord, row: int) -> Place:
    """Return where a line (from 0) of the payload stands in the trace."""
    lines = record.payload_lines()
    if not len(lines):
        return record.place
    return record.index.source.place(lines[min(max(row, 0), len(lines) - 1)])


def row_of(text: str, words: str, after: int = 0) -> int | None:
    """Return the line (from 0) of the first place of some words, None where they do not stand."""
    at = text.find(words, after)
    return None if at < 0 else text.count("\n", 0, at)
