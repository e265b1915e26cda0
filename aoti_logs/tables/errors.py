"""Errors as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Errors(dy.Schema):
    """One row a printing; which of them is the cause is told by `explain`."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    form = dy.String(
        nullable=False,
        description="`aoti_error`, `python`, `terminate`, `cuda`, `signal`, `warning` or `shim`.",
    )
    exception_type = dy.String(nullable=True, description="Class as printed.")
    message = dy.String(nullable=False, description="First line without its prefix.")
    function = dy.String(nullable=True, description="Function of `Exception raised from`.")
    file = dy.String(nullable=True, description="File of `Exception raised from`.")
    file_line = dy.Int64(nullable=True, description="Line of `Exception raised from`.")
    call = dy.String(nullable=True, description="The call of an `API call failed` text.")
    signal = dy.String(nullable=True, description="Signal name.")
    cuda_error = dy.String(nullable=True, description="CUDA error name, `cudaErrorAssert`.")
    rank = dy.Int64(nullable=True, description="Rank from the prefix.")
    worker = _sender.worker()
    process = _sender.process()
    time = _sender.time()
    n_python_frames = dy.Int64(nullable=False, description="Frames of the Python traceback.")
    n_frames = dy.Int64(nullable=False, description="Frames of the C++ stack.")


SCHEMA = Errors


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for e in events.errors:
            raised = e.raised_from
            yield (
                source.name, e.span.line, str(e.form), e.exception_type, e.message,
                raised.function if raised else None, raised.file if raised else None, raised.line if raised else None,
                e.call, e.signal, e.cuda_error, e.rank, *_sender.sent(e.sender), len(e.python_frames), len(e.stack.frames) if e.stack else 0,
            )  # fmt: skip
