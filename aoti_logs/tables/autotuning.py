"""What Inductor measured before it chose an algorithm or a kernel's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.autotune import tuned_kernels
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.parse.compiles.autotune import Autotuning, Choice
    from aoti_logs.sources.source import Source


class Autotunings(dy.Schema):
    """One row a choice that was measured: an algorithm for an operator (`AUTOTUNE mm(...)`, written without any setting), or a
    configuration of a Triton kernel (`TORCH_LOGS=+inductor`).
    """

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the choice, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    block_line = dy.Int64(
        nullable=False, description="Line where the measurement begins; the same for its choices."
    )
    op = dy.String(nullable=True, description="Operator, `mm`; null for a kernel.")
    kernel = dy.String(nullable=True, description="Triton kernel; null for an operator.")
    shapes = dy.List(dy.String(), nullable=False, description="Sizes of the inputs, `13120x256`.")
    strides = dy.List(dy.String(), nullable=False, description="Their strides, `[256, 1]`.")
    dtypes = dy.List(dy.String(), nullable=False, description="Their dtypes.")
    name = dy.String(nullable=False, description="Algorithm, `triton_mm_125`, or configuration.")
    best = dy.Bool(nullable=False, description="Whether it is the fastest one.")
    ms = dy.Float64(nullable=True, description="Milliseconds; infinite where it did not run.")
    speed = dy.Float64(nullable=True, description="Time of the best one divided by its own.")
    num_warps = dy.Int64(nullable=True, description="Warps of a Triton kernel.")
    num_stages = dy.Int64(nullable=True, description="Stages of a Triton kernel.")
    options = dy.List(dy.String(), nullable=False, description="All of its settings, `BLOCK_K=32`.")
    benchmark_s = dy.Float64(nullable=True, description="Seconds that measuring took, for all choices.")
    precompile_s = dy.Float64(nullable=True, description="Seconds that compiling them took before.")


SCHEMA = Autotunings


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        found = [*events.autotunings, *tuned_kernels(events.messages)]
        for tuning in sorted(found, key=lambda a: a.span.start):
            times = [c.ms for c in tuning.choices if c.ms is not None]
            for choice in tuning.choices:
                yield _row(source, tuning, choice, best=bool(times) and choice.ms == min(times))


def _row(source: Source, tuning: Autotuning, choice: Choice, *, best: bool) -> tuple[Any, ...]:
    options = dict(choice.options)
    if tuning.message is not None:
        _, line, compile_id, rank = _log.here(source, tuning.message, tuning.span.line)
    else:
        line, compile_id = tuning.span.line, None
        rank = tuning.rank if tuning.rank is not None else source.rank
    return (
        source.name, choice.line, compile_id, rank, line, tuning.op, tuning.kernel, list(tuning.shapes),
        list(tuning.strides), list(tuning.dtypes), choice.name, best, choice.ms, choice.speed,
        _integer(options.get("num_warps")), _integer(options.get("num_stages")),
        [f"{k}={v}" for k, v in choice.options], tuning.benchmark_s, tuning.precompile_s,
    )  # fmt: skip


def _integer(text: str | None) -> int | None:
    return int(text[:18]) if text is not None and text.isdecimal() else None
