"""Records of the intermediate value printer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Dumps(dy.Schema):
    """One row a printed argument of a launch (AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER)."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    form = dy.String(nullable=False, description="`cpp`, `cpp_scalar`, `python` or `names`.")
    phase = dy.String(nullable=False, description="`inputs`, `before_launch` or `after_launch`.")
    kernel = dy.String(nullable=True, description="Kernel or call, as the generated code names it.")
    argument = dy.String(nullable=True, description="Argument name.")
    dtype = dy.String(nullable=True, description="Dtype as printed (`long int` is int64).")
    device = dy.String(nullable=True, description="Device.")
    shape = dy.List(dy.Int64(), nullable=True, description="Size.")
    numel = dy.Int64(nullable=True, description="Number of elements.")
    mean = dy.Float64(nullable=True, description="Mean, printed with six digits.")
    min = dy.Float64(nullable=True, description="Minimum, six digits; integers went through float32.")
    max = dy.Float64(nullable=True, description="Maximum, six digits.")
    value = dy.String(nullable=True, description="Scalar value or printed elements.")
    complete = dy.Bool(nullable=False, description="False when the block ends early.")


SCHEMA = Dumps


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for d in events.dumps:
            yield (
                source.name, d.span.line, d.form, d.phase, d.kernel, d.argument, d.dtype, d.device,
                list(d.shape) if d.shape is not None else None, d.numel, d.mean, d.min, d.max, d.value, d.complete,
            )  # fmt: skip
