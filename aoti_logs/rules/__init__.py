"""Rules: one file a rule; its docstring is its page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.rules.rule import Rule

_OF_INDEXES = (
    "al100_chain_broken",
    "al101_size_outside_range",
    "al102_index_beyond_size",
    "al103_index_beyond_literal",
    "al104_loop_beyond_table",
    "al105_negative_index",
    "al106_int32_as_int64",
    "al107_shared_dim",
    "al108_codegen_suspect",
    "al109_assert_text_lost",
    "al110_index_layout",
)
"""Those that judge an index that is out of bounds."""
_NAMES = (
    "al001_unexplained",
    *_OF_INDEXES,
    "al201_input_mismatch",
    "al202_input_count",
    "al203_device_mismatch",
    "al204_size_condition",
    "al206_small_size_refused",
    "al210_dlopen",
    "al211_package",
    "al212_constants",
    "al213_shim_exception",
    "al214_api_call_failed",
    "al215_model_error",
    "al216_kernel_image",
    "al217_version_mismatch",
    "al218_deprecation",
    "al219_device_information",
    "al220_runtime_warnings",
    "al221_command_settings",
    "al301_device_fault",
    "al302_rocm_fault",
    "al303_sanitizer",
    "al304_out_of_memory",
    "al305_device_refused",
    "al306_cudagraph_output",
    "al307_kernel_log",
    "al308_dsa",
    "al309_device_assert",
    "al310_model_call",
    "al311_faulthandler",
    "al312_debugger",
    "al313_memory_report",
    "al314_signal_handler",
    "al315_terminate",
    "al316_stack_alone",
    "al317_signal",
    "al318_self_abort",
    "al319_child_died",
    "al320_collective_timeout",
    "al321_collective_error",
    "al322_watchdog_reports",
    "al323_child_failed",
    "al324_ranks_compiled",
    "al325_collective_order",
    "al326_rank_tensors",
    "al327_rank_caches",
    "al401_nan_in_dump",
    "al402_nan_assert",
    "al403_value_printer",
    "al404_own_nan_check",
    "al405_results_differ",
    "al501_recompile",
    "al502_recompile_limit",
    "al503_graph_break",
    "al504_specialization",
    "al505_constraint",
    "al506_data_dependent",
    "al507_assumed_value",
    "al511_guards",
    "al512_sizes",
    "al513_data_origin",
    "al601_compile_failed",
    "al602_dynamo_unsupported",
    "al603_backend_failed",
    "al604_fake_tensor",
    "al605_no_fake_kernel",
    "al606_no_cxx_compiler",
    "al607_cxx_error",
    "al608_lowering",
    "al609_backward",
    "al610_unfinished",
    "al611_export_stopped",
    "al612_triton_compilation",
    "al613_triton_dump",
    "al614_triton_resources",
    "al615_subprocess",
    "al616_size_stride",
    "al617_runtime_assert",
    "al618_operator",
    "al620_tool_usage",
    "al621_no_triton",
    "al622_double_backward",
    "al623_main_guard",
    "al624_mixed_dtensor",
    "al701_model",
    "al711_inputs_unchecked",
    "al712_shared_size",
    "al713_small_sizes",
    "al714_ignored_errors",
    "al715_layout_on_trust",
    "al716_index_unasserted",
    "al717_data_size",
    "al718_divided_size",
    "al721_constants",
    "al722_files_missing",
    "al723_bound_to",
    "al724_debug_code",
    "al731_not_read",
)


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, by code."""
    return tuple(import_module(f"aoti_logs.rules.{name}").RULE for name in _NAMES)


def index_rules() -> tuple[Rule, ...]:
    """Return the rules that judge an index that is out of bounds, by code."""
    return tuple(import_module(f"aoti_logs.rules.{name}").RULE for name in _OF_INDEXES)


def __getattr__(name: str) -> tuple[Rule, ...]:
    if name == "RULES":
        return all_rules()
    raise AttributeError(name)
