"""How much of a log torch's loggers wrote: prefixed lines and messages by artifact, by logger, and by what they print."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.whole_messages import readable_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import LogLine

_UNFOLDED = {"default"}
NO_LOGGER = "warnings"
"""Style of Python's warnings, which no logger wrote."""


@dataclass
class Totals:
    """What some messages have in common: counts, and each value that occurs, in the order of first occurrence."""

    line: int
    n_messages: int = 0
    n_lines: int = 0
    n_records: int = 0
    """Lines that have a prefix: all lines in the default style and, since torch 2.1, in brackets; else one a message."""
    last_line: int = 0
    styles: dict[str, None] = field(default_factory=dict)
    levels: dict[str, None] = field(default_factory=dict)
    loggers: dict[str, None] = field(default_factory=dict)
    compile_ids: dict[str, None] = field(default_factory=dict)
    ranks: dict[int, None] = field(default_factory=dict)
    processes: dict[int, None] = field(default_factory=dict)

    def add(self, message: LogLine) -> None:
        """Count a message."""
        self.n_messages += 1
        self.n_lines += len(message.lines)
        self.n_records += prefixed_lines(message)
        self.last_line = max(self.last_line, message.lines[-1])
        self.styles[message.style] = self.levels[message.level] = None
        self.loggers[logger_of(message)] = None
        compile_id = readable_id(message)
        if compile_id is not None:
            self.compile_ids[compile_id] = None
        if message.rank is not None:
            self.ranks[message.rank] = None
        if message.process:
            self.processes[message.process] = None


def prefixed_lines(message: LogLine) -> int:
    """Return how many of a message's lines have a prefix."""
    if message.prefixed is not None:
        return message.prefixed
    return len(message.lines) if message.style in _UNFOLDED else 1


def logger_of(message: LogLine) -> str:
    """Return the logger as printed, `torch._dynamo.guards.__guards`; the file where the style has that instead."""
    named = message.style not in {"default", "cpp"} and message.artifact
    return f"{message.module}.__{message.artifact}" if named else message.module


def totals(messages: Iterable[LogLine]) -> Totals | None:
    """Return the totals of all messages, None for none."""
    total: Totals | None = None
    for message in messages:
        total = total or Totals(message.lines[0])
        total.add(message)
    return total


def totals_by_artifact(messages: Iterable[LogLine]) -> dict[tuple[str | None, str | None], Totals]:
    """Return totals by (artifact, None) for artifacts, and by (None, logger or file) for all other messages."""
    found: dict[tuple[str | None, str | None], Totals] = {}
    for message in messages:
        key = (message.artifact, None) if message.artifact else (None, message.module)
        if key not in found:
            found[key] = Totals(message.lines[0])
        found[key].add(message)
    return found
