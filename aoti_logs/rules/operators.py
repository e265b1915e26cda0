"""Whose operator it is: PyTorch's own, or one that a library or the program registered."""

from __future__ import annotations

import re

# The namespaces of `torch._C._dispatch_get_all_op_names()` in torch 2.13 on CPU, and those of other builds and of
# higher-order operators, which are in no dispatcher.
_OWN = frozenset(
    [
        "_c10d_functional",
        "_c10d_functional_autograd",
        "_dtensor",
        "_inductor_test",
        "_native",
        "_quantized",
        "_test",
        "aten",
        "bsr",
        "c10d",
        "c10d_functional",
        "cuda",
        "debug_mode_ops",
        "debugprims",
        "export",
        "flex_lib",
        "fsdp",
        "higher_order",
        "inductor",
        "inductor_prims",
        "mkl",
        "mkldnn",
        "mkldnn_prepacked",
        "onednn",
        "onnx",
        "onnx_symbolic",
        "prim",
        "prims",
        "profiler",
        "quantization",
        "quantized",
        "quantized_decomposed",
        "rngprims",
        "sparse",
        "static_runtime",
        "streams",
        "symm_mem",
        "triton",
        "xla",
    ]
)
_NAMED = re.compile(r"(?P<prefix>torch\.ops\.)?(?P<space>\w+)\.\w+(?P<overload>\.\w+)?$")


def is_custom(operator: str | None) -> bool:
    """Tell whether `torch.ops.SPACE.NAME` or `SPACE.NAME.OVERLOAD` is an operator that PyTorch does not have itself."""
    found = _NAMED.match(operator) if operator is not None else None
    if found is None or not (found["prefix"] or found["overload"]):
        return False
    return found["space"] not in _OWN and found["space"] != "torch"
