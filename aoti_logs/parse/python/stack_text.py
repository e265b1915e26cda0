"""Python stacks kept as text by provenance tracking: their frames, and the user's own among them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

StackLine = tuple[str, int, str, str | None]
"""File, line, function, and the line of code where the stack has it."""

_LONGEST = 1 << 20
_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages"})


@lru_cache(maxsize=4096)
def frames_of_stack(text: str) -> tuple[StackLine, ...]:
    """Read a stack's text, outermost frame first, by `grammars/stack_text.lark`.

    Older torch wrote line ends as a backslash and an `n`; both forms are read. Lines of code that a
    frame shows below it are joined by a blank; caret lines are left out.
    """
    text = text[:_LONGEST]
    if "\n" not in text and "\\n" in text:
        text = text.replace("\\n", "\n").replace('\\"', '"')
    frames: list[StackLine] = []
    for line in text.split("\n"):
        body = line.strip()
        frame = _frame(body) if body.startswith("File ") else None
        if frame is not None:
            frames.append((*frame, None))
        elif frames and body and body.strip("^~ "):
            file, number, function, code = frames[-1]
            frames[-1] = (file, number, function, f"{code} {body}" if code else body)
    return tuple(frames)


def _frame(text: str) -> tuple[str, int, str] | None:
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        file, line, function = parser("stack_text").parse(text).children
    except LarkError:
        return None
    return str(file)[1:-1], int(str(line)), str(function).strip()


def is_library(path: str) -> bool:
    """Tell files of torch and other installed packages, and code that exists in memory only."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith("<") or not _LIBRARY_FOLDERS.isdisjoint(parts):
        return True
    folder = "/".join(parts)
    return any(f"/torch/{inner}/" in folder for inner in ("nn", "_dynamo", "_inductor", "fx", "_export"))


def user_frame(frames: Sequence[StackLine]) -> StackLine | None:
    """Return the innermost frame outside torch and installed packages."""
    return next((f for f in reversed(frames) if not is_library(f[0])), None)
