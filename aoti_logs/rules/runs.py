"""Failures of several runs: the same one is told once, with a count and the places where it was told again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding

_SHOWN = 8


def by_run(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with equal failures of several logs, or of several runs in one log, as one; the first leads.

    Only causes with a signature take part: what is not known is not known to be alike.
    """
    groups: dict[str, dict[tuple[Any, ...], Finding]] = {}
    for finding in findings:
        signature = finding.facts.get("signature")
        if finding.role == "cause" and isinstance(signature, str):
            run = (finding.log, finding.facts.get("run_in_log"))
            groups.setdefault(signature, {}).setdefault(run, finding)
    leads: dict[int, Finding] = {}
    counted: set[int] = set()
    for group in groups.values():
        first, *others = group.values()
        if others:
            leads[id(first)] = _joined(first, others)
            counted.update(map(id, others))
    return [leads.get(id(f), f) for f in findings if id(f) not in counted]


def _joined(lead: Finding, others: list[Finding]) -> Finding:
    runs = [_name(f) for f in (lead, *others)]
    links = tuple(
        Link("again", f.title, f.chain[0].place if f.chain else None, details=(_name(f),)) for f in others
    )
    shown = ", ".join(runs[:_SHOWN]) + (f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else "")
    note = f"the same failure {len(runs)} times ({shown}): one signature, {lead.facts['signature']}"
    if lead.confidence is Confidence.POSSIBLE:
        note += "; why is not decided, so the causes may differ"
    return replace(
        lead,
        facts={**lead.facts, "n_seen": len(runs)},
        notes=(note, *lead.notes),
        consequences=(*links, *lead.consequences),
    )


def _name(finding: Finding) -> str:
    run = finding.facts.get("run_in_log")
    return f"{finding.log}, run {run}" if run is not None else str(finding.log)
