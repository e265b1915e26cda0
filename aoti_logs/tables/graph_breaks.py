"""Where and why torch could not trace a function in one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.graph_break import read_graph_break, read_restart_reason
from aoti_logs.parse.compiles.logged_graph_breaks import graph_breaks_in
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.compiles.graph_break import GraphBreak
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source

# Analysis also restarts for reasons of torch's own, which it names by their class or not at all.
_NO_BREAK = ("<class ", "Unspecified")


class GraphBreaks(dy.Schema):
    """One row a graph break, from `dynamo_graph_break_reason` or TORCH_LOGS=graph_breaks. Traces of torch 2.4 name their
    reasons only, in `compilation_metrics`.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    file = dy.String(nullable=True, description="File of the user's line where the graph broke.")
    user_line = dy.Int64(nullable=True, description="That line, from 1.")
    function = dy.String(nullable=True, description="Function that the line is in.")
    reason = dy.String(nullable=True, description="Why, all lines.")
    kind = dy.String(
        nullable=True, description="Short name of the kind of graph break; null before torch 2.7."
    )
    gb_id = dy.String(nullable=True, description="Its number in torch's registry, `gb0059`.")
    explanation = dy.String(nullable=True, description="What it means.")
    hints = dy.List(dy.String(), nullable=False, description="What torch suggests.")
    context = dy.String(nullable=True, description="Context for torch's developers.")
    operator = dy.String(nullable=True, description="Higher order operator inside of which the graph broke.")
    url = dy.String(nullable=True, description="Page about the kind.")
    skipped = dy.Bool(
        nullable=False, description="True when torch gave up the whole frame and ran it without compiling."
    )
    n_user_frames = dy.Int64(nullable=False, description="Frames of the user's stack.")
    n_compiler_frames = dy.Int64(nullable=False, description="Frames of the compiler's traceback.")
    exception_type = dy.String(nullable=True, description="Exception that the traceback ends with.")
    text = dy.String(nullable=False, description="What was printed, without the compiler's traceback.")


SCHEMA = GraphBreaks


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    told = False
    for record in trace.find("artifact:dynamo_graph_break_reason"):
        told = True
        yield (*t.here(record), *_row(read_graph_break(record.text)))
    if not told:
        for record in trace.find("compilation_metrics"):
            reasons = t.texts(t.mapping(record.metadata).get("restart_reasons")) or []
            for reason in reasons:
                if not reason.startswith(_NO_BREAK):
                    yield (*t.here(record), *_row(read_restart_reason(reason)))


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for message, found in graph_breaks_in(events.messages):
        yield (*_log.here(source, message, message.span.line), *_row(found))


def _row(b: GraphBreak) -> tuple[Any, ...]:
    return (
        b.file, b.line, b.function, b.reason, b.kind, b.gb_id, b.explanation, b.hints, b.context, b.operator,
        b.url, b.skipped, len(b.user_frames), b.n_compiler_frames, b.exception_type, b.text,
    )  # fmt: skip
