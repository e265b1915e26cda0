"""Where one run begins and ends in a log that holds several.

A shell's command line or an exit code between two lines means that they come from different
processes: the numbers of one say nothing about the failure of the other.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Span

T = TypeVar("T")


@dataclass(frozen=True)
class Episode:
    """The events of one run within a log, and its borders as byte offsets."""

    events: LogEvents
    start: int
    end: int


class Episodes:
    """The runs of a log; without borders the whole log is one run."""

    def __init__(self, events: LogEvents) -> None:
        self._events = events
        begun = {n.span.start for n in events.notes if n.kind == "command"}
        ended = {n.span.end for n in events.notes if n.kind == "exit"}
        self._borders = sorted({0, 2**63} | begun | ended)

    def of(self, offset: int) -> Episode:
        """Return the run that an offset belongs to."""
        number = self._number(offset)
        return Episode(self._runs[number], *self._borders[number : number + 2])

    def _number(self, offset: int) -> int:
        return bisect.bisect_right(self._borders, offset) - 1

    @cached_property
    def _runs(self) -> dict[int, LogEvents]:
        events = self._events
        runs = range(len(self._borders) - 1)
        if len(runs) == 1:
            return {0: events}
        assertions = self._apart((a.first, a) for a in events.assertions)
        errors = self._apart((e.span, e) for e in events.errors)
        stacks = self._apart((s.span, s) for s in events.stacks)
        dumps = self._apart((d.span, d) for d in events.dumps)
        notes = self._apart((n.span, n) for n in events.notes)
        return {
            n: replace(
                events,
                assertions=tuple(assertions.get(n, ())),
                errors=tuple(errors.get(n, ())),
                stacks=tuple(stacks.get(n, ())),
                dumps=tuple(dumps.get(n, ())),
                notes=tuple(notes.get(n, ())),
            )
            for n in runs
        }

    def _apart(self, items: Iterable[tuple[Span, T]]) -> dict[int, list[T]]:
        parts: dict[int, list[T]] = {}
        for span, item in items:
            parts.setdefault(self._number(span.start), []).append(item)
        return parts
