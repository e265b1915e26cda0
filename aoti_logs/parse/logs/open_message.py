"""A message of torch's loggers while its lines are gathered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.events import LogLine
from aoti_logs.parse.logs.torch_logs_heads import message_starts

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Log
    from aoti_logs.parse.logs.log_prefix import Prefix


@dataclass
class OpenMessage:
    """A message that may go on: its lines without prefix, where each begins and ends in bytes, and its number from 1.

    `again` are the rows (from 0) behind the first that have the prefix again, where the style does not say that.
    """

    prefix: Prefix
    texts: list[bytes] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)

    def add(self, text: bytes, start: int, end: int, number: int) -> None:
        """Add a line."""
        self.texts.append(text)
        self.starts.append(start)
        self.ends.append(end)
        self.numbers.append(number)

    def close(self, log: Log) -> None:
        """Give the lines to the log as one message, or as several where their beginnings tell them apart."""
        raw = b"\n".join(t[:-1] if t[-1:] == b"\n" else t for t in self.texts)
        rows = [r.removesuffix("\r") for r in raw.decode("utf-8", "replace").split("\n")]
        if self.prefix.style == "default":
            rows = [r.removeprefix(" ") for r in rows]
        starts = message_starts(rows)
        for first, last in zip(starts, [*starts[1:], len(rows)], strict=True):
            log.messages.append(self._message(log, rows, first, last))

    def _message(self, log: Log, rows: list[str], first: int, last: int) -> LogLine:
        p, own = self.prefix, self.numbers[first:last]
        in_a_row = own[-1] - own[0] + 1 == len(own)
        return LogLine(
            level=p.level,
            time=p.time,
            process=p.process,
            module=p.module,
            module_line=p.module_line,
            compile_id=p.compile_id,
            artifact=p.artifact,
            rank=p.rank,
            text="\n".join(rows[first:last]),
            lines=range(own[0], own[0] + len(own)) if in_a_row else tuple(own),
            span=log.span(self.starts[first], self.ends[last - 1]),
            style=p.style,
            prefixed=1 + sum(first < row < last for row in self.again) if self.again else None,
        )
