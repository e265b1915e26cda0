"""Which of several statements, in program order, can be the last before a given one.

The question is the same for a name (which assignment gave it its tensor?) and for memory (which launch wrote it?).
Control flow is a path of blocks around each statement (`code/buffers/blocks.py`).
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.buffers.blocks import around, exclusive, loops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aoti_logs.code.model import Within

Order = tuple[int, int, int]
"""(launches before it, 0 for other statements and 1 for the launch that follows them, place in its list)."""


@dataclass(frozen=True)
class Event:
    """A statement that can be the last of its kind; `key` is the asker's own number."""

    order: Order
    within: Within
    key: int


class Judged(NamedTuple):
    """What a statement does: `ends` when it certainly replaces all that earlier ones did, `certain` when it
    certainly does something.
    """

    ends: bool = True
    certain: bool = True


@dataclass(frozen=True)
class Reached:
    """Events that can be the last before a statement.

    `keys` go back from it, then come those that an earlier round of a loop can have done. `sure` is the one that
    every run which comes to the statement did last, None when that depends. `is_open` is True when nothing
    certainly ends the search, so that what was there at the start may still be there.
    """

    keys: tuple[int, ...]
    sure: int | None
    is_open: bool


def before(
    events: Sequence[Event],
    order: Order,
    within: Within,
    judge: Callable[[int], Judged | None] = lambda _: Judged(),
    *,
    step: bool = False,
) -> Reached:
    """Return the events that can be the last before a statement.

    Args:
        events: in program order.
        order: of the statement; events at exactly this order are not before it.
        within: the control flow around it.
        judge: says what the event of a key does, None when it does nothing. It is asked only of events that matter.
        step: go back to the last certain event only, even if it does not end the search.
    """
    at = bisect.bisect_left(events, order, key=lambda e: e.order)
    keys, skipped, sure, ended = _walk(events, at, within, judge, step=step)
    for loop in loops(within):
        if ended is not None and around(loop, ended):
            break  # every round does it again before it comes to the statement
        later = []
        for place in range(at, len(events)):
            if not around(loop, events[place].within):
                break
            later.append(events[place])
        for event in (*reversed(later), *(e for e in skipped if around(loop, e.within))):
            judged = judge(event.key)
            if judged is None:
                continue
            if event.key not in keys:
                keys.append(event.key)
            if judged.ends and event.within == loop:
                break
        if sure is not None and len(keys) > 1 and not around(loop, sure.within):
            sure = None  # in the second round another may be the last
    return Reached(tuple(keys), None if sure is None else sure.key, is_open=ended is None)


def _walk(
    events: Sequence[Event],
    at: int,
    within: Within,
    judge: Callable[[int], Judged | None],
    *,
    step: bool,
) -> tuple[list[int], list[Event], Event | None, Within | None]:
    """Go back from a place until an event certainly ends the search.

    Returns the keys passed, the events in arms that exclude the statement, the last event if it is certain, and
    what is around the end (None: it was not found).
    """
    arms: dict[tuple[Within, int], set[int]] = {}
    keys: list[int] = []
    skipped: list[Event] = []
    sure: Event | None = None
    for place in range(at - 1, -1, -1):
        event = events[place]
        if exclusive(event.within, within):
            skipped.append(event)
            continue
        judged = judge(event.key)
        if judged is None:
            continue
        keys.append(event.key)
        if around(event.within, within):
            if len(keys) == 1 and judged.certain:
                sure = event
            if judged.ends or (step and judged.certain):
                return keys, skipped, sure, event.within
        elif judged.ends:
            # `if` and `else` both do it: one of them did.
            path, (number, arm) = event.within[:-1], event.within[-1]
            both = arms.setdefault((path, number), set())
            both.add(arm)
            if {0, 1} <= both and around(path, within):
                return keys, skipped, sure, path
    return keys, skipped, sure, None
