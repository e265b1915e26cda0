"""The screen of an audit: model by model, warnings whole, notes in a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.safe import clean
from aoti_logs.render.text import finding_lines, hidden_lines, problem_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Audit, AuditedModel, Finding


def render_audit(audit: Audit, *, everything: bool = False) -> str:
    """Write the whole screen.

    Args:
        audit: what to show.
        everything: notes whole, too.
    """
    by_model: dict[str | None, list[Finding]] = {}
    for finding in audit.findings:
        by_model.setdefault(finding.log, []).append(finding)
    lines: list[str] = []
    for model in audit.models:
        found = by_model.get(model.name, [])
        lines += [*_head(model), ""]
        shown = [f for f in found if everything or f.severity == "warning"]
        for finding in shown:
            lines += [*finding_lines(finding), ""]
        hidden = [f for f in found if f not in shown]
        if hidden:
            lines += [*(line for line in hidden_lines(hidden) if not line.startswith("--all")), ""]
    lines += _sum(audit, everything=everything)
    lines += problem_lines(audit)
    return "\n".join(map(clean, lines)).rstrip() + "\n"


def _head(model: AuditedModel) -> Iterator[str]:
    yield f"==== {model.name}"
    if model.headline is not None:
        yield f"     {model.headline}"
    if model.torch is not None:
        yield f"     compiled by torch {model.torch}"


def _sum(audit: Audit, *, everything: bool) -> Iterator[str]:
    models = len(audit.models)
    if not models:
        yield "no compiled model is here: give a package, a generated wrapper, or a trace of a compile"
        return
    warnings = sum(f.severity == "warning" for f in audit.findings)
    notes = len(audit.findings) - warnings
    counted = [_count(models, "model"), _count(warnings, "warning"), _count(notes, "note")]
    yield ", ".join(counted) + ("; --all shows the notes whole" if notes and not everything else "")


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what if number == 1 else what + 's'}"
