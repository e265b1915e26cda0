"""From an error that nothing before it explains to a finding: a rule that knows it, else AL001."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.errors.index_error import refused_index
from aoti_logs.parse.errors.message import is_hint
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.aftermath import aftermath
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.error_rules import tell_error
from aoti_logs.rules.first_cause import raised_from
from aoti_logs.rules.plain_kind import kind_of
from aoti_logs.rules.relation import Relation, is_secondary, relation
from aoti_logs.rules.sender_facts import sender_facts
from aoti_logs.rules.stack_facts import stack_facts
from aoti_logs.rules.user_frames import frame_link, user_frame

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.rules.error_case import ErrorCase

_BESIDE = "whether it follows from the failure that leads here is not known; no rule knows its cause yet"
_BEHIND = "what stands before it was handled, is cut off, or is the program's own words; no rule knows its cause yet"
_FIRST = "this is the first error in the log that nothing before it explains; no rule knows its cause yet"

_LONGEST = 300  # characters of a title; the error is quoted whole below it


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
        title = _title(error)
        kind = "peer_lost" if is_secondary(error) else kind_of(error)
        why = because or (_why(case, explained),)
        known = aftermath(error)
        why = (*why, known.why) if known is not None and known.sure else why
        told = ErrorTold("AL001", kind, title, Confidence.UNKNOWN, why, missing=_missing(error))
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
        chain=tuple(dict.fromkeys((*_quoted(error, reported=told.only_reported), *told.links))),
        missing=told.missing,
        experiments=told.experiments,
        verdicts=(verdict,),
        consequences=_later(case, {link.text for link in told.links}),
        notes=told.notes,
        doubt=told.doubt,
    )


def _missing(error: ErrorText) -> tuple[Missing, ...]:
    """Ask for the frames of an exception that was printed without any."""
    if error.exception_type is None or error.python_frames or error.stack is not None:
        return ()
    return (Missing("where it was raised", "stderr of the run, with the whole traceback"),)


def _why(case: ErrorCase, explained: bool) -> str:
    if explained:
        return _BESIDE
    before = (e for e in case.group if relation(case.error, e) is Relation.BEFORE and not is_secondary(e))
    if any(before):
        return _BEHIND
    rank = case.error.rank
    return _FIRST if rank is None else _FIRST.replace("in the log", f"of rank {rank} in the log", 1)


def _title(error: ErrorText) -> str:
    """Return what an error says in one line, with the line below where the first one says nothing or only announces it."""
    said = _text(error)
    if not error.message.strip() or said.endswith(":"):
        rows = (row.strip() for row in error.text.split("\n")[1:])
        below = next((row for row in rows if row), "")
        below = "" if is_hint(below) else below
        between = " " if said.endswith(":") else ": "
        said = f"{said}{between if said and below else ''}{below}"
    if not said and error.python_frames:
        return "an exception was raised; its type and message were not printed"
    raised = error.raised_from
    if not said and raised is not None:
        file = raised.file.replace("\\", "/").rpartition("/")[2]
        said = f"an error raised in {raised.function} ({file}:{raised.line}), whose text is not in this log"
    said = said or "an error whose text is not in this log"
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST].rpartition(' ')[0] or said[:_LONGEST]} ..."


def _text(error: ErrorText) -> str:
    return ": ".join(part for part in (error.exception_type, error.message.strip()) if part)


def _quoted(error: ErrorText, *, reported: bool) -> tuple[Link, ...]:
    text = _text(error) or error.span.text.split("\n", 1)[0].strip() or _title(error)
    links = [Link("error", text, error.span.place)]
    if error.python_frames:
        own, last = user_frame(error.python_frames), error.python_frames[-1]
        if own is not None and own is not last:
            links.append(frame_link("called", own))
        links.append(frame_link("reported" if reported else "python", last))
    return tuple(links)


def _later(case: ErrorCase, quoted: set[str]) -> tuple[Link, ...]:
    """Return the other errors of the run and rank, equal ones once, with what is known of each."""
    later: dict[tuple[str, str], list[ErrorText]] = {}
    raised = {id(e) for e in raised_from(case.error, case.group)}
    for error in case.group:
        if error is case.error or error.message in quoted:
            continue
        how = relation(case.error, error)
        if id(error) in raised and how is Relation.AFTER:
            how = Relation.FOLLOWS
        if how is not Relation.AGAIN or error.message != case.error.message:
            later.setdefault((str(how), _said(error)), []).append(error)
    links = []
    for (step, text), errors in later.items():
        times = (f"{len(errors)} times",) if len(errors) > 1 else ()
        links.append(Link(step, text, errors[0].span.place, details=times))
    return tuple(links)


def _said(error: ErrorText) -> str:
    if error.form is ErrorForm.PYTHON and error.exception_type:
        return _text(error)
    if error.message or not error.exception_type:
        return error.message or "a traceback that lost its exception"
    if error.form is ErrorForm.TERMINATE:
        return f"terminate called after throwing an instance of '{error.exception_type}'"
    return error.exception_type


def error_facts(error: ErrorText, events: LogEvents) -> dict[str, Any]:
    """Return what every error has, as plain values."""
    facts: dict[str, Any] = {
        "message": error.message,
        "exception_type": error.exception_type,
        **stack_facts(events.stacks),
    }
    facts |= sender_facts(error.sender)
    refused = refused_index(error.message)
    if refused is not None:
        facts |= {"index_value": refused.index, "size_value": refused.size, "dim": refused.dimension}
    if error.raised_from is not None:
        raised = error.raised_from
        facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
    if error.python_frames:
        last = error.python_frames[-1]
        facts["last_frame"] = {"file": last.file, "line": last.line, "function": last.function}
        facts["n_python_frames"] = len(error.python_frames)
        own = user_frame(error.python_frames)
        if own is not None:
            facts["user_frame"] = {"file": own.file, "line": own.line, "function": own.function}
    if any(e.form == "terminate" for e in events.errors):
        facts["terminate"] = True
    return facts
