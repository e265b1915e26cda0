"""Failures of several ranks: the first that failed leads, the same failure elsewhere is counted under it.

What a rank reports only because another one is gone (a collective that timed out, a connection that broke, a
launcher's list of dead children) stands under the failure of the rank that failed by itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_SHOWN = 8  # ranks that are named in words
_WAITING_RULES = frozenset({"AL320", "AL321", "AL323"})
_WAITING = frozenset({"peer_lost"})
"""What a rank, or a launcher, says that heard of a failure elsewhere."""


def by_rank(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with equal failures of several ranks as one, the first rank's leading.

    Only causes take part. Two are equal when rule, kind, place in the code and text agree but for numbers.
    """
    groups: dict[tuple[Any, ...], dict[int, Finding]] = {}
    for finding in findings:
        if finding.role == "cause" and finding.rank is not None:
            groups.setdefault(_signature(finding), {}).setdefault(finding.rank, finding)
    leads: dict[int, Finding] = {}
    counted: set[int] = set()
    for group in groups.values():
        first, *others = group.values()
        if others:
            leads[id(first)] = _joined(first, others)
            counted.update(map(id, others))
    return _under_the_first([leads.get(id(f), f) for f in findings if id(f) not in counted])


def _signature(finding: Finding) -> tuple[Any, ...]:
    facts = finding.facts
    text = facts.get("innermost") or facts.get("assertion") or facts.get("message") or finding.title
    place = (facts.get("file"), facts.get("line"), facts.get("function"))
    return finding.rule, finding.kind, *place, _NUMBER.sub("#", str(text))


def _joined(lead: Finding, others: list[Finding]) -> Finding:
    ranks = [f.rank for f in (lead, *others) if f.rank is not None]
    links = [
        Link("again", f.title, f.chain[0].place if f.chain else None, details=(f"rank {f.rank}",))
        for f in others
    ]
    in_order = len({f.log for f in (lead, *others)}) == 1
    first = f"rank {lead.rank} printed it first" if in_order else "which was first is not known"
    note = f"the same failure on {len(ranks)} ranks ({_named(ranks)}); {first}"
    return replace(
        lead,
        facts={**lead.facts, "ranks": ranks, "n_ranks": len(ranks)},
        notes=(note, *lead.notes),
        consequences=(*links, *lead.consequences),
    )


def _named(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(ranks)[:_SHOWN]))
    return shown if len(ranks) <= _SHOWN else f"{shown} and {len(ranks) - _SHOWN} more"


def _under_the_first(findings: list[Finding]) -> list[Finding]:
    """Put what only waits for another rank under the failure of a rank of the same log that failed by itself."""
    causes = [f for f in findings if f.role == "cause"]
    own = [f for f in causes if not _waits(f) and f.rank is not None]
    moved: dict[int, list[Finding]] = {}
    for finding in causes:
        lead = next((f for f in own if _before(f, finding)), None) if _waits(finding) else None
        if lead is not None:
            moved.setdefault(id(lead), []).append(finding)
    gone = {id(f) for group in moved.values() for f in group}
    return [_with(f, moved.get(id(f), [])) for f in findings if id(f) not in gone]


def _waits(finding: Finding) -> bool:
    return finding.rule in _WAITING_RULES or finding.kind in _WAITING


def _before(lead: Finding, waiting: Finding) -> bool:
    """Tell whether a rank of the same log failed by itself before another one gave up waiting; a closed connection has no time."""
    if lead.log != waiting.log or lead.rank == waiting.rank:
        return False
    first, then = (f.chain[0].place if f.chain else None for f in (lead, waiting))
    return waiting.facts.get("peer_ended") is True or (
        first is not None and then is not None and first.line < then.line
    )


def _with(lead: Finding, waiting: list[Finding]) -> Finding:
    if not waiting:
        return lead
    links = tuple(
        Link(
            "follows",
            f.title,
            f.chain[0].place if f.chain else None,
            details=(f"rank {f.rank}",) if f.rank is not None else (),
        )
        for f in waiting
    )
    behind = sorted((*lead.consequences, *links), key=lambda k: k.place.line if k.place else 0)
    return replace(lead, consequences=tuple(behind))
