"""What Inductor fused, and what not, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_log import fusions
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Fusions(dy.Schema):
    """One row a decision about two nodes, and one a round of fusion that ended (`TORCH_LOGS=fusion`)."""

    source = t.source()
    line = dy.Int64(nullable=False, description="Line of the message, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    round = dy.Int64(nullable=True, description="Round of fusion, from 1; null after the last.")
    decision = dy.String(
        nullable=False,
        description="`fused`, `refused`; `faster` and `slower` where fusing was measured; `round`: a round ended.",
    )
    first = dy.String(nullable=True, description="First node, `op0_op1` for nodes that are fused already.")
    second = dy.String(nullable=True, description="Second node.")
    reason = dy.String(nullable=True, description="Why it was refused, or what was measured.")
    factor = dy.Float64(nullable=True, description="Speedup or slowdown that was measured.")
    n_before = dy.Int64(nullable=True, description="Nodes before a round.")
    n_after = dy.Int64(nullable=True, description="Nodes after it.")


SCHEMA = Fusions


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for f in fusions(events.messages):
            yield (
                *_log.here(source, f.message, f.message.span.line), f.round, f.decision, f.first, f.second, f.reason, f.factor,
                f.n_before, f.n_after,
            )  # fmt: skip
