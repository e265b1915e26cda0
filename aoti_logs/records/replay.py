"""The interned strings of a trace while its records are read one after the other: faster than asking for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex


class Replay:
    """The strings as they stand at a record; records must be asked about in file order.

    Args:
        index: the trace.
    """

    def __init__(self, index: TraceIndex) -> None:
        self._index = index
        self._coming = sorted(
            (at, process, number, text)
            for (process, number), defined in index.string_definitions.of_process.items()
            for at, text in zip(defined.numbers, defined.texts, strict=True)
        )
        self._next = 0
        self._of_all: dict[int, str] = {}
        self._of_process: dict[int, dict[int, str]] = {}
        self._own: dict[int, str] = {}

    def go_to(self, record: int, process: int) -> None:
        """Go to a record, of which the process is given."""
        coming = self._coming
        while self._next < len(coming) and coming[self._next][0] < record:
            _, owner, number, text = coming[self._next]
            self._of_process.setdefault(owner, {})[number] = text
            self._of_all[number] = text
            self._next += 1
        self._own = self._of_process.get(process, {})

    def find(self, number: int) -> str | None:
        """Return a string, None when nothing defines it before its use."""
        found = self._own.get(number)
        if found is None:
            found = self._of_all.get(number)
        return self._index.inherited(number) if found is None else found
