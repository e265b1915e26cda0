"""How long Inductor thinks that operations take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class RuntimeEstimates(dy.Schema):
    """One row an operation (`inductor_runtime_and_tensor_meta`); estimates, nothing was measured."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    number = dy.Int64(nullable=False, description="Position in the schedule, from 0.")
    op = dy.String(nullable=True, description="Operation, `extern_kernels.mm`.")
    type = dy.String(nullable=True, description="`compute` or `collective`.")
    estimated_runtime_ns = dy.Float64(
        nullable=True,
        description="As recorded. In spite of the name torch 2.11 to 2.13 write milliseconds, "
        "older ones nanoseconds; the record does not say which.",
    )
    shapes = dy.List(dy.String(), nullable=False, description="Shape of each output as JSON, `[1024,1024]`.")
    strides = dy.List(dy.String(), nullable=False, description="Strides of each output as JSON.")
    dtypes = dy.List(dy.String(), nullable=False, description="Element type of each output, `float16`.")


SCHEMA = RuntimeEstimates


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("artifact:inductor_runtime_and_tensor_meta"):
        where = t.here(record)
        for number, value in enumerate(t.items(t.mapping(record.json()).get("ops"))):
            op = t.mapping(value)
            outputs = [t.mapping(output) for output in t.items(op.get("outputs"))]
            yield (
                *where, number, t.text(op.get("name")), t.text(op.get("type")),
                t.number(op.get("estimated_runtime_ns")), [t.to_json(o.get("shape")) for o in outputs],
                [t.to_json(o.get("stride")) for o in outputs], [t.text(o.get("dtype")) for o in outputs],
            )  # fmt: skip
