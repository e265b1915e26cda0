"""A data-dependent failure: the condition that tracing could not decide, and where.

Format: `grammars/data_dependent.lark`.
"""

from __future__ import annotations

import re

from aoti_logs.parse.compiles.failure import Caused, Undecided
from aoti_logs.parse.shape import fields, first

_OLD = "The expression we were trying to evaluate is "
LITERALS = ("Could not guard on data-dependent expression", "from data-dependent expression", _OLD)
"""One of these stands in the first line."""

_LONGEST = 4096
_SYMBOL = re.compile(r"\b(?:u|i|zuf|f)\d+\b")
_EVALUATE = ("failed while running evaluate_expr(", "failed during evaluate_expr(")


def read_undecided(text: str) -> Undecided | None:
    """Read the text of an exception; None when it is not about data."""
    if not any(words in text for words in LITERALS):
        return None
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if any(words in line for words in LITERALS)), 0)
    head = lines[at].strip()[:_LONGEST]
    old = head.find(_OLD)
    found = (
        fields("data_dependent", "old", head[old:]) if old >= 0 else fields("data_dependent", "head", head)
    )
    if found is None:
        return None
    expression = first(found, "EXPRESSION") or first(found, "LAST_EXPRESSION") or ""
    listed = first(found, "SYMBOLS")
    sizes = None if listed is None else tuple(s for s in listed.split(", ") if s != "none")
    below = lines[at + 1 : at + 200]
    return Undecided(
        expression=expression,
        unhinted=first(found, "UNHINTED"),
        symbols=symbols_in(expression),
        size_like=sizes,
        caused=next((c for line in below if (c := _caused(line)) is not None), None),
        checks=tuple(call for line in below if (call := _check(line)) is not None),
    )


def read_evaluation(line: str) -> str | None:
    """Return the expression of a `failed while running evaluate_expr(...)` message."""
    if not line.startswith(_EVALUATE):
        return None
    found = fields("data_dependent", "evaluate", line[:_LONGEST])
    return None if found is None else first(found, "POSITIONAL") or first(found, "EXPRESSION_ALONE")


def symbols_in(expression: str) -> tuple[str, ...]:
    """Return the unbacked symbols of an expression, each once."""
    return tuple(dict.fromkeys(_SYMBOL.findall(expression)))


def _caused(line: str) -> Caused | None:
    if "Caused by:" not in line:
        return None
    found = fields("data_dependent", "caused", line.strip()[:_LONGEST])
    if found is None:
        return None
    return Caused(
        first(found, "CODE"), first(found, "GENERATED"), first(found, "LOCATION"), first(found, "INNER")
    )


def _check(line: str) -> str | None:
    if "torch._check" not in line:
        return None
    found = fields("data_dependent", "check", line.strip()[:_LONGEST])
    return None if found is None else found["CALL"][0]
