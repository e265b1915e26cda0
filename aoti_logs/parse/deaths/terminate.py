"""`terminate called ...` and its `what()`: what libstdc++ prints before it aborts, also from several threads at once.

Format: `grammars/error.lark`; libstdc++ libsupc++/vterminate.cc. It writes the line in three pieces, so another
thread's `terminate called recursively` may stand within it. libc++abi's cxa_default_handlers.cpp prints one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.message import Further, Message, read_message
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log

_PARTS = re.compile(r"(?=terminate called (?:after|recursively|without))")
_LIBCXX = re.compile(
    r"libc\+\+abi(?:\.dylib)?: terminating (?:due to|with)(?: an?)? (?:uncaught|unexpected) exception of type (?P<type>[\w:<>, ]+?)"
    r"(?:: (?P<text>.*))?$"
)
_RECURSIVE = "terminate called recursively"
_THREADS = 64  # lines of other threads between an exception's type and its text

Termination = tuple[Message, str, str | None]
"""Its lines, the exception's text (or the line itself where there is no exception), the exception's type."""


def terminations(log: Log, line: Line) -> list[Termination]:
    """Return what a line says, one entry for each thread that speaks in it; none where it is something else."""
    text = line.text.strip()
    libcxx = _LIBCXX.match(text)
    if libcxx is not None:
        said = libcxx["text"] or ""
        return [(read_message(log, line, said, Further.KNOWN), said, libcxx["type"])]
    found: list[Termination] = []
    for part in _PARTS.split(text):
        read = fields("error", "terminate", part.strip()) if part.strip() else None
        if read is None:
            continue
        kind = first(read, "TYPE")
        thrown = "RECURSIVELY" not in read and "WITHOUT" not in read
        message = _with_text(log, line) if thrown and not any(m.texts[0] for m, _, _ in found) else None
        if message is not None:
            found.append((message, message.texts[0], kind))
        else:
            found.append((Message([line], [part.strip()]), "" if thrown else part.strip(), kind))
    return found


def _with_text(log: Log, line: Line) -> Message | None:
    """Read the `what()` below, with lines of other threads between."""
    below = log.after(line)
    for _ in range(_THREADS):
        if below is None:
            return None
        what = fields("error", "what", below.text.strip())
        if what is not None:
            message = read_message(log, below, first(what, "TEXT") or "", Further.ANY)
            message.lines.insert(0, line)
            return message
        if below.text.strip() != _RECURSIVE:
            return None
        below = log.after(below)
    return None
