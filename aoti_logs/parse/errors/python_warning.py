"""Warnings of Python: `FILE:LINE: UserWarning: TEXT` and the line of code below.

Printed by Python's warnings.py, `_formatwarnmsg_impl`. They are messages like those of loggers, of the style `warnings`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.message import begins_other
from aoti_logs.parse.events import LogLine

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_HEAD = re.compile(
    r"(?P<file>[^\s:][^\n:]{0,1000}(?::[\\/][^\n:]{0,1000})?):(?P<line>\d{1,9}): (?P<kind>[A-Za-z_][\w.]{0,100}Warning): "
)
_CODE = re.compile(r"  \S")
_WARNS = re.compile(r"  \S.{0,200}?\bwarn", re.I)
_LONGEST = 12  # lines of a message


def read_python_warning(log: Log, line: Line) -> bool:
    """Claim a warning that begins on this line, with the further lines of its message and the line of code."""
    found = _HEAD.match(line.text)
    if found is None:
        return False
    lines = [line, *_below(log, line)]
    texts = [line.text[found.start("kind") :], *(one.text for one in lines[1:])]
    log.claim("warning", lines)
    log.messages.append(
        LogLine(
            level="WARNING",
            time="",
            process=0,
            module=found["file"],
            module_line=int(found["line"]),
            compile_id=None,
            artifact=None,
            rank=line.rank,
            text="\n".join(texts),
            lines=tuple(log.span(one.start, one.end).line for one in lines),
            span=log.span(line.start, lines[-1].end),
            style="warnings",
        )
    )
    return True


def _below(log: Log, line: Line) -> list[Line]:
    """Return the lines down to the line of code; a message of several lines is told by code that warns below it."""
    below: list[Line] = []
    now = log.after(line)
    while now is not None and len(below) < _LONGEST:
        text = now.text
        if _CODE.match(text) and (not below or _WARNS.match(text)):
            return [*below, now]
        if not text.strip() or _HEAD.match(text) or begins_other(text):
            break
        below.append(now)
        now = log.after(now)
    return []
