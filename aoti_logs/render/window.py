"""A long line of code cut to what a screen shows: around what is pointed at, or without its middle."""

from __future__ import annotations

import re

WIDTH = 160
"""So many columns a line that points into code, or quotes a check, takes."""
_LEAST = 60
_AROUND = 24
_HEAD = 48
_DOTS = "..."
_TEXT = re.compile(r'"[^"\n]{1,200}"')


def room(inset: int) -> int:
    """Return how many columns are left behind an inset."""
    return max(_LEAST, WIDTH - inset)


def around(text: str, pointer: str, width: int) -> tuple[str, str]:
    """Cut a line of code and the line of `^^^` below it to a width, what is pointed at in both.

    Args:
        text: the code.
        pointer: blanks, then `^^^`, then words.
        width: columns for each; a longer piece under `^^^`, or longer words, are kept.

    >>> around("call_a(" + "x, " * 40 + "s70, stream)", " " * 127 + "^^^ is ks0", 60)[0]
    '... x, x, x, x, x, x, x, x, s70, stream)'
    """
    at = len(pointer) - len(pointer.lstrip())
    marks = len(pointer[at:]) - len(pointer[at:].lstrip("^"))
    if len(text) <= width and len(pointer) <= width:
        return text, pointer
    last = len(text)
    wanted = max(len(pointer), min(last, at + marks + _AROUND))
    first = min(at, max(0, wanted + len(_DOTS) + 1 - width)) if wanted > width else 0
    if first:
        comma = text.find(", ", first, at)
        first = comma + 2 if comma >= 0 else first
    before = f"{_DOTS} " if first else ""
    if last - first + len(before) > width:
        last = max(at + marks, first + width - len(before) - len(_DOTS) - 1)
        comma = text.rfind(", ", at + marks, last)
        last = comma + 1 if comma >= 0 else last
    after = f" {_DOTS}" if last < len(text) else ""
    return before + text[first:last] + after, " " * (len(before) + at - first) + pointer[at:]


def without_middle(text: str, width: int) -> str:
    """Cut a line of code to a width: its beginning, and what it says as a text (`"index out of bounds: ..."`), stay.

    Code without a text keeps its beginning.
    """
    if len(text) <= width:
        return text
    said = next((m for m in _TEXT.finditer(text) if m.start() >= _HEAD), None)
    if said is None:
        return text[: width - len(_DOTS) - 1] + f" {_DOTS}"
    tail = text[said.start() :]
    tail = tail if len(tail) <= width else tail[:width] + f" {_DOTS}"
    head = text[: max(_HEAD, width - len(tail) - len(_DOTS) - 2)]
    return f"{head} {_DOTS} {tail}"
