"""The workers that torchrun says have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.errors.elastic import WorkerFailures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class WorkerFailureRows(dy.Schema):
    """One row a worker in the table of a `ChildFailedError`; those that torchrun stopped itself are among them."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line of the worker's part, from 1.")
    name = dy.String(nullable=False, description="What torchrun ran, `train.py`.")
    rank = dy.Int64(nullable=False, description="Global rank.")
    local_rank = dy.Int64(nullable=False, description="Rank on its host.")
    first_failure = dy.Bool(
        nullable=False, description="Whether torchrun takes it for the root cause: it ended first."
    )
    exit_code = dy.Int64(nullable=True, description="Exit code; -6 for signal 6.")
    signal = dy.String(nullable=True, description="Signal, `SIGABRT`, where told.")
    pid = dy.Int64(nullable=True, description="Process id.")
    host = dy.String(nullable=True, description="Host.")
    time = dy.String(nullable=True, description="Time as printed, `2026-11-29_20:13:22`.")
    error_file = dy.String(nullable=True, description="File in which the worker left its exception.")
    exception = dy.String(
        nullable=True, description="Last line of the worker's traceback, where it left one."
    )
    message = dy.String(nullable=False, description="What torchrun shows of it.")


SCHEMA = WorkerFailureRows


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for error in events.errors:
            told = error.detail
            if not isinstance(told, WorkerFailures):
                continue
            for w in told.rows:
                yield (
                    source.name, w.span.line, told.name, w.rank, w.local_rank, w.root, w.exit_code, w.signal, w.pid,
                    w.host, w.time, w.error_file, w.exception, w.message,
                )  # fmt: skip
