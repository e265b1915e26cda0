"""From the events of one log to its findings: causes first, each with what follows from it.

What explains assertions, errors or messages is imported where there are any.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.index.episode import Episodes
from aoti_logs.explain import Confidence, Finding
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.log_notes import LogCase, note_findings
from aoti_logs.rules.sender_facts import sender_facts
from aoti_logs.rules.silent_exit import exit_finding

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import Assertion, ErrorText, LogEvents, Note
    from aoti_logs.rules.consequences import Causes
    from aoti_logs.sources.source import Source

MOST = 50
"""So many distinct assertions of one log are explained; what is left is counted."""


def explain_log(source: Source, events: LogEvents, evidence: Evidence) -> list[Finding]:
    """Explain one log: every distinct assertion, then what no assertion accounts for.

    A log may hold several runs; numbers, stacks and consequences are taken from the run that an
    assertion stands in.
    """
    by_run: dict[int, list[Finding]] = {}
    episodes = Episodes(events)
    for assertion in events.assertions[:MOST]:
        episode = episodes.of(assertion.first.start)
        finding = _asserted(assertion, episode.events, source, evidence)
        if assertion.sender is not None:
            finding = replace(finding, facts={**finding.facts, **sender_facts(assertion.sender)})
        by_run.setdefault(episode.start, []).append(finding)
    for start, errors in _unexplained(events, episodes).items():
        from aoti_logs.rules.other_failures import other_findings

        run = episodes.of(start).events
        by_run.setdefault(start, []).extend(
            other_findings(errors, run, source, evidence, asserted={a.rank for a in run.assertions})
        )
    begun = sorted(n.span.start for n in events.notes if n.kind == "command")
    if len(begun) > 1:  # exit codes alone may be those of several ranks
        by_run = {start: _numbered(found, bisect_right(begun, start)) for start, found in by_run.items()}
    findings = [f for start in sorted(by_run) for f in _demoted(by_run[start])]
    if events.messages or events.notes:
        from aoti_logs.rules.message_failures import message_findings, with_limits

        findings = with_limits(findings, message_findings(events, source, findings))
    if events.messages:
        from aoti_logs.rules.logged_failures import with_logged

        findings = with_logged(findings, events, source, evidence)
    if any(f.rule == "AL604" for f in findings):
        from aoti_logs.rules.device_mix import of_log
        from aoti_logs.rules.error_case import shown_command

        findings = of_log(findings, shown_command(events), evidence.traces)
    if any(f.rule in {"AL505", "AL506"} for f in findings):
        from aoti_logs.rules.shape_evidence import with_shape_evidence

        findings = with_shape_evidence(findings, events)
    findings += note_findings(LogCase(events, source, evidence, tuple(findings)))
    if any(f.rule == "AL404" for f in findings):
        from aoti_logs.rules.nan_noticed import with_printed_values

        findings = with_printed_values(findings)
    if any(f.rule == "AL221" for f in findings):
        from aoti_logs.rules.al221_command_settings import with_settings

        findings = with_settings(findings)
    left = len(events.assertions) - MOST
    if left > 0:
        findings.append(_uncounted(left, source))
    if len(begun) > 1:
        findings += _silent(events, source, begun, findings)
    elif not any(f.role == "cause" for f in findings):
        findings += exit_finding(events, source)
    return sorted(findings, key=_order)


def _order(finding: Finding) -> tuple[int, bool]:
    """Causes first; behind the others one of which the log has lost what was raised."""
    facts = finding.facts
    says = finding.rule != "AL001" or facts.get("exception_type") or facts.get("message", "?")
    return ["cause", "consequence", "note"].index(finding.role), not says


def _asserted(assertion: Assertion, run: LogEvents, source: Source, evidence: Evidence) -> Finding:
    if assertion.text is not None:
        from aoti_logs.code.index.case import build_case
        from aoti_logs.rules.index_finding import index_finding

        return index_finding(build_case(assertion, run, evidence), run, source)
    from aoti_logs.rules.al309_device_assert import assert_finding

    return assert_finding(assertion, run, source)


def _silent(events: LogEvents, source: Source, begun: list[int], findings: list[Finding]) -> list[Finding]:
    """Return the runs of several in one log that ended with a code other than 0 and have no cause."""
    told = {f.facts.get("run_in_log") for f in findings if f.role == "cause"}
    found: list[Finding] = []
    if None in told:
        return found
    notes: dict[int, list[Note]] = {}
    for note in events.notes:
        notes.setdefault(bisect_right(begun, note.span.start), []).append(note)
    for run in range(1, len(begun) + 1):
        if run not in told:
            own = replace(events, notes=tuple(notes.get(run, ())))
            found += _numbered(exit_finding(own, source), run)
    return found


def _numbered(findings: list[Finding], run: int) -> list[Finding]:
    """Say in which of several runs of one log each finding is."""
    return [replace(f, facts={**f.facts, "run_in_log": run}) for f in findings]


def _uncounted(left: int, source: Source) -> Finding:
    title = f"{left} more distinct assertions failed; `aoti-logs show PATH assertions` lists them all"
    return Finding(
        "AL001",
        "more_assertions",
        "note",
        "note",
        Confidence.PROVEN,
        title,
        {"n_more": left},
        log=source.name,
    )


def _unexplained(events: LogEvents, episodes: Episodes) -> dict[int, list[ErrorText]]:
    """Return the errors that no assertion of the same run accounts for, and the warnings, by run."""
    causes: dict[int, Causes] = {}
    rest: dict[int, list[ErrorText]] = {}
    for error in events.errors:
        from aoti_logs.rules.consequences import Causes, returned

        run = episodes.of(error.span.start)
        if run.start not in causes:
            causes[run.start] = Causes(run.events.assertions, returned(run.events))
        if error.form is ErrorForm.WARNING or not causes[run.start].explain(error):
            rest.setdefault(run.start, []).append(error)
    return rest


def _demoted(findings: list[Finding]) -> list[Finding]:
    """Make notes of what stands beside the failure of one run.

    Beside a failed assertion of the same rank an unexplained error is a note: what it follows from
    is not known, and a sticky error of the device is likelier than a second failure.
    """
    seen = {f.rank for f in findings if f.kind.endswith("assert")}
    return [
        replace(f, role="note", severity="note")
        if f.role == "cause" and f.rank in seen and not f.kind.endswith("assert")
        else f
        for f in findings
    ]
