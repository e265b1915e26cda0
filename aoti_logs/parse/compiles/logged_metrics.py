"""Tables of numbers that torch's loggers print when a process ends: compile times, and what caches counted.

Format: `grammars/compile_log.lark`, rules `times` and `counters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.whole_messages import line_of
from aoti_logs.parse.shape import fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

_TIMES = "TorchDynamo compilation metrics:"
_CACHES = "Cache Metrics:"


@dataclass(frozen=True)
class LoggedMetric:
    """One number; `entry` is `compile_times` (seconds) or `cache_metrics` (`LocalFxGraphCache.hit`)."""

    message: LogLine
    line: int
    entry: str
    metric: str
    value: float


def logged_metrics(messages: Iterable[LogLine]) -> Iterator[LoggedMetric]:
    """Yield the numbers in the order of the log."""
    for message in messages:
        if message.text.startswith(_TIMES):
            yield from _times(message)
        elif message.text.startswith(_CACHES):
            yield from _counters(message)


def _times(message: LogLine) -> Iterator[LoggedMetric]:
    for row, text in enumerate(message.text.split("\n")):
        found = fields("compile_log", "times", text.rstrip()) if row else None
        if found is not None:
            value = _number(found["TIME_SPENT"][0])
            if value is not None:
                yield LoggedMetric(message, line_of(message, row), "compile_times", found["TIMED"][0], value)


def _counters(message: LogLine) -> Iterator[LoggedMetric]:
    for row, text in enumerate(message.text.split("\n")):
        found = fields("compile_log", "counters", text.rstrip()) if row else None
        if found is None:
            continue
        cache = found["COUNTED"][0].strip()
        for name, value in zip(found["COUNTER"], found["NUMBER"], strict=True):
            line = line_of(message, row)
            yield LoggedMetric(message, line, "cache_metrics", f"{cache}.{name}", float(value[:300]))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
