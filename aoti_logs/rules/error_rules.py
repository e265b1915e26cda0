"""The rules that read errors of a log, asked one after the other; the first that knows the error speaks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase, ErrorTold

NAMES: tuple[str, ...] = ("al616_size_stride", "al617_runtime_assert", "al620_tool_usage", "al618_operator")
"""Modules of `rules/` that have `tell_error`; what is more certain stands first."""


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Return what the first rule says that knows the error, or None."""
    for name in NAMES:
        told: ErrorTold | None = import_module(f"aoti_logs.rules.{name}").tell_error(case)
        if told is not None:
            return told
    return None
