"""The report of `torch.export.draft_export`, as notes: one for each issue.

Format: `grammars/draft_export.lark`. The facts of a note: `issue` (`data_dependent`, `missing_fake_kernel`,
`mismatched_fake_kernel`, `guard`), `n_issues`, `expression`, `result`, `op`, `reason`, `file`, `line`,
`function`, `code`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.events import Note
from aoti_logs.parse.shape import fields

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_KINDS = {
    "Data dependent error.": "data_dependent",
    "Missing fake kernel.": "missing_fake_kernel",
    "Mismatched fake kernel.": "mismatched_fake_kernel",
    "Guard Added.": "guard",
}
_STARTS = (
    ("When exporting, we were", "value"),
    ("torch.ops.", "missing"),
    ("The reason for the mismatch", "reason"),
    ("As a result, it was", "result"),
    ("Specifically, this guard", "guard"),
)
_NAMES = {"EXPRESSION": "expression", "RESULT": "result", "OPERATOR": "op", "GUARD": "expression"}
_LONGEST = 5000  # lines of one report


def read_draft_report(log: Log, line: Line) -> bool:
    """Claim a report from its heading to its last issue."""
    head = fields("draft_export", "head", line.text.strip()[:4096])
    if head is None:
        return False
    lines = [line]
    issues: list[tuple[Line, list[tuple[str, str]]]] = []
    now = log.after(line)
    last = 0
    while now is not None and len(lines) < _LONGEST:
        text = now.text.strip()
        item = fields("draft_export", "item", text[:200]) if text[:1].isdigit() else None
        if item is not None:
            issues.append((now, [("issue", _KINDS[item["KIND"][0]]), ("n_issues", head["NUMBER"][0])]))
        elif issues and not now.text.startswith(" ") and text:
            break
        elif issues:
            issues[-1][1].extend(_facts(text, issues[-1][1]))
        lines.append(now)
        last = len(lines) if text else last
        now = log.after(now)
    lines = lines[: max(last, 1)]
    log.claim("draft_export", lines)
    log.notes += [
        Note("draft_export", log.span(at.start, at.end), tuple(_first(facts))) for at, facts in issues
    ]
    return True


def _facts(text: str, before: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if text.startswith("And the following framework stacktrace"):
        return [("framework", "")]
    if text.startswith("File "):
        found = fields("draft_export", "frame", text[:4096])
        if found is None or ("framework", "") in before:
            return []
        return [("file", found["FILE"][0]), ("line", found["NUMBER"][0]), ("function", found["NAME"][0])]
    for start, rule in _STARTS:
        if text.startswith(start):
            found = fields("draft_export", rule, text[:4096])
            if found is None and rule == "missing":
                found = fields("draft_export", "mismatch", text[:4096])
            named = [(_NAMES[k], v[0]) for k, v in (found or {}).items() if k in _NAMES]
            return named or [("reason", v[0]) for k, v in (found or {}).items() if k == "REST"]
    # The innermost frame's line of code stands below it.
    return [("code", text)] if before[-1][0] == "function" and text else []


def _first(facts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first of each fact, and of the frames the innermost one outside of torch."""
    frames: list[dict[str, str]] = []
    kept: dict[str, str] = {}
    for key, value in facts:
        if key == "file":
            frames.append({})
        if key in {"file", "line", "function", "code"} and frames:
            frames[-1][key] = value
        elif key != "framework":
            kept.setdefault(key, value)
    own = [f for f in frames if "/torch/" not in f["file"]] or frames
    if own:
        kept.update(own[-1])
    return list(kept.items())
