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
    found: list[ErrorText] = []
    open_: list[ErrorText] = []  # each inside of the one before
    for error in placed:
        while open_ and not _holds(open_[-1], error):
            found.append(open_.pop())
        open_.append(error)
    return [*found, *reversed(open_)]


def _holds(outer: ErrorText, inner: ErrorText) -> bool:
    within = inner.within
    return within is not None and outer.span.start <= within.start and within.end <= outer.span.end
