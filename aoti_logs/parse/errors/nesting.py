"""Errors that are printed inside the message of another: what was raised first stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import ErrorText


def inner_first(errors: Iterable[ErrorText]) -> list[ErrorText]:
    """Sort errors by where they stand, what is printed inside another before it.

    The traceback of a worker process stands inside the message of the exception that hands it on, behind
    that one's first line; but it was raised first.
    """
    placed = sorted(errors, key=lambda e: (e.span.start, -e.span.end))
    outer = {(e.span.start, e.span.end): number for number, e in enumerate(placed)}
    inside: dict[int | None, list[int]] = {}
    for number, error in enumerate(placed):
        inside.setdefault(_holder(error, outer), []).append(number)
    found: list[ErrorText] = []
    todo: list[tuple[int, bool]] = [(number, False) for number in reversed(inside.get(None, []))]
    while todo:
        number, opened = todo.pop()
        if opened or number not in inside:
            found.append(placed[number])
        else:
            todo.append((number, True))
            todo += [(inner, False) for inner in reversed(inside[number])]
    return found


def _holder(error: ErrorText, outer: dict[tuple[int, int], int]) -> int | None:
    """Return the number of the error that this one is printed in; one that is smaller cannot be."""
    within, own = error.within, error.span
    if within is None or not within.start <= own.start <= own.end <= within.end:
        return None
    return outer.get((within.start, within.end)) if within.end - within.start > own.end - own.start else None
