"""The guard that torch was making when it failed: `Error while creating guard:` (torch/_guards.py, `Guard.create`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents, LogLine

HEAD = "Error while creating guard"
_ROWS = {"Name": "name", "Source": "source", "Create Function": "create_function"}


def with_guard(findings: Sequence[Finding], events: LogEvents) -> list[Finding]:
    """Let each violated constraint name the guard that torch was making right before."""
    told = [m for m in events.messages if m.text.startswith(HEAD)]
    if not told:
        return list(findings)
    return [_with_guard(f, told) if f.rule == "AL505" else f for f in findings]


def _with_guard(finding: Finding, told: Sequence[LogLine]) -> Finding:
    place = finding.chain[0].place if finding.chain else None
    before = [m for m in told if place is None or m.span.line <= place.line]
    if not before:
        return finding
    message = before[-1]
    guard = _guard(message.text)
    own = message.span.source.place(message.span.line)
    details = (f"in compile {message.compile_id}",) if message.compile_id else ()
    link = Link("guard", f"torch was making the guard {guard['create_function']}", own, details=details)
    facts = {**finding.facts, "guard": guard, "log_level": message.level[:1]}
    if facts.get("compile_id") is None:
        facts["compile_id"] = message.compile_id
    return replace(finding, facts=facts, chain=(*finding.chain, link))


def _guard(text: str) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(_ROWS.values())
    for row in text.split("\n")[1:20]:
        key, colon, value = row.strip().partition(": ")
        if colon and key in _ROWS:
            found[_ROWS[key]] = value.strip().strip("'\"")
    return found
