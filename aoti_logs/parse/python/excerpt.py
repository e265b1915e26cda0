"""Source of a kernel in the message of an exception: it has blank lines, and ends in a caret.

triton/compiler/errors.py, `CompilationError`: `at LINE:COLUMN:`, up to twelve lines of source, `^` under the column.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_AT = re.compile(r"(?:.*[\s:])?at \d{1,9}:\d{1,9}:")
_CARET = re.compile(r"\s*\^\s*$")
_LONGEST = 64


def excerpt_below(log: Log, line: Line, text: str) -> list[Line]:
    """Return the lines from below a message's line to the caret; none where no source or no caret follows."""
    if not text.endswith(":") or len(text) > 4096 or not _AT.fullmatch(text.rstrip()):
        return []
    lines: list[Line] = []
    now = log.after(line)
    while now is not None and len(lines) < _LONGEST:
        lines.append(now)
        if _CARET.match(now.text):
            return lines
        if now.text.startswith("Traceback (most"):
            break
        now = log.after(now)
    return []
