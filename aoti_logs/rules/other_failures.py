"""Failures that no rule explains yet: said plainly, with the first error quoted, and nothing more."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.errors.elastic import WorkerFailures
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.al109_assert_text_lost import lost_assertion
from aoti_logs.rules.error_case import ErrorCase
from aoti_logs.rules.error_finding import error_finding
from aoti_logs.rules.first_cause import cause_of, ended_by
from aoti_logs.rules.log_failures import chain_findings, failure_chains
from aoti_logs.rules.relation import is_secondary, relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import ErrorText, LogEvents, PythonFrame
    from aoti_logs.rules.log_failures import Chain
    from aoti_logs.sources.source import Source

_BEHIND = (
    "a compile failed before it, from which it was not raised: the program went on after that, or this is "
    "another process; no rule knows its cause yet"
)
_HANDLED = "a handler of the program printed it, and the program went on"
_ENDED = (
    "no handler printed it: the program ended by it; an error before it was handled, and whether that led to this one "
    "is not known; no rule knows its cause yet"
)
_CALLS = {"AL213", "AL214"}
_VICTIM = "the device had lost its context to the failed assert: what the call says is not why"
_HANDS_ON = re.compile(
    r"ChildFailedError|Process\w*Exception|RayTaskError|RemoteError|EngineDead|Engine ?[Cc]ore|EOFError|"
    r"BrokenPipe|ConnectionReset|(?i:root cause|see above|\bdied\b|terminated|exit ?code|exited|worker)"
)
"""What a process says whose child failed."""
_EXPORT = re.compile(r"/torch/_?export/")
_TELLING = 12  # characters of a message of which one is no other
_SHORT = 2000


def other_findings(
    errors: Sequence[ErrorText],
    events: LogEvents,
    source: Source,
    evidence: Evidence,
    *,
    asserted: set[int | None],
) -> list[Finding]:
    """Return the failed compiles of each rank, and one finding for its first other error, the later ones under it.

    Args:
        errors: the errors of one run that no failed assertion explains.
        events: everything that the run printed.
        source: the log.
        evidence: code, graphs and names at hand.
        asserted: the ranks of which an assertion failed in this run.
    """
    serious = [e for e in errors if e.form is not ErrorForm.WARNING]
    by_rank: dict[int | None, list[ErrorText]] = {}
    for error in serious:
        by_rank.setdefault(error.rank, []).append(error)
    launcher = _heard_of(by_rank)
    found: list[Finding] = []
    for rank, group in [*by_rank.items(), *([(None, launcher)] if launcher else [])]:
        explained = _is_explained(rank, asserted, group)
        chains, rest = failure_chains(group)
        compiles = chain_findings(chains, source, evidence, events.messages)
        own: list[ErrorText] = []
        if compiles:
            rest, own = _after(compiles, chains, rest)
        if explained:
            compiles = [replace(f, role="note", severity="note") for f in compiles]
        found += compiles
        if rest:
            lost = lost_assertion(rest, events, source, evidence)
            if lost is not None:
                found += [lost, *_first_victim(rest, events, source, evidence)]
            else:
                found += _findings(rest, events, source, evidence, explained=explained or bool(compiles))
        if own:
            found.append(_finding(own, events, source, evidence, explained=explained, because=(_BEHIND,)))
    # Of errors that tell no rank nobody knows whose they are; the launcher names one.
    named = {e.detail.first.rank for e in launcher if isinstance(e.detail, WorkerFailures) and e.detail.first}
    return sorted(found, key=lambda f: f.rank not in named) if named else found


def _heard_of(by_rank: dict[int | None, list[ErrorText]]) -> list[ErrorText]:
    """Take a launcher's table out of the errors of unknown rank where the worker that it names has errors of its own."""
    unknown = by_rank.get(None, [])
    heard = []
    for error in unknown:
        lead = error.detail.first if isinstance(error.detail, WorkerFailures) else None
        if lead is not None and lead.rank in by_rank:
            heard.append(error)
    if len(heard) == len(unknown):
        return []
    by_rank[None] = [e for e in unknown if not any(e is h for h in heard)]
    return heard


def _is_explained(rank: int | None, asserted: set[int | None], group: Sequence[ErrorText]) -> bool:
    """Tell whether a failed assertion is the cause of this rank's run; what another rank heard of is said under it."""
    if not asserted or rank in asserted or None in asserted:
        return bool(asserted)
    return rank is None and not is_secondary(cause_of(group))


def _after(
    compiles: list[Finding], chains: list[Chain], rest: list[ErrorText]
) -> tuple[list[ErrorText], list[ErrorText]]:
    """Put what hands on the first failed compile under it; return the errors before it, and those of their own.

    A traceback that was not raised from the failed compile shows that the program went on after it (or that
    another process or thread speaks), so it does not follow from it.
    """
    start, message = chains[0].told.span.start, chains[0].failure.message
    behind = [e for e in rest if e.span.start > start]
    own = [e for e in behind if _stands_alone(e, message)]
    later = {e.message: e for e in reversed(behind) if e not in own and e.message}
    links = tuple(Link(str(relation(chains[0].told, e)), m, e.span.place) for m, e in reversed(later.items()))
    compiles[0] = replace(compiles[0], consequences=(*compiles[0].consequences, *links))
    return [e for e in rest if e.span.start <= start], own


def _export_call(error: ErrorText) -> PythonFrame | None:
    """Return the frame that calls `torch.export`, where the traceback goes through it."""
    last: PythonFrame | None = None
    for frame in error.python_frames:
        if _EXPORT.search(frame.file.replace("\\", "/")):
            return last
        last = frame
    return None


def _stands_alone(error: ErrorText, message: str) -> bool:
    """Tell whether an error behind a failed compile is one of its own, and nothing that hands it on."""
    if error.form is not ErrorForm.PYTHON or not error.python_frames:
        return False
    if len(message) >= _TELLING and message in error.text:
        return False
    return _HANDS_ON.search(f"{error.exception_type}: {error.text[:_SHORT]}") is None


def _findings(
    group: Sequence[ErrorText], events: LogEvents, source: Source, evidence: Evidence, *, explained: bool
) -> list[Finding]:
    """Return the finding of the first error; of one that was handled a note, behind that of what ended the program."""
    first = cause_of(group)
    ended = None if explained else ended_by(first, group)
    if ended is None:
        return [_finding(group, events, source, evidence, explained=explained)]
    at = next(n for n, e in enumerate(group) if e is ended)
    handled = _finding(group[:at], events, source, evidence, explained=True, because=(_HANDLED,))
    return [
        _finding(group[at:], events, source, evidence, explained=False, because=(_ENDED,)),
        replace(handled, severity="warning", doubt=_HANDLED),
    ]


def _first_victim(
    group: Sequence[ErrorText], events: LogEvents, source: Source, evidence: Evidence
) -> list[Finding]:
    """Return what the call of a model said that met the lost context first, as a note: what a person searches for."""
    case = ErrorCase(cause_of(group), tuple(group), events, source, evidence)
    told = error_finding(case, explained=True)
    if told.rule not in _CALLS or told.confidence is not Confidence.UNKNOWN:
        return []
    verdict = replace(told.verdicts[0], because=(_VICTIM,), decide=())
    return [replace(told, verdicts=(verdict,), experiments=(), missing=(), consequences=())]


def _finding(
    group: Sequence[ErrorText],
    events: LogEvents,
    source: Source,
    evidence: Evidence,
    *,
    explained: bool,
    because: tuple[str, ...] = (),
) -> Finding:
    cause = cause_of(group)
    finding = error_finding(
        ErrorCase(cause, tuple(group), events, source, evidence), explained=explained, because=because
    )
    call = _export_call(cause)
    if call is None:
        return finding
    export = {"file": call.file, "line": call.line, "function": call.function}
    return replace(finding, facts={**finding.facts, "export_call": export})
