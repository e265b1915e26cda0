"""Collectives in the order in which they were scheduled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Collectives(dy.Schema):
    """One row a collective of a compile's schedule (`inductor_collective_schedule`)."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    number = dy.Int64(nullable=False, description="Position in the schedule, from 0.")
    op = dy.String(nullable=False, description="Operator, `torch.ops._c10d_functional.all_reduce_.default`.")


SCHEMA = Collectives


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("artifact:inductor_collective_schedule"):
        where = t.here(record)
        for number, op in enumerate(t.items(record.json())):
            yield *where, number, t.text(op) or ""
