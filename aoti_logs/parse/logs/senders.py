"""Gives each event of a wrapped log the sender of its first line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from aoti_logs.parse.logs.peel import peel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import Assertion, Dump, ErrorText, LogLine, Stack
    from aoti_logs.parse.logs.peel import Peeled, Wrapping
    from aoti_logs.parse.logs.sender import Sender
    from aoti_logs.sources.source import Source, Span

    Sent = TypeVar("Sent", Assertion, Dump, ErrorText, LogLine)

_LONGEST = 1 << 16


class Senders:
    """Who sent which line of a log."""

    def __init__(self, source: Source, wrapping: Wrapping) -> None:
        self._data = source.data
        self._wrapping = wrapping
        self._stacks: dict[int, Stack] = {}

    def of(self, span: Span) -> Sender:
        """Return who sent the line that a span begins on.

        What a logger writes stands only on the first line of a message: the line below has it too.
        """
        at = self._data.rfind(b"\n", max(0, span.start - _LONGEST), span.start) + 1
        own = self._line(at)
        if own.sender.time is None and at > 1:
            above = self._line(self._data.rfind(b"\n", max(0, at - _LONGEST), at - 1) + 1)
            if above.stream == own.stream and own.sender.rank in {None, above.sender.rank}:
                return above.sender
        return own.sender

    def _line(self, at: int) -> Peeled:
        end = self._data.find(b"\n", at, at + _LONGEST)
        raw = bytes(self._data[at : end if end >= 0 else at + _LONGEST])
        return peel(raw, self._wrapping)

    def told(self, events: Iterable[Sent]) -> list[Sent]:
        """Return the events with their senders, and with their ranks where they do not know them."""
        return [self._told(event) for event in events]

    def _told(self, event: Sent) -> Sent:
        span: Span = getattr(event, "span", None) or getattr(event, "first")  # noqa: B009 an Assertion has no span
        sender = self.of(span)
        changes: dict[str, object] = {"sender": sender}
        changes["rank"] = sender.rank if event.rank is None else event.rank
        stack = getattr(event, "stack", None)
        if stack is not None:
            changes["stack"] = self.stack(stack)
        return replace(event, **changes)  # type: ignore[arg-type]

    def stack(self, stack: Stack) -> Stack:
        """Return a stack with its sender; of one stack always the same."""
        found = self._stacks.get(id(stack))
        if found is None:
            found = self._stacks[id(stack)] = replace(stack, sender=self.of(stack.span))
        return found
