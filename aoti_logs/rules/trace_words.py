"""How the rules about traces name frames of stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs.records.record import StackFrame


def frame_words(frame: StackFrame) -> str:
    """Write a frame: file, line, function, code."""
    where = f"{frame.file or 'an unnamed file'}:{frame.line}"
    text = f"{where} in {frame.name}" if frame.name else where
    return f"{text}: {frame.loc}" if frame.loc else text


def frame_facts(frame: StackFrame) -> dict[str, Any]:
    """Return a frame as plain values."""
    return {"file": frame.file, "line": frame.line, "function": frame.name or None, "code": frame.loc}


def several(count: int, noun: str) -> str:
    """Write a number with its noun: `1 size`, `3 sizes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
