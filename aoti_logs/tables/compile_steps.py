"""Steps of compiles that torch's loggers tell, from tracing to generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_log import steps
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class CompileSteps(dy.Schema):
    """One row a step that begins or ends (`TORCH_LOGS=dynamo,inductor`); where there is a trace, `events` has them with durations."""

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the message, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = dy.Int64(
        nullable=True, description="How often analysis had restarted, from 0; null without compile id."
    )
    process = dy.Int64(
        nullable=True, description="Process id; thread id in torch 2.4; null where the style has none."
    )
    time = dy.String(nullable=False, description="Time as printed; no year, local zone.")
    step = dy.String(
        nullable=False,
        description="`start`, `start tracing`, `done tracing`, `end of graph`, `call compiler`, `done compiler`, `start compiling graph`, `done compiling graph`, `done generating code`, `restart`.",
    )
    number = dy.Int64(nullable=True, description="Number that torch gives the step, 1 to 3.")
    function = dy.String(
        nullable=True,
        description="Function that is compiled; of a restart, torch's own function that set it off.",
    )
    file = dy.String(nullable=True, description="Its file.")
    file_line = dy.Int64(nullable=True, description="Its first line; of the end of a graph, the user's line.")
    compiler = dy.String(nullable=True, description="Backend that is called, `inductor`.")
    graph = dy.Int64(nullable=True, description="Number of the graph.")
    direction = dy.String(nullable=True, description="`FORWARDS` or `BACKWARDS`.")
    reason = dy.String(
        nullable=True,
        description="Why a graph ends; of a restart, the place in torch that set it off, `_dynamo/symbolic_convert.py:141`.",
    )
    graph_break = dy.Bool(nullable=True, description="Whether a graph ends for a graph break.")
    seconds = dy.Float64(nullable=True, description="Seconds it took, where the message says so.")


SCHEMA = CompileSteps


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for s in steps(events.messages):
            m = s.message
            yield (
                *_log.here(source, m, m.span.line), _attempt(m.compile_id), m.process or None, m.time, s.step, s.number,
                s.function, s.file, s.line, s.compiler, s.graph, s.direction, s.reason, s.graph_break, s.seconds,
            )  # fmt: skip


def _attempt(compile_id: str | None) -> int | None:
    return None if compile_id is None else int((compile_id.partition("_")[2] or "0")[:9])
