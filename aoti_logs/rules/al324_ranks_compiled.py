"""The ranks of a run did not compile the same.

## What it says
Which compiles only some ranks have, and which compile id stands for one function on one rank and for another function
elsewhere. Where a rank compiled a function again, why; where a rank's trace ends before the others begin that compile, that
too.

## Why it matters
Ranks of one program mostly compile the same. A rank that compiles once more comes minutes later to the next collective,
which the others wait for (AL320), and its code may call other collectives (AL325). It is meant where the ranks run different
parts of a model (pipeline stages), so this is a note, and a warning only beside a collective that failed.

## Example
Compile `1/1` on rank 1 only: size 0 of `x` was 4, then 5. A last batch of another length does that.

## Evidence it needs
The traces of several ranks (TORCH_TRACE, or a report of tlparse) in one folder, written at the same time. Frames are
numbered in the order in which they are compiled, so one compile more on one rank can shift all ids after it.

## What to do
Give all ranks the same sizes (`drop_last=True`, padding), or `mark_dynamic` the one that varies. With
`torch._dynamo.config.enable_compiler_collectives` (torch 2.5 and later) the ranks tell each other which sizes vary; it needs
all of them to compile at the same time, and hangs where one does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.rank_views import alike, compile_words, function_of, function_words, ranks_words
from aoti_logs.rules.recompile_words import advice, reasons_of, what_moves
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.parse.traces.outcomes import Outcome
    from aoti_logs.parse.traces.rank_view import Key, RankView

_SHOWN = 8
_MOST = 50


def compiled_differently(views: Sequence[RankView]) -> list[Finding]:
    """Return one finding where the ranks' compiles are not the same."""
    order = list(dict.fromkeys(key for view in views for key in view.compiles))
    links: list[Link] = []
    facts: list[dict[str, Any]] = []
    reasons: list[RecompileReason] = []
    for key in order:
        having = {v.rank: v.compiles[key] for v in views if key in v.compiles}
        if len(having) < len(views):
            own = next(iter(having.values()))
            reason = _reason(own)
            reasons += [reason] if reason is not None else []
            links.append(_lacking(views, key, having, reason))
            facts.append(_facts(key, having, views, reason))
        elif len(groups := alike({r: function_of(o) for r, o in having.items()})) > 1 and None not in groups:
            links.append(_shifted(key, groups, having))
            facts.append({"compile_id": key[0], "functions": _functions(groups)})
    if not links:
        return []
    title = f"the ranks did not compile the same: {_words(facts[0])}"
    title += f"; and {several(len(facts) - 1, 'more difference')}" if len(facts) > 1 else ""
    more = [Link("ranks", f"and {len(links) - _SHOWN} more", None)] if len(links) > _SHOWN else []
    whole = all(v.whole for v in views)
    confidence = Confidence.PROVEN if whole else Confidence.LIKELY
    verdict = Verdict("AL324", title, confidence, fixes=advice(reasons[:4]))
    return [
        Finding(
            rule="AL324",
            kind="ranks_compiled_differently",
            role="note",
            severity="note",
            confidence=confidence,
            title=title,
            facts={
                "ranks": [v.rank for v in views],
                "differences": facts[:_MOST],
                "n_differences": len(facts),
            },
            log=views[0].trace.source.name,
            chain=(*links[:_SHOWN], *more),
            verdicts=(verdict,),
            notes=("ranks that run different parts of a model are meant to differ",),
            doubt=None
            if whole
            else "a trace is damaged, or ends within a compile: what it lacks may be lost",
        )
    ]


def _lacking(
    views: Sequence[RankView], key: Key, having: dict[int, Outcome], reason: RecompileReason | None
) -> Link:
    first = next(iter(having.values()))
    details = [f"because {what_moves(reason)} changed"] if reason is not None and reason.what else []
    begun = min((o.start.time for o in having.values() if o.start is not None), default="")
    over = [v.rank for v in views if v.rank not in having and v.times[1] < begun]
    if over:
        details.append(f"the trace of {ranks_words(over)} ends before that compile begins")
    text = f"compile {compile_words(key)} of {function_words(first)}: {ranks_words(having)} only"
    return Link("ranks", text, first.start.place if first.start else None, details=tuple(details))


def _shifted(key: Key, groups: dict[Any, list[int]], having: dict[int, Outcome]) -> Link:
    parts = [f"{function_words(having[ranks[0]])} on {ranks_words(ranks)}" for ranks in groups.values()]
    start = having[list(groups.values())[-1][0]].start
    text = f"compile {compile_words(key)} is of {', of '.join(parts[:4])}"
    return Link("ranks", text, start.place if start else None)


def _reason(outcome: Outcome) -> RecompileReason | None:
    records = outcome.of("recompile_reasons")
    found = reasons_of(records[-1]) if records else []
    return found[0][0] if found else None


def _facts(
    key: Key, having: dict[int, Outcome], views: Sequence[RankView], reason: RecompileReason | None
) -> dict[str, Any]:
    function = function_of(next(iter(having.values())))
    return {
        "compile_id": key[0],
        "function": function[0] if function else None,
        "ranks": list(having),
        "not_on": [v.rank for v in views if v.rank not in having],
        "reason": reason.text if reason is not None else None,
    }


def _functions(groups: dict[Any, list[int]]) -> list[dict[str, Any]]:
    return [
        {"function": name, "file": file, "line": line, "ranks": ranks}
        for (name, file, line), ranks in groups.items()
    ]


def _words(fact: dict[str, Any]) -> str:
    if "functions" in fact:
        return f"{fact['compile_id']} is " + ", ".join(_each(fact["functions"]))
    name = f" of `{fact['function']}`" if fact["function"] else ""
    return f"{fact['compile_id']}{name} is on {ranks_words(fact['ranks'])} only"


def _each(functions: list[dict[str, Any]]) -> Iterator[str]:
    for own in functions[:4]:
        yield f"`{own['function']}` on {ranks_words(own['ranks'])}"


RULE = Rule("AL324", "ranks-compiled-differently", __doc__ or "")
