"""From an error that nothing before it explains to a finding: a rule that knows it, else AL001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.error_rules import tell_error
from aoti_logs.rules.index_facts import stack_facts
from aoti_logs.rules.plain_kind import kind_of

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.rules.error_case import ErrorCase

_FIRST = "this is the first error in the log that nothing before it explains; no rule knows its cause yet"


def error_finding(case: ErrorCase, *, explained: bool, because: tuple[str, ...] = ()) -> Finding:
    """Return the finding of an error, what was printed after it under it.

    Args:
        case: the error.
        explained: another finding is the cause of this run; this one is a note.
        because: why no rule may know the cause; the usual words where empty.
    """
    error = case.error
    told = tell_error(case)
    if told is None:
        title = error.message if not error.exception_type else f"{error.exception_type}: {error.message}"
        told = ErrorTold("AL001", kind_of(error), title, Confidence.UNKNOWN, because or (_FIRST,))
    verdict = Verdict(told.code, told.title, told.confidence, told.because, told.decide, told.fixes)
    return Finding(
        rule=told.code,
        kind=told.kind,
        role="note" if explained else "cause",
        severity="note" if explained else "error",
        confidence=told.confidence,
        title=told.title,
        facts={**error_facts(error, case.events), **told.facts},
        rank=error.rank if error.rank is not None else case.source.rank,
        log=case.source.name,
        chain=(*_quoted(error), *told.links),
        missing=told.missing,
        experiments=told.experiments,
        verdicts=(verdict,),
        consequences=_later(case, {link.text for link in told.links}),
        notes=told.notes,
        doubt=told.doubt,
    )


def _quoted(error: ErrorText) -> tuple[Link, ...]:
    text = error.message if not error.exception_type else f"{error.exception_type}: {error.message}"
    links = [Link("error", text, error.span.place)]
    if error.python_frames:
        last = error.python_frames[-1]
        text = f"{last.file}:{last.line} in {last.function}" + (f": {last.code}" if last.code else "")
        links.append(Link("python", text, last.span.place))
    return tuple(links)


def _later(case: ErrorCase, quoted: set[str]) -> tuple[Link, ...]:
    later: dict[str, Link] = {}
    for error in case.group:
        if error is not case.error and error.message not in {case.error.message, *quoted}:
            later.setdefault(error.message, Link("follows", error.message, error.span.place))
    return tuple(later.values())


def error_facts(error: ErrorText, events: LogEvents) -> dict[str, Any]:
    """Return what every error has, as plain values."""
    facts: dict[str, Any] = {
        "message": error.message,
        "exception_type": error.exception_type,
        **stack_facts(events.stacks),
    }
    if error.raised_from is not None:
        raised = error.raised_from
        facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
    if error.python_frames:
        last = error.python_frames[-1]
        facts["last_frame"] = {"file": last.file, "line": last.line, "function": last.function}
        facts["n_python_frames"] = len(error.python_frames)
    if any(e.form == "terminate" for e in events.errors):
        facts["terminate"] = True
    return facts
