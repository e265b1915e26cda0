"""Entry kinds and fields that torch 2.4 to 2.13 writes into a trace; what else there is, is counted as unknown.

Source: every call of `trace_structured` in those releases, and what tlparse 0.4.3 reads of older ones. The set is
open: any library may write entries of its own, and they are kept like the others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.records.envelope import entry_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_STACKS = frozenset({"user_stack", "stack"})
_GUARD = _STACKS | {"expr", "prefix", "expr_node_id", "symbol_to_sources", "frame_locals"}

FIELDS: dict[str, frozenset[str] | None] = {
    "str": None,
    "chromium_event": frozenset(),
    "dynamo_start": frozenset({"stack"}),
    "describe_storage": frozenset({"id", "describer_id", "size"}),
    "describe_tensor": None,  # every field of MetaTensorDesc that is not its default
    "describe_source": frozenset({"describer_id", "id", "source"}),
    "create_symbol": _STACKS | {"symbol", "val", "vr", "source"},
    "create_unbacked_symbol": _STACKS | {"symbol", "node_id", "vr"},
    "guard_added_fast": _STACKS | {"expr"},
    "symbolic_shape_specialization": _STACKS | {"symbol", "value", "reason", "sources"},
    "propagate_real_tensors": _STACKS | {"expr", "result"},
    "dynamo_output_graph": frozenset({"sizes"}),
    "dynamo_guards": frozenset(),
    "dynamo_cpp_guards_str": frozenset(),
    # Metrics become rows of their own whatever they are called.
    "compilation_metrics": None,
    "bwd_compilation_metrics": None,
    "compilation_metrics_runtime": None,
    "bwd_compilation_metrics_runtime": None,
    "aot_autograd_backward_compilation_metrics": None,
    "aot_joint_graph": frozenset(),
    "aot_forward_graph": frozenset(),
    "aot_backward_graph": frozenset(),
    "aot_inference_graph": frozenset(),
    "inductor_pre_grad_graph": frozenset(),
    "inductor_post_grad_graph": frozenset(),
    "inductor_output_code": frozenset({"filename", "file_path"}),
    "graph_dump": frozenset({"name", "type", "filename"}),
    "compiled_autograd_graph": frozenset(),
    "optimize_ddp_split_graph": frozenset(),
    "optimize_ddp_split_child": frozenset({"name"}),
    "dump_file": frozenset({"name"}),
    "link": frozenset({"name", "url"}),
    "artifact": frozenset({"name", "encoding"}),
    "export": frozenset(),
    "exported_program": frozenset(),
    "expression_created": _STACKS | {"method", "result", "result_id", "arguments", "argument_ids"},
    "guard_added": _GUARD,
    "propagate_real_tensors_provenance": _GUARD | {"result"},
    "guard_on_data_dependent_error": _STACKS | {"expr", "unhinted_expr", "expr_id"},
    "missing_fake_kernel": _STACKS | {"op"},
    "mismatched_fake_kernel": _STACKS | {"op", "reason"},
}
"""Fields of the metadata of each entry; None where any may be there."""

# Saved-tensor hooks make such a name at run time (`torch/_functorch/_aot_autograd/graph_compile.py`).
_MADE = re.compile(r"aot_(?:forward|backward)_graph_pre_(?:assert_)?saved_tensors_hooks")


def is_known(entry: str) -> bool:
    """Tell whether torch writes entries of this name."""
    return entry in FIELDS or _MADE.fullmatch(entry) is not None


def unknown_fields(entry: str, envelope: Mapping[str, Any]) -> list[str]:
    """Return what an envelope holds that torch does not write: `KEY` beside the entry, `ENTRY.FIELD` in it."""
    found = [name for name in entry_names(envelope) if name != entry]
    fields, value = FIELDS.get(entry), envelope.get(entry)
    if fields is not None and isinstance(value, dict) and not value.keys() <= fields:
        found += [f"{entry}.{field}" for field in value if field not in fields]
    return found
