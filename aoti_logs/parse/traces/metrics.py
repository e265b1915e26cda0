"""Compilation metrics of a trace: the records in which a compile says what it cost and how it ended.

`torch/_dynamo/utils.py` (`CompilationMetrics`); torch 2.4 has 30 fields, torch 2.13 has 99.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord

ENTRIES = (
    "compilation_metrics",
    "bwd_compilation_metrics",
    "aot_autograd_backward_compilation_metrics",
    "compilation_metrics_runtime",
    "bwd_compilation_metrics_runtime",
)
RUNTIME = frozenset({"compilation_metrics_runtime", "bwd_compilation_metrics_runtime"})
"""Written when a compiled function runs (autotuning, CUDA graphs), not when it is compiled."""

OF_COMPILES = tuple(entry for entry in ENTRIES if entry not in RUNTIME)
"""Those with which a compile ends."""

CONFIGS = {
    "dynamo_config": "dynamo",
    "inductor_config": "inductor",
    "functorch_config": "functorch",
    "compiler_config": "compiler",
}
"""Metrics that hold a whole configuration as JSON text, and whose configuration it is."""


def metrics_records(trace: TraceIndex) -> Iterator[tuple[TraceRecord, dict[str, Any]]]:
    """Yield the records of metrics with their fields."""
    for record in trace.find(*ENTRIES):
        fields = record.metadata
        if isinstance(fields, dict):
            yield record, fields
