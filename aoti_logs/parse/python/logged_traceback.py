"""The exceptions that a message of torch's loggers holds: its lines without their prefix, read like those of any log.

Format: a sentence with the traceback below it, as Python's `logging.Formatter` puts it there for `exc_info=True`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.lines import Log
from aoti_logs.parse.python.frames import is_frame
from aoti_logs.parse.python.traceback import is_header, read_block
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.events import ErrorText, LogLine

_MOST = 4  # tracebacks of one message
_LONGEST = 1 << 20


def exceptions_in(message: LogLine) -> Sequence[ErrorText]:
    """Return the exceptions of a message's tracebacks, innermost first; of a traceback that is printed again nothing."""
    if len(message.text) > _LONGEST:
        return ()
    rows = message.text.split("\n")
    if not any(is_header(row) or is_frame(row) for row in rows):
        return ()
    log = Log(_source(message))
    found: dict[tuple[str | None, str], ErrorText] = {}
    at, blocks = 0, 0
    while at < log.size and blocks < _MOST:
        line = log.line(at)
        block = read_block(log, line) if is_header(line.text) or is_frame(line.text) else None
        if block is None:
            at = max(line.end, at + 1)
            continue
        blocks += 1
        at = max(max((row.end for row in block.lines), default=line.end), at + 1)
        for error in block.errors:
            found.setdefault((error.exception_type, error.text), replace(error, rank=message.rank))
    return tuple(found.values())


def _source(message: LogLine) -> Source:
    own = message.span.source
    data = message.text.encode("utf-8", "surrogatepass")
    return Source(
        own.name,
        Kind.LOG,
        lambda: data,
        parent=own,
        parent_lines=message.lines if isinstance(message.lines, range) else list(message.lines),
        role=own.role,
        rank=own.rank,
    )
