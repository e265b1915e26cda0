"""Stacks of py-spy's `dump`: Python frames, and native ones among them with `--native`.

Format: py-spy src/dump.rs (`print_trace`); frames `grammars/native_frame.lark`. Innermost frames stand first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Frame, Stack
from aoti_logs.parse.stacks.stack_form import PY_SPY, read_frame

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_THREAD = re.compile(
    r"Thread (?P<ident>\d+|0x[0-9A-Fa-f]+) \((?P<state>(?:idle|active)(?:\+gil)?)\)(?:: \"(?P<name>[^\"]*)\")?$"
)
_FRAME = re.compile(r" {4,8}\S.* \([^()]+\)$")
_PROCESS = re.compile(r"Process \d+: |Python v\d+\.\d+\S* \(")
_LOCALS = re.compile(r" {8,}(?:Arguments|Locals):$| {12,}\S+: ")


def read_py_spy(log: Log, line: Line) -> bool:
    """Claim a thread with its frames, and the lines of the process above the first one."""
    found = _THREAD.match(line.text.strip())
    if found is None:
        return False
    frames: list[Frame] = []
    lines = [line]
    now = log.after(line)
    while now is not None:
        text = now.text.rstrip()
        if _FRAME.match(text):
            frame = read_frame(PY_SPY, text, log.span(now.start, now.end), len(frames))
            if frame is None:
                break
            frames.append(frame)
        elif not (frames and _LOCALS.match(text)):
            break
        lines.append(now)
        now = log.after(now)
    if not frames:
        return False
    above = log.before(line)
    while above is not None and _PROCESS.match(above.text):
        lines.insert(0, above)
        above = log.before(above)
    span = log.claim("stack", lines)
    log.stacks.append(Stack("py_spy", tuple(frames), span, thread=found["ident"], role=found["state"]))
    return True
