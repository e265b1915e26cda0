"""The interned strings of a trace, as they stand at one of its records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.records.envelope import natural

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex, TraceRecord


@dataclass
class Defined:
    """The definitions of one id in file order: numbers of the defining records, and the strings."""

    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def before(self, number: int) -> str | None:
        """Return the string as it stands at a record, None before its first definition."""
        at = bisect_left(self.numbers, number) - 1
        return self.texts[at] if at >= 0 else None


@dataclass
class Definitions:
    """Every definition of every id, of all processes and of each."""

    of_all: dict[int, Defined] = field(default_factory=dict)
    of_process: dict[tuple[int, int], Defined] = field(default_factory=dict)

    def add(self, number: int, text: str, record: int, process: int) -> None:
        """Note that a record defines an id."""
        for defined in (
            self.of_all.setdefault(number, Defined()),
            self.of_process.setdefault((process, number), Defined()),
        ):
            defined.numbers.append(record)
            defined.texts.append(text)


def definitions(index: TraceIndex) -> Definitions:
    """Collect the `str` records, `{"str": ["file.py", 3]}`."""
    table = Definitions()
    for record in index.find("str"):
        value = record.metadata
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
            number = natural(value[1])
            if number is not None:
                table.add(number, value[0], record.number, record.process)
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
        found = self.find(number)
        if found is None:
            raise KeyError(number)
        return found

    def find(self, number: int) -> str | None:
        """Return the string, None when nothing defines it before its use."""
        table, at = self._index.string_definitions, self._at
        defined = table.of_all.get(number)
        if defined is not None:
            if at is None:
                return defined.texts[-1]
            own = table.of_process.get((at.process, number)) if len(defined.numbers) > 1 else None
            found = own.before(at.number) if own is not None else None
            found = defined.before(at.number) if found is None else found
            if found is not None:
                return found
        return self._index.inherited(number)

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._index.string_definitions.of_all if number in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
