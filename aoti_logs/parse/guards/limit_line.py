"""The limit on compiles as torchdynamo and torch 1.13 warn of it, on one line that other output stands before.

Printed by torchdynamo/convert_frame.py through a logger whose handler is `LEVEL:LOGGER:TEXT`; a benchmark has its own
columns on the same line. Format: the rule `old` of `grammars/recompile_limit.lark`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import LogLine

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_GLUED = re.compile(
    r"(?<!\S)(?P<level>WARNING|ERROR):(?P<logger>[A-Za-z_][\w.]{0,300}):(?=torch\S* hit recompilation)"
)


def read_limit_line(log: Log, line: Line) -> bool:
    """Claim the warning as a message of one line."""
    found = _GLUED.search(line.text) if " hit recompilation" in line.text else None
    if found is None:
        return False
    at = bytes(log.data[line.start : line.end]).find(found[0].encode())
    if at < 0:
        return False
    own = log.line(line.start + at) if at else line
    span = log.claim("torch_logs", [own])
    log.messages.append(
        LogLine(
            level=found["level"],
            time="",
            process=0,
            module=found["logger"],
            module_line=0,
            compile_id=None,
            artifact=None,
            rank=line.rank,
            text=line.text[found.end() :],
            lines=range(span.line, span.line + 1),
            span=span,
            style="short",
        )
    )
    return True
