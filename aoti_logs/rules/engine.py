"""From the events of one log to its findings: causes first, each with what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.case import build_case
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.consequences import follows
from aoti_logs.rules.index_finding import index_finding
from aoti_logs.rules.other_failures import other_findings

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import Assertion, ErrorText, LogEvents
    from aoti_logs.sources.source import Source

_MOST = 50


def explain_log(source: Source, events: LogEvents, evidence: Evidence) -> list[Finding]:
    """Explain one log.

    Several assertions of one process are one failure: the kernel stops at the first, the others
    are of the same launch or print because the launch is wide. The first stays a cause with the
    others beside it only when they stand in other kernels or ranks.
    """
    checks = [a for a in events.assertions if a.text is not None][:_MOST]
    findings = [index_finding(build_case(a, events, evidence), events, source) for a in checks]
    rest = [e for e in events.errors if not _explained(e, checks)]
    findings += other_findings(rest, events, source, evidence, explained=bool(checks))
    return _ordered(findings)


def _explained(error: ErrorText, checks: list[Assertion]) -> bool:
    return error.form is not ErrorForm.WARNING and any(follows(error, a) for a in checks)


def _ordered(findings: list[Finding]) -> list[Finding]:
    """Put causes first, in the order in which they were printed; a process has one first cause a rank."""
    seen: set[int | None] = set()
    ordered = []
    for finding in findings:
        if finding.role == "cause" and finding.kind.endswith("index_assert"):
            seen.add(finding.rank)
            ordered.append(finding)
        elif finding.role == "cause" and finding.rank in seen:
            ordered.append(replace(finding, role="note", severity="note"))
        else:
            ordered.append(finding)
    return sorted(ordered, key=lambda f: ["cause", "consequence", "note"].index(f.role))
