"""Failures of several ranks: the first that failed leads, the same failure elsewhere is counted under it.

What a rank reports only because another one is gone (a collective that timed out, a connection that broke, a
launcher's list of dead children) stands under the failure of the rank that failed by itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.rules.rank_order import in_order, of_one_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_SHOWN = 8  # ranks that are named in words
_HEARD = frozenset({"AL323"})
_WAITED = frozenset({"AL320"})
"""Rules that speak of what a launcher heard of its children, and of a rank that waited for another one."""


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
        first, *others = in_order(list(group.values())) or group.values()
        if others:
            leads[id(first)] = _joined(first, others)
            counted.update(map(id, others))
    return _under_the_first(_by_time([leads.get(id(f), f) for f in findings if id(f) not in counted]))


def _by_time(findings: list[Finding]) -> list[Finding]:
    """Let failures of a rank's own lead, the one with the earliest time first where all tell times that can be compared."""
    found = list(findings)
    places = [n for n, f in enumerate(found) if f.role == "cause" and f.rank is not None]
    # A rank that waited is not the cause, whether or not what it waited for was printed later.
    for place, finding in zip(places, sorted((found[n] for n in places), key=_distance), strict=True):
        found[place] = finding
    places = [n for n in places if not _distance(found[n])]
    for place, finding in zip(places, in_order([found[n] for n in places]), strict=False):
        found[place] = finding
    return found


def _signature(finding: Finding) -> tuple[Any, ...]:
    facts = finding.facts
    text = facts.get("innermost") or facts.get("assertion") or facts.get("message") or finding.title
    place = (facts.get("file"), facts.get("line"), facts.get("function"))
    # Which collective it was is told by its number: ranks that wait for different ones did not fail alike.
    number = facts.get("sequence_number") if finding.rule in _WAITED else None
    return finding.rule, finding.kind, facts.get("run_in_log"), number, *place, _NUMBER.sub("#", str(text))


def _joined(lead: Finding, others: list[Finding]) -> Finding:
    ranks = [f.rank for f in (lead, *others) if f.rank is not None]
    links = [
        Link("again", f.title, f.chain[0].place if f.chain else None, details=(f"rank {f.rank}",))
        for f in others
    ]
    note = f"the same failure on {len(ranks)} ranks ({_named(ranks)}); {_which(lead, others)}"
    if not of_one_run([(f.log or "", f.rank or 0) for f in (lead, *others)]):
        note += "; nothing tells that these logs are of one run"
    return replace(
        lead,
        facts={**lead.facts, "ranks": ranks, "n_ranks": len(ranks)},
        notes=(note, *lead.notes),
        consequences=(*links, *lead.consequences),
    )


def _which(lead: Finding, others: list[Finding]) -> str:
    if in_order([lead, *others]):
        return f"rank {lead.rank} printed it first, at {lead.facts['time']}"
    timed = any(f.facts.get("time") for f in (lead, *others))
    in_one = len({f.log for f in (lead, *others)}) == 1 and not timed
    return f"rank {lead.rank} printed it first" if in_one else "which was first is not known"


def _named(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(ranks)[:_SHOWN]))
    return shown if len(ranks) <= _SHOWN else f"{shown} and {len(ranks) - _SHOWN} more"


def _under_the_first(findings: list[Finding]) -> list[Finding]:
    """Put what only waits for another rank, or hears of it, under the failure in the same log that is nearer to the cause."""
    causes = [f for f in findings if f.role == "cause"]
    moved: dict[int, list[Finding]] = {}
    for finding in causes:
        if _distance(finding) == 0:
            continue  # nothing is nearer, and a log may hold thousands
        lead = min((f for f in causes if _before(f, finding)), key=lambda f: _far(f, finding), default=None)
        if lead is not None:
            moved.setdefault(id(lead), []).append(finding)
    gone = {id(f) for group in moved.values() for f in group}
    return [_with(f, _all_under(f, moved)) for f in findings if id(f) not in gone]


def _all_under(lead: Finding, moved: dict[int, list[Finding]]) -> list[Finding]:
    """Return what stands under a finding, and what stands under that."""
    found: list[Finding] = []
    for finding in moved.get(id(lead), ()):
        found += [finding, *_all_under(finding, moved)]
    return found


def _distance(finding: Finding) -> int:
    """Tell how far from the cause a report is: 0 of a failure of its own, 1 of a rank that waited, 2 of who heard of it."""
    if finding.rule in _HEARD or finding.kind == "peer_lost" or finding.facts.get("peer_ended") is True:
        return 2
    return int(finding.rule in _WAITED or finding.facts.get("waited") is True)


def _far(lead: Finding, heard: Finding) -> int:
    """Tell how badly a failure fits what was heard: the rank that is named, any rank, one of nobody knows which rank."""
    named = heard.facts.get("first_rank")
    return 0 if named is not None and lead.rank == named else 2 if lead.rank is None else 1


def _before(lead: Finding, heard: Finding) -> bool:
    """Tell whether one finding stands nearer to the cause of the other; who timed out did so after the other rank failed."""
    if lead.facts.get("run_in_log") != heard.facts.get("run_in_log"):
        return False
    if lead.log != heard.log or _distance(lead) >= _distance(heard) or lead.rank is None is heard.rank:
        return False
    if _distance(heard) > 1:
        return True
    first, then = (f.chain[0].place if f.chain else None for f in (lead, heard))
    return lead.rank != heard.rank and first is not None and then is not None and first.line < then.line


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
