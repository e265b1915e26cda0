"""Which graph node a kernel came from, and which node that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.traces.maps import pairs
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Provenance(dy.Schema):
    """One row a pair of a provenance map (INDUCTOR_PROVENANCE=1)."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    mapping = dy.String(
        nullable=False,
        description="`preToPost`, `postToPre`, `cppCodeToPost` (kernel to node, of Triton too), `postToCppCode`.",
    )
    origin = dy.String(nullable=False, description="Node or kernel.")
    origin_handle = dy.Int64(nullable=True, description="Debug handle of the kernel's call (torch 2.9+).")
    target = dy.String(nullable=False, description="Node or kernel that belongs to it.")
    target_handle = dy.Int64(nullable=True, description="Debug handle of the kernel's call.")


SCHEMA = Provenance


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    last, where = None, None
    for record, *pair in pairs(trace):
        if record is not last:
            last, where = record, t.here(record)
        assert where is not None
        yield *where, *pair
