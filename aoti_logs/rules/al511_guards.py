"""What is checked before compiled code runs.

## What it says
How many guards each compile has, by their kind, and how long one check of them took, as TORCH_LOGS=guards
prints them. It is no fault: it says what the log holds. The guards themselves are in the table `guards`.

## Why it matters
Every call of a compiled function checks its guards first. Thousands of them cost more than a small graph.

## Example
`compile 0/0 checks 29 guards in 105.78 us: 10 DIMENSION_DYNAMIC_MARKING_GUARD, 8 LAMBDA_GUARD, ...`.

## Evidence it needs
TORCH_LOGS=guards in a log. A trace always has guards; there they are in the tables only.

## What to do
Nothing. Where a check takes long: fewer modules and containers in the inputs, or skipping guards on modules
(`torch.compile(..., options={"guard_filter_fn": ...})`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.guards.logged_guards import guards_in
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.guards.logged_guards import LoggedGuards
    from aoti_logs.rules.log_notes import LogCase

_SHOWN = 8
_KEPT = 100
_KINDS = 3


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for the guards that each rank's messages hold, where nothing failed."""
    if any(f.role == "cause" for f in case.told):
        return
    by_rank: dict[int | None, list[LoggedGuards]] = {}
    for guards in guards_in(case.events.messages):
        rank = guards.message.rank if guards.message.rank is not None else case.source.rank
        by_rank.setdefault(rank, []).append(guards)
    for rank, found in by_rank.items():
        total = sum(guards.tree.n_guards for guards in found)
        title = f"{several(len(found), 'compile')} {'checks' if len(found) == 1 else 'check'} {several(total, 'guard')}"
        yield Finding(
            rule="AL511",
            kind="guards_tree",
            role="note",
            severity="note",
            confidence=Confidence.PROVEN,
            title=f"{title} before the code runs",
            facts={
                "n_guard_trees": len(found),
                "n_guards": total,
                "guard_trees": [_facts(guards) for guards in found[:_KEPT]],
            },
            rank=rank,
            log=case.source.name,
            chain=tuple(_link(guards) for guards in found[:_SHOWN]),
            verdicts=(Verdict("AL511", title, Confidence.PROVEN),),
        )


def _kinds(guards: LoggedGuards) -> Counter[str]:
    return Counter(line.kind or "guard" for line in guards.tree.lines if line.is_leaf)


def _facts(guards: LoggedGuards) -> dict[str, Any]:
    kinds = sorted(_kinds(guards).items())
    return {
        "compile_id": guards.message.compile_id,
        "n_guards": guards.tree.n_guards,
        "n_managers": guards.tree.n_managers,
        "latency_us": guards.tree.latency_us,
        "guard_kinds": [{"type": kind, "n_guards": count} for kind, count in kinds],
    }


def _link(guards: LoggedGuards) -> Link:
    kinds = _kinds(guards).most_common()
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds[:_KINDS])
    more = ", ..." if len(kinds) > _KINDS else ""
    who = f"compile {guards.message.compile_id}: " if guards.message.compile_id else ""
    tree = guards.tree
    time = f" in {tree.latency_us} us" if tree.latency_us is not None else ""
    text = f"{who}{several(tree.n_guards, 'guard')}{time}: {shown}{more}"
    return Link("guards", text, guards.message.span.source.place(guards.lines[0]))


RULE = Rule("AL511", "guards", __doc__ or "")
