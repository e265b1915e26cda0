"""What the traces of a run's ranks differ in, and which failures that may explain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.rules.al324_ranks_compiled import compiled_differently
from aoti_logs.rules.al325_collective_order import other_order
from aoti_logs.rules.al326_rank_tensors import other_tensors
from aoti_logs.rules.al327_rank_caches import other_answers
from aoti_logs.rules.rank_views import views_of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.records.trace import TraceIndex

_RULES = (other_order, other_tensors, compiled_differently, other_answers)
_OF_COLLECTIVES = {"AL320", "AL321"}
_NOT_THEIRS = {"peer_closed", "rendezvous_error", "peer_lost"}
"""Kinds of failures that say nothing of what was called: a process had ended, or never came."""


def with_differences(findings: list[Finding], traces: Sequence[TraceIndex]) -> list[Finding]:
    """Add what the ranks' traces differ in; where a collective failed, quote it there and make it a warning.

    Only traces that were written at the same time are compared, and a failure is only joined with them where there is one
    run: nothing tells to which of several runs a log belongs.
    """
    runs = views_of_runs(traces)
    differences = [f for views in runs for rule in _RULES for f in rule(views)]
    if not differences:
        return findings
    failed = [
        f for f in findings if f.role == "cause" and f.rule in _OF_COLLECTIVES and f.kind not in _NOT_THEIRS
    ]
    if not failed or len(runs) > 1:
        return findings + differences
    links = tuple(Link("ranks", f"{f.rule}: {f.title}", f.chain[0].place) for f in differences if f.chain)
    quoted = [
        replace(
            f, chain=(*f.chain, *links), facts={**f.facts, "rank_differences": [d.rule for d in differences]}
        )
        if any(f is own for own in failed)
        else f
        for f in findings
    ]
    return quoted + [replace(d, severity="warning") for d in differences]
