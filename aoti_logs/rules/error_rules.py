"""The rules that read errors of a log, asked one after the other; the first that knows the error speaks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase, ErrorTold

NAMES: tuple[str, ...] = (
    "al303_sanitizer",
    "al302_rocm_fault",
    "al301_device_fault",
    "al304_out_of_memory",
    "al306_cudagraph_output",
    "al305_device_refused",
    "al320_collective_timeout",
    "al321_collective_error",
)
"""Modules of `rules/` that have `tell_error`; what is more certain stands first."""


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Return what the first rule says that knows the error, or None."""
    for name in NAMES:
        told: ErrorTold | None = import_module(f"aoti_logs.rules.{name}").tell_error(case)
        if told is not None:
            return told
    return None
