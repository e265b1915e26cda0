"""An explanation as annotations of GitHub Actions: `::error file=run.log,line=3,title=AL101::text`.

Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.safe import clean
from aoti_logs.render.text import asked_lines, confidence_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Explanation, Finding

_LONGEST = 4000
_LONGEST_TITLE = 250
_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_DATA, (":", "%3A"), (",", "%2C"))
_COMMANDS = {"error": "error", "warning": "warning"}


def render_github(explanation: Explanation, *, everything: bool = False) -> str:
    """Write an annotation a finding.

    Args:
        explanation: what to write.
        everything: also notes.
    """
    shown = [f for f in explanation.findings if everything or f.role != "note" or f.severity == "warning"]
    return "".join(_annotation(f) + "\n" for f in shown)


def _annotation(finding: Finding) -> str:
    command = _COMMANDS.get(finding.severity, "notice")
    place = next((link.place for link in finding.chain if link.place is not None), None)
    given = {"title": f"{finding.rule} {finding.title}"[:_LONGEST_TITLE]}
    if place is not None:
        given = {"file": place.source, "line": str(place.line), **given}
    properties = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in given.items())
    return f"::{command} {properties}::{_escaped(_lines(finding), _DATA)}"


def _lines(finding: Finding) -> str:
    return "\n".join(_message(finding))[:_LONGEST]


def _message(finding: Finding) -> Iterator[str]:
    yield clean(finding.title)
    yield clean(confidence_line(finding))
    for link in finding.chain:
        where = f" ({clean(link.place.source)}:{link.place.line})" if link.place is not None else ""
        yield f"{clean(link.step)}: {clean(link.text)}{where}"
    for experiment in finding.experiments[:1]:
        yield from map(clean, asked_lines(experiment, "next:"))
    yield from (f"fix: {clean(fix)}" for fix in finding.fixes)


def _escaped(text: str, steps: tuple[tuple[str, str], ...]) -> str:
    text = "\n".join(map(clean, text.split("\n")))
    for character, instead in steps:
        text = text.replace(character, instead)
    return text
