"""Recompiles of a trace as notes, one a function (AL501)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.recompile_words import advice, reason_facts, reason_text, reasons_of, what_moves
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from aoti_logs.parse.trace_outcomes import Outcome, Outcomes
    from aoti_logs.sources.source import Place

_SHOWN = 8
_NAMED = 3


def recompiles(found: Outcomes, rank: int | None) -> list[Finding]:
    """Return a note for each function that was compiled again."""
    groups: dict[tuple[str, str | None, int | None], list[Outcome]] = {}
    frames: dict[str, tuple[str | None, int | None]] = {}
    for outcome in found.compiles:
        code = (outcome.compile_id or "").rpartition("/")[0]
        if outcome.frame is not None:
            frames[code] = (outcome.frame.file, outcome.frame.line)
        if outcome.of("recompile_reasons"):
            groups.setdefault((code, *frames.get(code, (None, None))), []).append(outcome)
    total = sum(len(group) for group in groups.values())
    return [_finding(group, found, rank, total) for group in groups.values()]


def _finding(group: list[Outcome], found: Outcomes, rank: int | None, total: int) -> Finding:
    frame = next((o.frame for o in group if o.frame is not None), None)
    if frame is None:
        code = (group[0].compile_id or "").rpartition("/")[0]
        same = (o.frame for o in found.compiles if (o.compile_id or "").rpartition("/")[0] == code)
        frame = next((f for f in same if f is not None), None)
    name = f"`{frame.name}`" if frame is not None and frame.name else f"function {group[0].compile_id}"
    told = [(outcome, reasons_of(outcome.of("recompile_reasons")[-1])) for outcome in group]
    texts = [text for _, reasons in told for text, _ in reasons]
    moves = _moves(told)
    shown = ", ".join(moves[:_NAMED]) + (" and more" if len(moves) > _NAMED else "")
    title = (
        f"{name} was compiled again {'once' if len(group) == 1 else f'{len(group)} times'}: {shown} changed"
    )
    first = group[0].of("recompile_reasons")[0]
    links = [
        Link(
            "recompile",
            f"compile {outcome.compile_id}: {reason_text(reasons[0][0])}",
            reasons[0][1],
            details=(f"and {several(len(reasons) - 1, 'older compile')} did not fit either",)
            if len(reasons) > 1
            else (),
        )
        for outcome, reasons in told[:_SHOWN]
        if reasons
    ]
    if len(told) > _SHOWN:
        links.append(Link("recompile", f"and {len(told) - _SHOWN} more", None))
    return Finding(
        rule="AL501",
        kind="recompile",
        role="note",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "function": frame.name if frame is not None else None,
            "file": frame.file if frame is not None else None,
            "line": frame.line if frame is not None else None,
            "n_events": len(group),
            "n_events_in_trace": total,
            "events": [_event(outcome, reasons) for outcome, reasons in told],
            "changed": moves,
        },
        rank=rank,
        log=first.index.source.name,
        chain=tuple(links),
        verdicts=(Verdict("AL501", title, Confidence.PROVEN, fixes=advice(texts)),),
    )


def _event(outcome: Outcome, reasons: list[tuple[str, Place]]) -> dict[str, Any]:
    return {
        "compile_id": outcome.compile_id,
        "n_reasons": len(reasons),
        "reasons": [reason_facts(text) for text, _ in reasons],
    }


def _moves(told: list[tuple[Outcome, list[tuple[str, Place]]]]) -> list[str]:
    """Name what changed, what changed most often first; against the newest compile of each time."""
    counts: dict[str, int] = {}
    for _, reasons in told:
        for text, _ in reasons[:1]:
            counts[what_moves(text)] = counts.get(what_moves(text), 0) + 1
    return sorted(counts, key=lambda what: -counts[what])
