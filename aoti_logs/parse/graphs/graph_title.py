"""What a graph that TORCH_LOGS printed is called in a trace of the same run.

Titles: `lazy_format_graph_code` in torch/_dynamo/output_graph.py, torch/_functorch/_aot_autograd/{graph_capture,
graph_compile}.py, torch/_inductor/compile_fx.py; entries: `trace_structured` beside them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_STAGES = (
    (re.compile(r"__compiled_fn_\d+\w*"), "dynamo_output_graph"),
    (re.compile(r"BEFORE PRE GRAD"), "before_pre_grad_graph"),
    (re.compile(r"AFTER POST GRAD"), "inductor_post_grad_graph"),
    (re.compile(r"Joint graph (?:\d+|\(from cache\))"), "aot_joint_graph"),
    (re.compile(r"Backward graph (?:\d+|\(from cache\))"), "aot_backward_graph"),
    (re.compile(r"Compiled autograd graph"), "compiled_autograd_graph"),
)
_FORWARD = re.compile(r"Forward graph (?:\d+|\(from cache\))")


def title_of(source: Source) -> str | None:
    """Return the title above a graph in a log, None for graphs that come from elsewhere."""
    in_log = source.kind is Kind.GRAPH and source.parent is not None and source.parent.kind is Kind.LOG
    return source.label if in_log else None


def stage_of(title: str | None, backward: bool) -> str | None:
    """Return the entry of a trace that has the same graph, None for titles that no trace has.

    Args:
        title: as printed.
        backward: whether the log has a backward to this forward graph: without one it is called inference.
    """
    if title is None:
        return None
    if _FORWARD.fullmatch(title):
        return "aot_forward_graph" if backward else "aot_inference_graph"
    return next((stage for pattern, stage in _STAGES if pattern.fullmatch(title)), None)
