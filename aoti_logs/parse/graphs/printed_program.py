"""Graphs that a program printed itself: `print(exported_program)`, `gm.print_readable()`, and the graph in the text of an
error. What they say is read by `parse/graphs/graph.py` and `parse/graphs/exported_program.py`; here their lines are claimed.

Printed by torch/export/exported_program.py (`ExportedProgram.__str__`) and torch/fx/graph_module.py.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.message import begins_other

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_PROGRAM = "ExportedProgram:"
_HEAD = re.compile(r"[ \t]*(?:class \w+\(torch\.nn\.Module\):|def forward\(self\b)")
_PART = re.compile(r"(?:Graph signature:|Range constraints:)")
_MOST = 200_000
_BLANKS = 3  # between the parts of a program


def read_printed_program(log: Log, line: Line) -> bool:
    """Claim a program or graph that begins on this line."""
    text = line.text
    if text.rstrip() != _PROGRAM and not _HEAD.match(text):
        return False
    program = text.rstrip() == _PROGRAM
    indent = len(text) - len(text.lstrip())
    lines = [line]
    blanks: list[Line] = []
    now = log.after(line)
    while now is not None and len(lines) < _MOST:
        body = now.text
        if not body.strip():
            blanks.append(now)
            if len(blanks) > _BLANKS:
                break
        elif begins_other(body):
            break
        elif _belongs(body, indent, program=program):
            lines += [*blanks, now]
            blanks = []
            if body.startswith("Range constraints:") and body.rstrip().endswith("}"):
                break
        else:
            break
        now = log.after(now)
    if len(lines) == 1:
        return False
    log.claim("printed_graph", lines)
    return True


def _belongs(text: str, indent: int, *, program: bool) -> bool:
    if program and _PART.match(text):
        return True
    return len(text) - len(text.lstrip()) > indent
