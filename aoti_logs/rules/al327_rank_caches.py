"""Caches answered some ranks, and others had to compile.

## What it says
For which compile the cache of FX graphs, or of AOTAutograd, had the code on some ranks and not on others, and how long each
compile took.

## Why it matters
The ranks that compile come later to the next collective; the others wait, up to the timeout (AL320). It is also why two runs
of one program start at different speeds.

## Example
Compile `0/0` of `loss`: a hit on rank 0 (5 s), a miss on rank 1 (16 s).

## Evidence it needs
The traces of several ranks, written at the same time, with what their caches answered (torch 2.6 and later; nothing is
recorded where caches are off).

## What to do
Nothing, where all ranks end. Else one cache folder for all ranks of a host (`TORCHINDUCTOR_CACHE_DIR`), or a first run whose
only purpose is to fill it, and a timeout that lets one compile end.
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

_CACHES = {"fx_graph": "cache of FX graphs", "aot_autograd": "cache of AOTAutograd"}
_TELLING = {"hit", "miss", "bypass"}
_SHOWN = 4
_MOST = 20


def other_answers(views: Sequence[RankView]) -> list[Finding]:
    """Return one finding where a cache answered a compile of some ranks only."""
    found: list[tuple[Key, str, dict[str, list[int]]]] = []
    for key in shared(views):
        for cache in _CACHES:
            answers = {v.rank: v.caches[key][cache].status for v in views if cache in v.caches.get(key, {})}
            groups = alike({rank: status for rank, status in answers.items() if status in _TELLING})
            if "hit" in groups and len(groups) > 1:
                found.append((key, cache, groups))
                break
    if not found:
        return []
    key, cache, groups = found[0]
    outcome = next(v.compiles[key] for v in views if key in v.compiles)
    title = f"the {_CACHES[cache]} answered some ranks only in compile {compile_words(key)} of {function_words(outcome)}: "
    title += ", ".join(_words(views, key, status, ranks) for status, ranks in groups.items())
    title += f"; and in {several(len(found) - 1, 'more compile')}" if len(found) > 1 else ""
    links = [
        Link(
            "cache",
            f"compile {compile_words(k)}, {c}: {_words(views, k, status, ranks)}",
            _view(views, ranks).caches[k][c].record.place,
        )
        for k, c, told in found[:_SHOWN]
        for status, ranks in told.items()
    ]
    function = function_of(outcome)
    return [
        Finding(
            rule="AL327",
            kind="rank_caches_differ",
            role="note",
            severity="note",
            confidence=Confidence.PROVEN,
            title=title,
            facts={
                "ranks": [v.rank for v in views],
                "compile_id": key[0],
                "function": function[0] if function else None,
                "answers": [_facts(views, *told) for told in found[:_MOST]],
            },
            log=views[0].trace.source.name,
            chain=tuple(links),
            verdicts=(Verdict("AL327", title, Confidence.PROVEN),),
        )
    ]


def _view(views: Sequence[RankView], ranks: list[int]) -> RankView:
    return next(v for v in views if v.rank == ranks[0])


def _words(views: Sequence[RankView], key: Key, status: str, ranks: list[int]) -> str:
    times = [s for v in views if v.rank in ranks and (s := v.seconds(key)) is not None]
    took = f" ({max(times):.1f} s{' at most' if len(times) > 1 else ''})" if times else ""
    return f"{status} on {ranks_words(ranks)}{took}"


def _facts(views: Sequence[RankView], key: Key, cache: str, groups: dict[str, list[int]]) -> dict[str, Any]:
    seconds = {v.rank: v.seconds(key) for v in views}
    told = [
        {"status": status, "ranks": ranks, "seconds": [seconds[r] for r in ranks]}
        for status, ranks in groups.items()
    ]
    return {"compile_id": key[0], "cache": cache, "answers": told}


RULE = Rule("AL327", "rank-caches-differ", __doc__ or "")
