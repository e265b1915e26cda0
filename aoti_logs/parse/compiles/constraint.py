"""A ConstraintViolationError: which size that was declared dynamic is not, and what torch suggests.

Format: `grammars/constraint.lark`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.failure import SuggestedFix, Violation, Violations
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.shape import Fields

LITERALS = ("Constraints violated (", "Specializations unexpectedly required (", " not in range [")
"""One of these stands in the first line."""

_LONGEST = 4096
_MOST = 200
_FORMS = (
    ("WHAT_MARKED", "specialized"),
    ("WHAT_CONSTANT", "constant"),
    ("WHAT_EQUAL", "derived"),
    ("WHAT_GUARD", "guard"),
    ("LEFT_EQUAL", "equal"),
    ("LEFT_RELATED", "related"),
    ("WHAT_SOLVED", "solved"),
)


def read_violations(text: str) -> Violations | None:
    """Read the text of an exception; None when it is no constraint violation."""
    lines = text.split("\n")
    rows = [v for line in lines[: _MOST * 20] if (v := _violation(line)) is not None]
    if not rows and not text.startswith(LITERALS[:2]):
        return None
    return Violations(tuple(rows[:_MOST]), tuple(_fixes(lines)))


def _violation(line: str) -> Violation | None:
    text = line.strip()[:_LONGEST]
    if text.startswith("- "):
        found = fields("constraint", "row", text)
        return _row(found, text.removeprefix("- ")) if found is not None else None
    if " not in range [" in text:
        found = fields("constraint", "range", text)
        if found is not None:
            declared = f"[{found['LOWER'][0]}, {found['UPPER'][0]}]"
            return Violation("range", text, constant=_number(found), declared=declared)
    return None


def _row(found: Fields, text: str) -> Violation | None:
    for terminal, form in _FORMS:
        what = first(found, terminal)
        if what is None:
            continue
        named = fields("constraint", "named", what) or {}
        source = first(named, "INNER_SOURCE") or first(named, "SOURCE")
        name = first(named, "NAME")
        if name is None and source is not None and source.isidentifier():
            name, source = source, None  # `You marked b as dynamic`: the name alone
        if name == source:
            name = None
        other = first(found, "RIGHT_EQUAL") or first(found, "OTHER") or first(found, "RIGHT_RELATED")
        return Violation(
            form,
            text,
            name=name,
            source=source,
            constant=_number(found),
            other=other.removesuffix(".") if other else None,
            declared=first(named, "RANGE"),
            constraint=first(named, "CONSTRAINT"),
        )
    return None


def _number(found: Fields) -> int | None:
    value = first(found, "NUMBER")
    return int(value) if value is not None and len(value) < 30 else None


def _fixes(lines: list[str]) -> list[SuggestedFix]:
    fixes: list[SuggestedFix] = []
    at = next((n for n, line in enumerate(lines) if line.strip() == "Suggested fixes:"), len(lines))
    for line in lines[at + 1 : at + 1 + _MOST]:
        found = fields("constraint", "fix", line.strip()[:_LONGEST]) if line.strip() else None
        if found is None:
            break
        fixes.append(SuggestedFix(found["NAME"][0], found["VALUE"][0].strip(), first(found, "COMMENT")))
    return fixes
