"""Every record of every trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class TraceRecords(dy.Schema):
    """One row a record of a TORCH_TRACE log or tlparse report, in file order, strings of the table included."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    number = dy.Int64(nullable=False, description="Position among the trace's records, from 0.")
    entry = dy.String(nullable=False, description="Entry name, `artifact`, `chromium_event`, ...")
    name = dy.String(nullable=True, description="Own name of an `artifact` or `graph_dump`.")
    subgraph = dy.String(nullable=True, description="Subgraph of a regional compile (`subgraph_name`).")
    level = dy.String(
        nullable=True,
        description="Log level as printed, `V` for records of torch's own; null where a report does not tell, "
        "as are the next four.",
    )
    time = dy.String(
        nullable=True, description="Local time as printed, `MMDD HH:MM:SS.uuuuuu`: no year, no zone."
    )
    process = dy.Int64(nullable=True, description="Process id (thread id in torch 2.4).")
    emitter = dy.String(nullable=True, description="File that wrote the record.")
    emitter_line = dy.Int64(nullable=True, description="Line there.")
    payload_bytes = dy.Int64(
        nullable=True, description="Bytes of the payload without its TABs; null without a payload."
    )
    md5 = dy.String(nullable=True, description="Checksum that the envelope declares for the payload.")
    intact = dy.Bool(
        nullable=True,
        description="Whether the payload has that checksum; null without one, and where the payload was "
        "written anew (tlparse formats JSON).",
    )
    problem = dy.String(nullable=True, description="What is wrong with the record, in words.")
    unknown_fields = dy.List(
        dy.String(),
        nullable=True,
        description="Envelope keys and metadata fields that torch 2.4 to 2.13 does not write.",
    )


SCHEMA = TraceRecords


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    context, file_rank = trace.context, trace.source.rank
    keys = [trace.columns.keys[key] for key in trace.columns.key]
    compiles = trace.aot_compiles
    each = zip(trace.heads(), trace.checks, context.ids, context.prefixes, keys, strict=True)
    for number, ((source, line, level, time), check, ids, prefix, (name, own)) in enumerate(each):
        _, compile_id, attempt, rank = ids
        process, emitter, emitter_line = prefix
        if compile_id is None and compiles:
            compile_id = trace[number].compile
        yield (
            source, line, compile_id, file_rank if rank is None else rank, attempt, number, name, own,
            context.subgraphs.get(number), level or None, time or None, process or None, emitter or None,
            emitter_line or None, *check, context.unknown.get(number),
        )  # fmt: skip
