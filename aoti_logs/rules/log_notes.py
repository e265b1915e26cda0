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

NAMES: dict[str, tuple[str, ...]] = {
    "al303_sanitizer": ("notes",),
    "al322_watchdog_reports": ("errors",),
    "al401_nan_in_dump": ("dumps",),
    "al403_value_printer": ("dumps",),
    "al218_deprecation": ("messages",),
    "al219_device_information": ("messages",),
    "al220_runtime_warnings": ("errors",),
    "al221_command_settings": ("notes",),
    "al503_graph_break": ("messages",),
    "al513_data_origin": ("messages",),
    "al504_specialization": ("messages",),
    "al507_assumed_value": ("messages",),
    "al501_recompile": ("messages",),
    "al512_sizes": ("messages",),
    "al511_guards": ("messages",),
    "al311_faulthandler": ("errors",),
    "al313_memory_report": ("errors",),
    "al316_stack_alone": ("stacks",),
    "al307_kernel_log": ("notes",),
    "al613_triton_dump": ("messages",),
    "al614_triton_resources": ("notes", "messages"),
}
"""Modules of `rules/` that have `log_notes`, and the kinds of events that each reads: without any it is not imported."""


@dataclass(frozen=True)
class LogCase:
    """A whole log; `told` are the findings of its assertions, errors and messages."""

    events: LogEvents
    source: Source
    evidence: Evidence
    told: Sequence[Finding]


def note_findings(case: LogCase) -> Iterator[Finding]:
    """Yield what the rules say of it."""
    for name, kinds in NAMES.items():
        if any(getattr(case.events, kind) for kind in kinds):
            yield from import_module(f"aoti_logs.rules.{name}").log_notes(case)
