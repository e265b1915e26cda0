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

_HOUSEKEEPING = re.compile(
    r"aoti_torch_(?:(?:cpu|cuda|xpu|mps|mtia)_(?:guard|caching_allocator|set_arg|start_encoding|dispatch|create|delete"
    r"|get|memcpy|copy_buffer|free|malloc|synchronize)\w*"
    r"|abi_version|as_strided|assign_tensors(?:_out)?|check|clone_preserve_strides|create_\w+|delete_\w+|device_\w+"
    r"|dtype\w*|get_\w+|grad_mode_\w+|is_\w+|item_\w+|layout\w*|library_\w+|memory_format\w*|new_\w+"
    r"|print_tensor_handle|save_tensor_handle|scalar_to_tensor_\w+|\w+_to_ivalue|stream_id|warn|unsafe_\w+"
    r"|_?_?reinterpret_tensor\w*|record_function_\w+|torchvision)"
)
"""Shims that hold, free, describe or print: nothing is computed. Every other `aoti_torch_` call is an operator, or a
check of values, which fails like one (`aoti_torch_check_inf_and_nan`)."""

_ATEN = re.compile(r"at::(?!detail::|k[A-Z]|Tensor\b|ScalarType|vec::)(?:_ops::)?\w+(?:::call\w*)?")
_LAUNCHERS = frozenset({"launchKernel", "op.callBoxed"})
_NOTHING = frozenset(
    {
        "RECORD_FUNCTION", "AOTI_TORCH_WARN", "printf", "fflush", "wrap_with_raii_handle_if_needed", "drop",
        "convert_handle_to_arrayref_tensor", "__check_inputs_outputs", "assert_numel", "PyTuple_SetItem",
        "PyList_SetItem", "PyErr_Occurred", "Py_INCREF", "ensure_triton_kernel_compiles_started", "inputs.clear", "std::cout", "std::cerr",
    }
)  # fmt: skip
_NOTHING_METHODS = frozenset(
    {"reset", "clear", "set_index", "reserve", "copy_data_from", "synchronize", "push_back", "emplace_back"}
)


def is_launch(callee: str, kernels: frozenset[str]) -> bool:
    """Tell whether a call runs a kernel, fused or of ATen, a library or a custom op."""
    name = callee.removeprefix("this->").removeprefix("kernels_->").removeprefix("kernels.")
    if name in kernels or callee.startswith(("kernels.", "call_")) or callee in _LAUNCHERS:
        return True
    if callee.startswith("aoti_torch_"):
        return callee == "aoti_torch_mps_run_command_block" or not _HOUSEKEEPING.fullmatch(callee)
    if callee == "PyObject_CallObject":
        return True
    return callee.startswith("cpp_fused_") or _ATEN.fullmatch(callee) is not None


def means_nothing(text: str) -> bool:
    """Tell whether a statement is known to say nothing about the model: frees, guards, printing."""
    callee = text.partition("(")[0].strip()
    method = re.split(r"\.|->", callee)[-1]
    return (
        callee in _NOTHING
        or (method != callee and method in _NOTHING_METHODS)
        or callee.startswith(("aoti_torch_", "check_input_", "init"))
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
