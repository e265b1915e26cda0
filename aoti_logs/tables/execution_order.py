"""Compiled graphs in the order in which they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class ExecutionOrder(dy.Schema):
    """One row a run of a compiled graph (`graph_execution`); recorded only inside of
    `torch._inductor.debug.record_and_log_graph_execution_order()`.
    """

    source = t.source()
    line = t.line()
    rank = t.rank()
    number = dy.Int64(nullable=False, description="Position, from 0.")
    ran = dy.String(nullable=True, description="Compile id of the graph that ran.")
    graph = dy.String(nullable=True, description="Name of the graph, in records until 2025.")


SCHEMA = ExecutionOrder


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("artifact:graph_execution", "artifact:inductor_graph_execution"):
        source, line, _, rank = t.here(record)
        value = t.mapping(record.json())
        runs = t.items(value.get("graph_execution_order")) or ([value] if "graph" in value else [])
        for number, run in enumerate(runs):
            fields = t.mapping(run)
            yield source, line, rank, number, t.text(fields.get("compile_id")), t.text(fields.get("graph"))
