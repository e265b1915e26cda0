"""The interned strings of a trace, as they stand at one of its records."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex, TraceRecord

Definitions = dict[int, list[tuple[int, int, str]]]
"""Of each id, in file order: number of the defining record, process, string."""


def definitions(index: TraceIndex) -> Definitions:
    """Collect the `str` records, `{"str": ["file.py", 3]}`."""
    table: Definitions = {}
    for record in index.find("str"):
        value = record.metadata
        if isinstance(value, list) and len(value) == 2 and isinstance(value[1], int):
            table.setdefault(value[1], []).append((record.number, record.process, str(value[0])))
    return table


class Strings(Mapping[int, str]):
    """Id to string.

    Ids count per process, so a file of several processes or of several runs defines one id more
    than once: the last definition before the use counts, the own process's first. An id that the
    file does not define is looked for in the parent process's trace.

    Args:
        index: the trace.
        at: the record that uses the strings; the end of the file if None.
    """

    def __init__(self, index: TraceIndex, at: TraceRecord | None = None) -> None:
        self._index = index
        self._at = at

    def __getitem__(self, number: int) -> str:
        """Return the string; KeyError when nothing defines it before its use."""
        defined = self._index.string_definitions.get(number, [])
        if self._at is not None:
            defined = defined[: bisect.bisect_left(defined, (self._at.number,))]
            process = self._at.process if len(defined) > 1 else 0
            defined = [d for d in defined if d[1] == process] or defined
        if defined:
            return defined[-1][2]
        if self._index.parent is not None:
            return self._index.parent.strings[number]
        raise KeyError(number)

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._index.string_definitions if number in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
