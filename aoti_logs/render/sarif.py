"""An explanation as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), for code scanning and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aoti_logs.render.safe import clean
from aoti_logs.render.text import asked_lines, confidence_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Explanation, Finding, Link
    from aoti_logs.sources.source import Place

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning"}
_LONGEST = 2000


def sarif(explanation: Explanation, rules: Sequence[tuple[str, str, str]], version: str) -> dict[str, Any]:
    """Return an explanation as a SARIF log of one run.

    Args:
        explanation: what to write.
        rules: (code, name, page) of the rules; those that found something are described.
        version: version of this package.
    """
    found = {f.rule for f in explanation.findings}
    described = [
        {
            "id": code,
            "name": name,
            "shortDescription": {"text": page.strip().splitlines()[0]},
            "fullDescription": {"text": page.strip()},
        }
        for code, name, page in rules
        if code in found
    ]
    problems = [{"level": "warning", "message": {"text": _text(p)}} for p in explanation.problems]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "aoti-logs", "semanticVersion": version, "rules": described}},
                "results": [_result(f) for f in explanation.findings],
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": problems}],
            }
        ],
    }


def _text(text: str) -> str:
    plain = clean(text)
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " ..."


def _result(finding: Finding) -> dict[str, Any]:
    level = (
        "none"
        if finding.role == "note" and finding.severity == "note"
        else _LEVELS.get(finding.severity, "note")
    )
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "kind": "informational" if level == "none" else "fail",
        "level": level,
        "message": {"text": "\n".join(_message(finding))},
        "properties": {"confidence": str(finding.confidence), "role": finding.role, "kind": finding.kind},
    }
    if finding.rank is not None:
        result["properties"]["rank"] = finding.rank
    steps = [link for link in finding.chain if link.place is not None]
    if steps:
        result["locations"] = [_location(steps[0])]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": _location(s)} for s in steps]}]}]
    after = [link for link in finding.consequences[:50] if link.place is not None]
    if after:
        result["relatedLocations"] = [{"id": n, **_location(link)} for n, link in enumerate(after)]
    return result


def _message(finding: Finding) -> Iterator[str]:
    yield _text(finding.title)
    yield _text(confidence_line(finding))
    for verdict in finding.verdicts:
        yield from (f"because {_text(b)}" for b in verdict.because)
        yield from (f"to decide: {_text(d)}" for d in verdict.decide)
    for experiment in finding.experiments[:1]:
        yield from map(_text, asked_lines(experiment, "next:"))
    yield from (f"fix: {_text(fix)}" for fix in finding.fixes)


def _location(link: Link) -> dict[str, Any]:
    place = link.place
    physical = {} if place is None else {"physicalLocation": _physical(place, link.text)}
    return {**physical, "message": {"text": _text(f"{link.step}: {link.text}")}}


def _physical(place: Place, text: str) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(place.line, 1), "snippet": {"text": _text(text)}}
    if place.end_line > place.line:
        region["endLine"] = place.end_line
    # A name with `!` or `#` (archive member, text in a trace) is still one path.
    return {"artifactLocation": {"uri": quote(clean(place.source).replace("\\", "/"))}, "region": region}
