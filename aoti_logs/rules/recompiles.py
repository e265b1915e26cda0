"""Functions that were compiled again, as notes, one a function (AL501): from traces and from logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.traces.outcomes import metric
from aoti_logs.rules.recompile_words import (
    advice,
    newest_first,
    reason_facts,
    reason_text,
    reasons_of,
    static_for,
    values_seen,
    what_moves,
)
from aoti_logs.rules.trace_words import frame_words, several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.parse.traces.outcomes import Outcome, Outcomes
    from aoti_logs.records.record import StackFrame
    from aoti_logs.sources.source import Place

    Told = tuple[RecompileReason, Place]

_UNTOLD = Missing("why", "TORCH_LOGS=recompiles; the traces of torch 2.5 and later have it")
_SHOWN = 8
_NAMED = 3


@dataclass(frozen=True)
class Compiled:
    """The function that is compiled: its name, the file and line that it begins in, and where that is told.

    `caller` is the user's frame that calls it, where the function is one of torch's own.
    """

    name: str | None = None
    file: str | None = None
    line: int | None = None
    place: Place | None = None
    caller: StackFrame | None = None


@dataclass(frozen=True)
class Again:
    """One time that a function was compiled again.

    Attributes:
        compile_id: id of the new compile.
        reasons: why the earlier ones did not fit, the newest first, each with its place.
    """

    compile_id: str | None
    reasons: tuple[Told, ...]


@dataclass
class Change:
    """What changed: the reasons that say so, newest last, and the cached compiles that did not fit for it."""

    what: str
    reasons: list[RecompileReason] = field(default_factory=list)

    @property
    def values(self) -> list[str]:
        """The values that were compiled for and that came, in order."""
        return values_seen(self.reasons[::-1])

    @property
    def large(self) -> list[str]:
        """The values without 0 and 1, which torch compiles apart."""
        return [value for value in self.values if value not in {"0", "1"}]

    @property
    def words(self) -> str:
        """Name it with some of its values."""
        values = self.values
        shown = ", ".join(values[:4]) + (", ..." if len(values) > 4 else "")
        return f"{self.what} ({shown})" if values else self.what

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        cached = [r.cached_compile_id for r in self.reasons if r.cached_compile_id]
        return {
            "what": self.what,
            "kind": self.reasons[0].what,
            "n_reasons": len(self.reasons),
            "values": self.values,
            "compile_ids": list(dict.fromkeys(cached)),
        }


def recompiles(found: Outcomes, rank: int | None) -> list[Finding]:
    """Return a note for each function of a trace that was compiled again."""
    groups: dict[tuple[str, str | None, int | None], list[Outcome]] = {}
    frames: dict[str, StackFrame] = {}
    # torch 2.4 writes no reasons; the compile's number tells that it is not the first.
    untold = not any(outcome.of("recompile_reasons") for outcome in found.compiles)
    for outcome in found.compiles:
        code = (outcome.compile_id or "").rpartition("/")[0]
        if outcome.frame is not None:
            frames[code] = outcome.frame
        if outcome.of("recompile_reasons") or (untold and _again(outcome)):
            frame = frames.get(code)
            key = (code, frame.file if frame else None, frame.line if frame else None)
            groups.setdefault(key, []).append(outcome)
    total = sum(len(group) for group in groups.values())
    return [_of_trace(group, frames.get(code), rank, total) for (code, _, _), group in groups.items()]


def _of_trace(group: list[Outcome], known: StackFrame | None, rank: int | None, total: int) -> Finding:
    frame = next((o.frame for o in group if o.frame is not None), known)
    start = next((o.start for o in group if o.start is not None), None)
    caller = next((o.caller for o in group if o.caller is not None), None)
    function = Compiled(caller=caller)
    if frame is not None:
        place = start.place if start is not None else None
        function = Compiled(frame.name, frame.file, frame.line, place, caller)
    elif isinstance(name := metric(group[0].end, "co_name"), str):
        file, line = (metric(group[0].end, f"co_{n}") for n in ("filename", "firstlineno"))
        function = Compiled(name, str(file), line if isinstance(line, int) else None, caller=caller)
    told = [
        Again(outcome.compile_id, tuple(reasons_of(records[-1])) if records else ())
        for outcome in group
        if (records := outcome.of("recompile_reasons")) or outcome.start is not None
    ]
    first = group[0].first
    log = first.index.source.name if first is not None else ""
    return recompile_note(told, function, rank, log, {"n_events_in_trace": total})


def _again(outcome: Outcome) -> bool:
    """Tell whether a compile is of a function that was compiled before: ids end with how often it was."""
    number = (outcome.compile_id or "").rpartition("/")[2]
    return outcome.start is not None and number.isdecimal() and int(number[:9]) > 0


def recompile_note(
    told: Sequence[Again], function: Compiled, rank: int | None, log: str, facts: dict[str, Any]
) -> Finding:
    """Make the note of one function, from the times that it was compiled again."""
    changes = changes_of([[reason for reason, _ in again.reasons] for again in told])
    shown = ", ".join(c.words for c in changes[:_NAMED]) + (" and more" if len(changes) > _NAMED else "")
    times = _times(told)
    title = f"{_name(told, function)} was compiled again {times}; {f'what changed: {shown}' if shown else 'why is not recorded'}"
    static = [words for c in changes if (words := static_for(c.reasons[0].what, c.large)) is not None]
    fixes = advice(_of_changes(told, changes))
    verdict = Verdict("AL501", title, Confidence.PROVEN, tuple(dict.fromkeys(static)), fixes=fixes)
    return Finding(
        rule="AL501",
        kind="recompile",
        role="note",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "function": function.name,
            "file": function.file,
            "line": function.line,
            "innermost": f"{function.name} {function.file}:{function.line}" if function.name else None,
            "n_events": len(told),
            **facts,
            "events": [_event(again) for again in told],
            "changed": [c.facts() for c in changes],
        },
        rank=rank,
        log=log,
        chain=(*_where(function), *_links(told)),
        missing=() if changes else (_UNTOLD,),
        verdicts=(verdict,),
    )


def changes_of(reasons: Sequence[Sequence[RecompileReason]]) -> list[Change]:
    """Collect what changed against the newest compile of each time, the most frequent first."""
    found: dict[str, Change] = {}
    for several_reasons in reasons:
        for reason in newest_first(several_reasons)[:1]:
            what = what_moves(reason)
            found.setdefault(what, Change(what)).reasons.append(reason)
    return sorted(found.values(), key=lambda c: -len(c.reasons))


def _times(told: Sequence[Again]) -> str:
    """Say how often; where ids of compiles show that the first ones are not told, say what the newest id is."""
    numbers = [int(n) for again in told if (n := _attempt(again.compile_id)) is not None]
    times = "once" if len(told) == 1 else f"{len(told)} times"
    if not numbers or max(numbers) <= len(told):
        return times
    newest = max(told, key=lambda again: int(_attempt(again.compile_id) or 0))
    return f"{times} as far as is told here, the last time as compile {newest.compile_id}"


def _attempt(compile_id: str | None) -> str | None:
    """Return the second number of `12/3`: how many compiles of the same code came before."""
    number = (compile_id or "").rpartition("/")[2].partition("_")[0]
    return number if number.isdecimal() and len(number) < 10 else None


def _of_changes(told: Sequence[Again], changes: Sequence[Change]) -> list[RecompileReason]:
    """Return the reasons that the advice is about: older compiles that did not fit for the same, too."""
    named = {change.what for change in changes}
    older = [r for r, _ in told[-1].reasons if what_moves(r) in named] if told else []
    return [*(reason for change in changes for reason in change.reasons), *older]


def _name(told: Sequence[Again], function: Compiled) -> str:
    if not function.name:
        return f"the function of compile {told[0].compile_id}" if told[0].compile_id else "a function"
    if function.caller is None:
        return f"`{function.name}`"
    file = (function.caller.file or "").replace("\\", "/").rpartition("/")[2]
    return f"`{function.name}` of torch, called at {file}:{function.caller.line},"


def _where(function: Compiled) -> tuple[Link, ...]:
    """Quote the function, and the user's call where the function is torch's own."""
    if function.place is None:
        return ()
    details = (f"called at {frame_words(function.caller)}",) if function.caller is not None else ()
    text = f"{function.name} ({function.file}:{function.line})"
    return (Link("function", text, function.place, details=details),)


def _links(told: Sequence[Again]) -> tuple[Link, ...]:
    links = []
    for again in told[:_SHOWN]:
        if not again.reasons:
            continue
        reason, place = again.reasons[0]
        older = len(again.reasons) - 1
        details = (f"and {several(older, 'older compile')} did not fit either",) if older else ()
        text = reason_text(reason)
        text = f"compile {again.compile_id}: {text}" if again.compile_id else text
        links.append(Link("recompile", text, place, details=details))
    if len(told) > _SHOWN:
        links.append(Link("recompile", f"and {len(told) - _SHOWN} more", None))
    return tuple(links)


def _event(again: Again) -> dict[str, Any]:
    return {
        "compile_id": again.compile_id,
        "n_reasons": len(again.reasons),
        "reasons": [reason_facts(reason) for reason, _ in again.reasons],
    }
