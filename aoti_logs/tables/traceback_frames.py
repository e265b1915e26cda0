"""Python tracebacks of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class TracebackFrames(dy.Schema):
    """One row a frame of a Python traceback in a log, outermost first; stacks of traces are in `python_frames`.

    What was raised first stands first: the traceback of a worker process before that of the exception in whose
    message it is printed.
    """

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="Line of the frame, from 1.")
    rank = dy.Int64(nullable=True, description="Rank from the prefix.")
    error_line = dy.Int64(nullable=False, description="First line of the traceback, as `errors.line`.")
    exception_type = dy.String(nullable=True, description="Class of the exception; null where it is cut off.")
    depth = dy.Int64(
        nullable=False,
        description="In how many messages or groups of other exceptions the traceback is printed.",
    )
    chained = dy.String(
        nullable=True,
        description="`cause`: raised from the exception before it; `context`: raised while that one was handled.",
    )
    number = dy.Int64(nullable=False, description="Position in the traceback, from 0.")
    file = dy.String(nullable=False, description="File, or `Cell In[1]` of a notebook.")
    file_line = dy.Int64(nullable=False, description="Line there.")
    function = dy.String(nullable=False, description="Function.")
    code = dy.String(nullable=True, description="Text of the line.")
    marked = dy.String(nullable=True, description="The part of it that Python 3.11 and later mark.")
    repeated = dy.Int64(nullable=False, description="How often Python left the same frame out below it.")


SCHEMA = TracebackFrames


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for e in events.errors:
            for number, frame in enumerate(e.python_frames):
                yield (
                    source.name, frame.span.line, e.rank, e.span.line, e.exception_type, e.depth, e.chained, number,
                    frame.file, frame.line, frame.function, frame.code, frame.marked, frame.repeated,
                )  # fmt: skip
