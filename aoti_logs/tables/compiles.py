"""Each compile: what, when, how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_failure import exception_class
from aoti_logs.parse.traces.compiles import Compile, caller, compiles, duration_us, start_us
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Compiles(dy.Schema):
    """One row a compile, its attempts merged; AOTInductor compiles, which have no id, are `aoti/0`, `aoti/1`.

    After `torch._dynamo.reset()` ids begin again at `0/0`: then two rows have the same id.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    kind = dy.String(nullable=False, description="`dynamo`, `compiled_autograd` or `aot_inductor`.")
    status = dy.String(
        nullable=False,
        description="`ok`; `break`: it restarted, mostly for a graph break; `empty`: no graph came of it; `error`; "
        "`missing`: no metrics were written, so how it ended is not known.",
    )
    attempts = dy.Int64(nullable=False, description="Attempts; each but the last was a restart.")
    process = dy.Int64(nullable=False, description="Process id.")
    function = dy.String(nullable=True, description="Function that was compiled.")
    file = dy.String(nullable=True, description="Its file.")
    file_line = dy.Int64(nullable=True, description="Its first line.")
    caller_file = dy.String(nullable=True, description="User's file whose call set it off.")
    caller_line = dy.Int64(nullable=True, description="Line there.")
    start_us = dy.Float64(nullable=True, description="Begin in microseconds since 1970 (UTC).")
    duration_us = dy.Float64(nullable=True, description="Microseconds it took, as torch measured them.")
    fail_type = dy.String(nullable=True, description="Class of the exception that ended it.")
    fail_reason = dy.String(nullable=True, description="Its text.")
    fail_file = dy.String(nullable=True, description="User's file in which it arose.")
    fail_line = dy.Int64(nullable=True, description="Line there.")
    restart_reasons = dy.List(dy.String(), nullable=True, description="Why analysis restarted.")
    n_graph_breaks = dy.Int64(
        nullable=True,
        description="Graph breaks that were recorded for it (`dynamo_graph_break_reason`); null where only restarts "
        "tell of them, as in torch 2.4. The metric `num_graph_breaks` counts those of the whole process.",
    )
    n_guards = dy.Int64(nullable=True, description="Guards (`guard_count`).")
    n_graph_ops = dy.Int64(nullable=True, description="Operations of the graph (`graph_op_count`).")
    cache_size = dy.Int64(
        nullable=True,
        description="Compiles of the function that were cached for the same objects; the metric "
        "`accumulated_cache_size` counts all.",
    )
    recompile_reason = dy.String(
        nullable=True, description="Why the cached compile that was used last did not do (torch 2.6+)."
    )
    cudagraph_skip_reason = dy.String(nullable=True, description="Why no CUDA graph was made of it.")
    has_backward = dy.Bool(nullable=False, description="Whether metrics of a backward were written.")
    files = dy.List(
        dy.String(), nullable=False, description="Paths that its generated code was written to, in order."
    )
    n_records = dy.Int64(
        nullable=False, description="Records of the trace that belong to it, strings not counted."
    )


SCHEMA = Compiles


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    breaks = bool(trace.numbers("artifact:dynamo_graph_break_reason"))
    for c in compiles(trace):
        yield _row(c, c.n_graph_breaks if breaks or not c.field("restart_reasons") else None)


def _row(c: Compile, breaks: int | None) -> tuple[Any, ...]:
    source, line, _, rank = t.here(c.first)
    called = caller(c)
    return (
        source, line, c.compile_id, rank, c.kind, c.status, c.attempts, c.first.process,
        t.text(c.field("co_name")), t.text(c.field("co_filename")), t.integer(c.field("co_firstlineno")),
        called.file if called else None, called.line if called else None, start_us(c), duration_us(c),
        exception_class(t.text(c.field("fail_type"))), t.text(c.field("fail_reason")), t.text(c.field("fail_user_frame_filename")),
        t.integer(c.field("fail_user_frame_lineno")), t.texts(c.field("restart_reasons")),
        breaks, t.integer(c.field("guard_count")),
        t.integer(c.field("graph_op_count")), t.integer(c.field("cache_size")), t.text(c.field("recompile_reason")),
        t.text(c.field("cudagraph_skip_reason")), c.backward is not None, list(c.files), c.n_records,
    )  # fmt: skip
