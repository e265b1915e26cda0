"""Which calls of a C++ wrapper compute something, and which of their arguments they write.

Names are those of `torch/csrc/inductor/aoti_torch/c/shim.h` and the generated `aoti_torch/generated/c_shim_*.h`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKED = ("AOTI_TORCH_ERROR_CODE_CHECK(", "AOTI_RUNTIME_ERROR_CODE_CHECK(", "AOTI_RUNTIME_CUDA_CHECK(")
"""Macros that throw when the call inside fails."""

_COMPUTING_SHIM = re.compile(
    r"aoti_torch_(?:cpu|cuda|xpu|mps|mtia|hpu|privateuse1|mkldnn)_\w+"
    r"|aoti_torch_(?:proxy_executor_call_function|call_dispatcher)"
    r"|aoti_torch_(?:index_put_out|scatter_out|scatter_reduce_out|copy_|tensor_copy_|zero_|clone|clone_preserve_strides"
    r"|_mm_plus_mm_out|mm_out|bmm_out|addmm_out|convolution|nonzero|repeat_interleave_Tensor|narrow)"
    r"|aoti_torch_(?:_scaled_\w+|__scaled_\w+|_fft_\w+)"
)
_NOT_COMPUTING_SHIM = re.compile(
    r"aoti_torch_(?:cpu|cuda|xpu|mps|mtia)_(?:guard_set_index|caching_allocator\w*|set_arg\w*|start_encoding|run_command_block"
    r"|dispatch_\w+|create_\w+|delete_\w+|get_\w+|memcpy|copy_buffer|free|malloc|synchronize\w*)"
    r"|aoti_torch_clone_preserve_strides"
)
_ATEN = re.compile(r"at::(?!detail::|k[A-Z]|Tensor\b|ScalarType|vec::)(?:_ops::)?\w+(?:_\w+)*(?:::call)?")
_IN_PLACE = re.compile(r"(?:_out(?:_\w+)?|_$|::call_out)")


def is_launch(callee: str, kernels: frozenset[str]) -> bool:
    """Tell whether a call runs a kernel, fused or of ATen, a library or a custom op."""
    name = callee.removeprefix("kernels.").removeprefix("this->kernels_.")
    if name in kernels or (name.startswith("call_") and name[5:] in kernels):
        return True
    if callee == "launchKernel":
        return True
    if callee.startswith("aoti_torch_"):
        return _COMPUTING_SHIM.fullmatch(callee) is not None and not _NOT_COMPUTING_SHIM.fullmatch(callee)
    return callee.startswith(("at::", "op.call", "cpp_fused_", "cpp_")) and (
        not callee.startswith("at::") or _ATEN.fullmatch(callee) is not None
    )


def names_of_outputs(callee: str, arguments: tuple[str, ...], core: Callable[[str], str]) -> tuple[str, ...]:
    """Return the buffers that an extern call writes as far as its own text shows."""
    made = tuple(
        a.strip()[1:].removesuffix("_handle")
        for a in arguments
        if re.fullmatch(r"\s*&\w+_handle", a) is not None
    )
    if made or not arguments:
        return made
    if callee.startswith(("aoti_torch_", "at::")) and _writes_first(callee):
        return (core(arguments[0]),)
    return ()


def _writes_first(callee: str) -> bool:
    return callee.endswith(("_out", "_", "::call_out")) or "_out_" in callee
