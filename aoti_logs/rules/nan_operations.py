"""Operations of a generated kernel that make NaN of numbers that are finite: divisions, logarithms, roots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from aoti_logs.code.view import ModelView

_MOST_LINES = 5000
_SHOWN = 3
_LONGEST = 400  # characters of a line that is still read
_CALL = re.compile(
    r"(?<![\w.])(?:tl_math|tl|libdevice|std|at::vec|)(?:\.|::|)(?P<name>log(?:2|10|1p)?|r?sqrt|asin|acos|acosh|atanh|pow|fmod)"
    r"(?:_rn)?\(tmp|\btmp\d+\.(?P<method>log(?:2|10|1p)?|r?sqrt|asin|acos|pow)\("
)
_DIVIDES = re.compile(r"\btmp\d+ / (?P<by>tmp\d+)\b")
_NUMBER = re.compile(
    r"\b(?P<name>tmp\d+) = (?:static_cast<\w+>\()?(?:tl\.full\(\[[^\]]{0,40}\], )?(?P<value>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b"
)
_ASSIGNED = re.compile(r"\btmp\d+ = ")
_WHY = {
    "divides": "of 0 / 0, and of inf / inf",
    "log": "of a negative number",
    "sqrt": "of a negative number",
    "other": "outside of its domain",
}


def nan_operations(kernel: str | None, view: ModelView) -> tuple[Link, ...]:
    """Return the lines of a kernel's body that can make NaN of finite numbers; none where they are many or not at hand.

    Sums and products are not among them: they make NaN only of infinities, which overflow makes first.
    """
    body = view.definition(kernel) if kernel else None
    if body is None or body.end_line - body.line > _MOST_LINES:
        return ()
    found: list[Link] = []
    numbers: dict[str, float] = {}
    for at, line in enumerate(body.source.lines_from(body.line, body.end_line), body.line):
        if len(line) > _LONGEST or not _ASSIGNED.search(line):
            continue
        given = _NUMBER.search(line)
        if given is not None:
            numbers[given["name"]] = float(given["value"])
        what = _what(line, numbers)
        # The main loop and the tail of a C++ kernel hold the same line.
        if what is not None and line.strip() not in {link.text for link in found}:
            found.append(
                Link(
                    "operation",
                    line.strip(),
                    body.source.place(at),
                    details=(f"it can make NaN: {_WHY[what]}",),
                )
            )
    return tuple(found) if len(found) <= _SHOWN else ()


def _what(line: str, numbers: dict[str, float]) -> str | None:
    divides = _DIVIDES.search(line)
    if divides is not None and not numbers.get(divides["by"]):
        return "divides"
    called = _CALL.search(line)
    if called is None:
        return None
    name = called["name"] or called["method"]
    return "log" if name.startswith("log") else "sqrt" if name.endswith("sqrt") else "other"
