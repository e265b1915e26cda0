"""Where one run begins and ends in a log that holds several.

A shell's command line or an exit code between two lines means that they come from different
processes: the numbers of one say nothing about the failure of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.parse.events import LogEvents


@dataclass(frozen=True)
class Episode:
    """The events of one run within a log, and its borders as byte offsets."""

    events: LogEvents
    start: int
    end: int


def episode_of(events: LogEvents, offset: int) -> Episode:
    """Return the run that an offset belongs to; without borders the whole log is one run."""
    start, end = 0, 2**63
    for note in events.notes:
        if note.kind == "command":
            if note.span.start <= offset:
                start = max(start, note.span.start)
            else:
                end = min(end, note.span.start)
        elif note.kind == "exit":
            if note.span.start < offset:
                start = max(start, note.span.end)
            else:
                end = min(end, note.span.end)
    if (start, end) == (0, 2**63):
        return Episode(events, start, end)
    own = replace(
        events,
        assertions=tuple(a for a in events.assertions if start <= a.first.start < end),
        errors=tuple(e for e in events.errors if start <= e.span.start < end),
        stacks=tuple(s for s in events.stacks if start <= s.span.start < end),
        dumps=tuple(d for d in events.dumps if start <= d.span.start < end),
        notes=tuple(n for n in events.notes if start <= n.span.start < end),
    )
    return Episode(own, start, end)
