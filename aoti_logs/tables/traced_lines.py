"""Lines of Python that Dynamo traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_log import traced_lines
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class TracedLines(dy.Schema):
    """One row a line, or a call in it (`TORCH_LOGS=trace_source,trace_call`); the last one before a failure is where tracing stood."""

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the message, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    what = dy.String(
        nullable=False,
        description="`line`; `inlined call`: a call that Dynamo went into; `graph node`: a call that became a node.",
    )
    callee = dy.String(nullable=True, description="Function that was called, or node; null for a line.")
    file = dy.String(nullable=False, description="File.")
    user_line = dy.Int64(nullable=False, description="Line there, from 1.")
    function = dy.String(nullable=False, description="Function that the line is in.")
    qualname = dy.String(nullable=True, description="Its name with class or enclosing functions.")
    inline_depth = dy.Int64(nullable=False, description="Inlined calls around it.")
    code = dy.String(nullable=True, description="Text of the line.")


SCHEMA = TracedLines


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for x in traced_lines(events.messages):
            yield (
                *_log.here(source, x.message, x.message.span.line), x.what, x.callee, x.file, x.line, x.function, x.qualname,
                x.depth, x.code,
            )  # fmt: skip
