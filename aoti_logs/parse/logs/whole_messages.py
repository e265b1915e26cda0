"""Messages of TORCH_LOGS that other output has cut in two, in one piece again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import LogLine


def whole_messages(messages: Iterable[LogLine]) -> list[LogLine]:
    """Join messages of one prefix, between which other processes, threads or the program itself printed.

    Only a prefix with a time says that two pieces are one message, or at least of one instant.
    """
    found: list[LogLine] = []
    known: dict[tuple[object, ...], int] = {}
    for message in messages:
        if not message.time:
            found.append(message)
            continue
        key = (message.time, message.process, message.module, message.module_line, message.compile_id,
               message.artifact, message.rank, message.level)  # fmt: skip
        at = known.get(key)
        if at is None:
            known[key] = len(found)
            found.append(message)
        else:
            found[at] = _joined(found[at], message)
    return found


def _joined(one: LogLine, other: LogLine) -> LogLine:
    span = Span(one.span.source, one.span.start, max(one.span.end, other.span.end))
    return replace(one, text=f"{one.text}\n{other.text}", lines=(*one.lines, *other.lines), span=span)


def readable_id(message: LogLine) -> str | None:
    """Return the compile id of a message without its attempt, as tables have it."""
    return None if message.compile_id is None else message.compile_id.partition("_")[0]


def line_of(message: LogLine, row: int) -> int:
    """Return the line in the log of a row (from 0) of a message's text."""
    lines = message.lines
    if not lines:
        return message.span.line
    return lines[min(row, len(lines) - 1)]
