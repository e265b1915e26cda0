"""The ranks call collectives in another order.

## What it says
Which compile of which function calls other collectives, or the same ones in another order, on some ranks; at which position
they part. Where it was recorded in which order the graphs ran, a difference there is told as well.

## Why it matters
A collective ends when all ranks of its group have called it. A rank that calls another one first leaves both waiting until
the timeout (AL320, AL321), or, where the sizes happen to fit, exchanges the wrong data. Waiting for one's own collective
(`wait_tensor`) is no matter between ranks: where only that moved, nothing is said.

## Example
Compile `0/0`: rank 0 calls `all_reduce_`, then `all_gather_into_tensor`; rank 1 the other way round, since a branch on the
rank is traced into the graph.

## Evidence it needs
The traces of several ranks, written at the same time: `inductor_collective_schedule` (torch 2.9 and later), else the calls
in the generated Python (`inductor_output_code`), which a compile from a cache has, too. Eager collectives and those of
AOTInductor's C++ are in no trace. Groups are not compared: collectives of two groups may be called in any order by ranks that
share only one of them, and then this is no fault.

## What to do
Take branches on the rank out of the compiled function. `TORCH_DISTRIBUTED_DEBUG=DETAIL` compares what the ranks call before it
runs, in compiled code as well, and names tensors of two shapes; ranks that called different collectives were only told by
Gloo that a barrier failed (torch 2.13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.rank_views import alike, compile_words, function_of, function_words, ranks_words, shared
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.traces.rank_view import Key, RankView

_SHOWN = 4
_MOST = 20
_NOTE = "groups of ranks are not compared: calls of two groups may stand in any order where ranks share one group only"


def other_order(views: Sequence[RankView]) -> list[Finding]:
    """Return a finding for the compiles whose collectives differ, and one for the order of graphs."""
    found = [(key, groups) for key in shared(views) if len(groups := alike(_schedules(views, key))) > 1]
    return [*([_finding(views, found)] if found else []), *_of_runs(views)]


def _schedules(views: Sequence[RankView], key: Key) -> dict[int, tuple[str, ...]]:
    """Return the collectives of each rank of which they are known; one without any only where others have some.

    A backward is compiled when it first runs: only the graphs that all of these ranks have compiled are compared.
    """
    graphs = {v.rank: v.schedules[key].graphs for v in views if key in v.schedules}
    common = min(map(len, graphs.values()), default=0)
    known = {rank: tuple(name for graph in own[:common] for name in graph) for rank, own in graphs.items()}
    for view in views:
        # Torch writes no schedule where there is no collective: the code then tells that there is none.
        if any(known.values()) and view.rank not in known and key in view.compiles:
            return {}
    return known


def _finding(views: Sequence[RankView], found: list[tuple[Key, dict[tuple[str, ...], list[int]]]]) -> Finding:
    key, groups = found[0]
    outcome = next(v.compiles[key] for v in views if key in v.compiles)
    at, parts = _parting(groups)
    same = len({tuple(sorted(names)) for names in groups}) == 1
    what = "call collectives in another order" if same else "do not call the same collectives"
    title = f"the ranks {what} in compile {compile_words(key)} of {function_words(outcome)}: {parts}"
    title += f"; and in {several(len(found) - 1, 'more compile')}" if len(found) > 1 else ""
    links = [link for key, groups in found[:_SHOWN] for link in _links(views, key, groups)]
    function = function_of(outcome)
    whole = all(v.whole for v in views)
    confidence = Confidence.PROVEN if whole else Confidence.LIKELY
    verdict = Verdict(
        "AL325",
        title,
        confidence,
        (
            "a collective ends when all ranks of its group have called it: ranks that call others wait for each other",
        ),
        fixes=("if a branch on the rank or on its data decides it, take that out of the compiled function",),
    )
    return Finding(
        rule="AL325",
        kind="collective_order_differs",
        role="note",
        severity="warning",
        confidence=confidence,
        title=title,
        facts={
            "ranks": [v.rank for v in views],
            "compile_id": key[0],
            "function": function[0] if function else None,
            "position": at,
            "orders": _orders(groups),
            "compile_ids": [k[0] for k, _ in found[:_MOST]],
        },
        log=views[0].trace.source.name,
        chain=tuple(links),
        verdicts=(verdict,),
        notes=(_NOTE,),
        doubt=None if whole else "a trace is damaged, or ends within a compile: what it lacks may be lost",
    )


def _parting(groups: dict[tuple[str, ...], list[int]]) -> tuple[int, str]:
    """Return the first position at which two orders differ, and what each calls there, in words."""
    first, other = list(groups)[:2]
    at = next(
        (n for n, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other))
    )
    words = [
        f"{f'`{names[at]}`' if at < len(names) else 'none'} on {ranks_words(ranks)}"
        for names, ranks in groups.items()
    ]
    return at, f"number {at + 1} is " + ", ".join(words[:4])


def _links(views: Sequence[RankView], key: Key, groups: dict[tuple[str, ...], list[int]]) -> list[Link]:
    links = []
    for names, ranks in list(groups.items())[:_SHOWN]:
        view = next(v for v in views if v.rank == ranks[0])
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        text = f"compile {compile_words(key)} on {ranks_words(ranks)}: {shown or 'no collective'}"
        records = view.schedules[key].records
        links.append(Link("order", text, records[0].place if records else None))
    return links


def _orders(groups: dict[tuple[str, ...], list[int]]) -> list[dict[str, Any]]:
    return [{"ranks": ranks, "collectives": list(names)} for names, ranks in list(groups.items())[:_MOST]]


def _of_runs(views: Sequence[RankView]) -> list[Finding]:
    """Return a finding where graphs that call collectives ran in another order, as far as all of them are recorded."""
    ran = {v.rank: tuple(n for n in v.ran[0] if _calls(v, n)) for v in views if v.ran[0]}
    groups = alike(ran)
    if len(groups) < 2:
        return []
    first, other = list(groups)[:2]
    at = next((n for n, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), None)
    if at is None:  # one trace ends earlier, which is no other order
        return []
    words = [
        f"{names[at] if at < len(names) else 'none'} on {ranks_words(ranks)}"
        for names, ranks in groups.items()
    ]
    title = (
        f"the ranks ran graphs with collectives in another order: number {at + 1} is {', '.join(words[:4])}"
    )
    links = []
    for names, ranks in list(groups.items())[:_SHOWN]:
        record = next(v for v in views if v.rank == ranks[0]).ran[1]
        text = f"{ranks_words(ranks)}: {', '.join(names[:12])}" + (", ..." if len(names) > 12 else "")
        links.append(Link("order", text, record.place if record is not None else None))
    return [
        Finding(
            rule="AL325",
            kind="graph_order_differs",
            role="note",
            severity="warning",
            confidence=Confidence.PROVEN,
            title=title,
            facts={
                "ranks": list(ran),
                "position": at,
                "orders": [{"ranks": r, "ran": list(n)} for n, r in groups.items()][:_MOST],
            },
            log=views[0].trace.source.name,
            chain=tuple(links),
            verdicts=(Verdict("AL325", title, Confidence.PROVEN),),
            notes=(_NOTE,),
        )
    ]


def _calls(view: RankView, compile_id: str) -> bool:
    """Tell whether a graph calls collectives, or may: nothing is known of its code."""
    known = [s.names for (own, _), s in view.schedules.items() if own == compile_id]
    return not known or any(known)


RULE = Rule("AL325", "collective-order-differs", __doc__ or "")
