"""Frames of a Python traceback, with their lines of code and the marks below them.

Format: `grammars/traceback.lark`. Python 3.11 marks the part of a line that was run (`^^^^`, `~~~^~~~`), 3.13 shows
statements of several lines (`...<3 lines>...`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import PythonFrame
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_FRAME = re.compile(r'\s*File "[^"\n]+", line \d+')
_FAULTHANDLER = re.compile(r'\s*File "[^"\n]+", line \d+ in ')
_MARKS = re.compile(r"\s*[\^~]+[\^~ ]*$")
_REPEATED = re.compile(r"\s*\[Previous line repeated (?P<times>\d{1,9}) more times?\]$")
_CUT = re.compile(r"\s*(?:\.\.\.|\[\.\.\.\]|…|<snip>)$")
_LONGEST = 5000  # frames of one traceback


def is_frame(text: str) -> bool:
    """Tell whether a line is a frame, also one of faulthandler's."""
    return _FRAME.match(text) is not None


def is_faulthandler_frame(text: str) -> bool:
    """Tell whether a line is a frame as faulthandler writes it, without the comma before `in`."""
    return _FAULTHANDLER.match(text) is not None


def python_frame(log: Log, line: Line) -> PythonFrame | None:
    """Read `File "F", line N, in FUNCTION`, also faulthandler's form without the comma."""
    found = fields("traceback", "frame", line.text) if is_frame(line.text) else None
    if found is None:
        return None
    return PythonFrame(
        found["FILE"][0],
        int(found["LINE"][0][:9]),
        first(found, "FUNCTION") or "",
        None,
        log.span(line.start, line.end),
    )


def read_frames(log: Log, line: Line | None) -> tuple[list[PythonFrame], list[Line]]:
    """Read frames with their source lines and marks from this line on."""
    frames: list[PythonFrame] = []
    lines: list[Line] = []
    now = line
    while now is not None and len(frames) < _LONGEST:
        frame = python_frame(log, now)
        if frame is None:
            if now.text.strip() and not _CUT.match(now.text):
                break
            after = log.after(now)  # a person left frames out, or loguru parted the user's from a library's
            if after is None or not is_frame(after.text):
                break
            lines.append(now)
            now = after
            continue
        first_line = now
        lines.append(now)
        indent = _indent(now.text)
        code = marked = None
        begin = 0
        now = log.after(now)
        while now is not None and now.text.strip() and _indent(now.text) > indent and not is_frame(now.text):
            if _MARKS.match(now.text):
                marked = marked or _marked(code, begin, now.text)
            elif code is None:
                code, begin = now.text.strip(), _indent(now.text)
            lines.append(now)
            now = log.after(now)
        found = _REPEATED.match(now.text) if now is not None else None
        if now is not None and found is not None:
            lines.append(now)
            now = log.after(now)
        span = log.span(first_line.start, lines[-1].end)
        repeated = int(found["times"]) if found is not None else 0
        frames.append(PythonFrame(frame.file, frame.line, frame.function, code, span, repeated, marked))
    return frames, lines


def _marked(code: str | None, begin: int, marks: str) -> str | None:
    """Return the part of a line of code that stands over the marks."""
    at = _indent(marks) - begin
    if code is None or at < 0:
        return None
    return code[at : at + len(marks.strip())].strip() or None


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
