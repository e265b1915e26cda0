"""What a log tells beside its errors: each module named here has `log_notes(case) -> Iterable[Finding]`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source

NAMES: tuple[str, ...] = (
    "al303_sanitizer",
    "al322_watchdog_reports",
    "al401_nan_in_dump",
    "al403_value_printer",
    "al218_deprecation",
    "al219_device_information",
    "al220_runtime_warnings",
    "al503_graph_break",
    "al513_data_origin",
    "al504_specialization",
    "al507_assumed_value",
    "al501_recompile",
    "al512_sizes",
    "al511_guards",
    "al311_faulthandler",
    "al313_memory_report",
    "al316_stack_alone",
    "al307_kernel_log",
    "al613_triton_dump",
    "al614_triton_resources",
)
"""Modules of `rules/` that have `log_notes`."""


@dataclass(frozen=True)
class LogCase:
    """A whole log; `told` are the findings of its assertions, errors and messages."""

    events: LogEvents
    source: Source
    evidence: Evidence
    told: Sequence[Finding]


def note_findings(case: LogCase) -> Iterator[Finding]:
    """Yield what the rules say of it."""
    for name in NAMES:
        yield from import_module(f"aoti_logs.rules.{name}").log_notes(case)
