"""What a compile spent its time on: the chromium events of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.traces.events import events
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Events(dy.Schema):
    """One row a span, begin and end paired, or an instant; in file order of their begins."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    process = dy.Int64(nullable=True, description="Process id; null where a report does not tell.")
    name = dy.String(
        nullable=False, description="Name, `backend_compile`, `pass.post_grad_passes.remove_noop_ops`."
    )
    phase = dy.String(
        nullable=False,
        description="`span`, `instant`; `begin` and `end` where the other half was not recorded.",
    )
    category = dy.String(nullable=True, description="Category, `dynamo_timed`.")
    start_us = dy.Float64(nullable=True, description="Begin in microseconds since 1970 (UTC).")
    duration_us = dy.Float64(
        nullable=True,
        description="Microseconds from begin to end; null for the rest. Begin and end are paired by name and compile id, "
        "the innermost first: where threads overlap without compile ids, an end may be another's.",
    )
    depth = dy.Int64(
        nullable=False,
        description="Spans of the process that were open when it began; threads are not told apart.",
    )
    parent = dy.String(nullable=True, description="Name of the innermost of them.")
    args = dy.String(
        nullable=False,
        description="Arguments as a JSON object, those of the end added to those of the begin.",
    )


SCHEMA = Events


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    context, dumps = trace.context, t.to_json
    here, ids, prefixes = context.here, context.ids, context.prefixes
    for e in events(trace):
        number, end, start = e.number, e.end_us, e.start_us
        source, line, compile_id, rank = here[number]
        if compile_id is None:
            compile_id = _plain(e.compile_id)
        took = end - start if end is not None and start is not None else None
        yield (
            source, line, compile_id, rank, ids[number].attempt, prefixes[number].process or None, e.name, e.phase,
            e.category, start, took, e.depth, e.parent, dumps(e.args),
        )  # fmt: skip


def _plain(compile_id: str | None) -> str | None:
    return None if compile_id is None else compile_id.partition("_")[0]
