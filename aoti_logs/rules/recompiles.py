"""Recompiles of a trace as notes, one a function (AL501)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.recompile_words import (
    advice,
    reason_facts,
    reason_text,
    reasons_of,
    values_seen,
    what_moves,
)
from aoti_logs.rules.trace_words import frame_words, several

if TYPE_CHECKING:
    from aoti_logs.parse.recompile_reason import RecompileReason
    from aoti_logs.parse.trace_outcomes import Outcome, Outcomes
    from aoti_logs.records.record import StackFrame
    from aoti_logs.sources.source import Place

    Told = tuple[RecompileReason, Place]

_SHOWN = 8
_NAMED = 3


@dataclass
class _Change:
    """What changed: the reasons that say so, newest last, and the cached compiles that did not fit for it."""

    what: str
    reasons: list[RecompileReason] = field(default_factory=list)

    @property
    def values(self) -> list[str]:
        return values_seen(self.reasons[::-1])

    @property
    def words(self) -> str:
        values = self.values
        shown = ", ".join(values[:4]) + (", ..." if len(values) > 4 else "")
        return f"{self.what} ({shown})" if values else self.what

    def facts(self) -> dict[str, Any]:
        cached = [r.cached_compile_id for r in self.reasons if r.cached_compile_id]
        return {"what": self.what, "values": self.values, "compile_ids": list(dict.fromkeys(cached))}


def recompiles(found: Outcomes, rank: int | None) -> list[Finding]:
    """Return a note for each function that was compiled again."""
    groups: dict[tuple[str, str | None, int | None], list[Outcome]] = {}
    frames: dict[str, StackFrame] = {}
    for outcome in found.compiles:
        code = (outcome.compile_id or "").rpartition("/")[0]
        if outcome.frame is not None:
            frames[code] = outcome.frame
        if outcome.of("recompile_reasons"):
            frame = frames.get(code)
            key = (code, frame.file if frame else None, frame.line if frame else None)
            groups.setdefault(key, []).append(outcome)
    total = sum(len(group) for group in groups.values())
    return [_finding(group, frames.get(code), rank, total) for (code, _, _), group in groups.items()]


def _finding(group: list[Outcome], known: StackFrame | None, rank: int | None, total: int) -> Finding:
    frame = next((o.frame for o in group if o.frame is not None), known)
    name = _name(group, frame)
    told = [(outcome, reasons_of(outcome.of("recompile_reasons")[-1])) for outcome in group]
    changes = _changes(told)
    shown = ", ".join(c.words for c in changes[:_NAMED]) + (" and more" if len(changes) > _NAMED else "")
    times = "once" if len(group) == 1 else f"{len(group)} times"
    title = f"{name} was compiled again {times}; what changed: {shown or 'nothing that is recorded'}"
    first = group[0].of("recompile_reasons")[0]
    verdict = Verdict(
        "AL501", title, Confidence.PROVEN, fixes=advice([r for c in changes for r in c.reasons])
    )
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
            "changed": [c.facts() for c in changes],
        },
        rank=rank,
        log=first.index.source.name,
        chain=(*_where(group, frame), *_links(told)),
        verdicts=(verdict,),
    )


def _name(group: list[Outcome], frame: StackFrame | None) -> str:
    caller = next((o.caller for o in group if o.caller is not None), None)
    if frame is None or not frame.name:
        return f"the function of compile {group[0].compile_id}"
    if caller is None:
        return f"`{frame.name}`"
    file = (caller.file or "").replace("\\", "/").rpartition("/")[2]
    return f"`{frame.name}` of torch, called at {file}:{caller.line},"


def _where(group: list[Outcome], frame: StackFrame | None) -> tuple[Link, ...]:
    """Quote the function, and the user's call where the function is torch's own."""
    start = next((o.start for o in group if o.start is not None), None)
    if frame is None or start is None:
        return ()
    caller = next((o.caller for o in group if o.caller is not None), None)
    details = (f"called at {frame_words(caller)}",) if caller is not None else ()
    return (Link("function", f"{frame.name} ({frame.file}:{frame.line})", start.place, details=details),)


def _links(told: list[tuple[Outcome, list[Told]]]) -> tuple[Link, ...]:
    links = []
    for outcome, reasons in told[:_SHOWN]:
        if not reasons:
            continue
        reason, place = reasons[0]
        older = len(reasons) - 1
        details = (f"and {several(older, 'older compile')} did not fit either",) if older else ()
        links.append(
            Link("recompile", f"compile {outcome.compile_id}: {reason_text(reason)}", place, details=details)
        )
    if len(told) > _SHOWN:
        links.append(Link("recompile", f"and {len(told) - _SHOWN} more", None))
    return tuple(links)


def _event(outcome: Outcome, reasons: list[Told]) -> dict[str, Any]:
    return {
        "compile_id": outcome.compile_id,
        "n_reasons": len(reasons),
        "reasons": [reason_facts(reason) for reason, _ in reasons],
    }


def _changes(told: list[tuple[Outcome, list[Told]]]) -> list[_Change]:
    """Collect what changed against the newest compile of each time, the most frequent first."""
    found: dict[str, _Change] = {}
    for _, reasons in told:
        for reason, _ in reasons[:1]:
            what = what_moves(reason)
            found.setdefault(what, _Change(what)).reasons.append(reason)
    return sorted(found.values(), key=lambda c: -len(c.reasons))
