"""The rules that read errors of a log, asked one after the other; the first that knows the error speaks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase, ErrorTold

NAMES: tuple[str, ...] = (
    "al303_sanitizer",
    "al302_rocm_fault",
    "al308_dsa",
    "al301_device_fault",
    "al304_out_of_memory",
    "al306_cudagraph_output",
    "al323_child_failed",
    "al320_collective_timeout",
    "al321_collective_error",
    "al402_nan_assert",
    "al403_value_printer",
    "al206_small_size_refused",
    "al201_input_mismatch",
    "al202_input_count",
    "al203_device_mismatch",
    "al204_size_condition",
    "al210_dlopen",
    "al211_package",
    "al212_constants",
    "al216_kernel_image",
    "al217_version_mismatch",
    "al218_deprecation",
    "al213_shim_exception",
    "al214_api_call_failed",
    "al215_model_error",
    "al305_device_refused",
    "al616_size_stride",
    "al617_runtime_assert",
    "al620_tool_usage",
    "al622_double_backward",
    "al623_main_guard",
    "al624_mixed_dtensor",
    "al501_recompile",
    "al313_memory_report",
    "al310_model_call",
    "al311_faulthandler",
    "al312_debugger",
    "al314_signal_handler",
    "al318_self_abort",
    "al319_child_died",
    "al315_terminate",
    "al317_signal",
    "al618_operator",
    "al404_own_nan_check",
    "al405_results_differ",
)
"""Modules of `rules/` that have `tell_error`; what is more certain stands first."""


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Return what the first rule says that knows the error, or None."""
    for name in NAMES:
        told: ErrorTold | None = import_module(f"aoti_logs.rules.{name}").tell_error(case)
        if told is not None:
            return told
    return None
