"""AOTInductor compiles of a trace, told apart: torch gives their records no compile id.

`torch/_inductor/compile_fx.py` frames each in a chromium event `compile_fx_aot`, whose begin and end stand
in the file before and after the compile's other records. Before torch 2.7 there is no such event; there the
dump of the wrapper ends a compile.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

_EVENT = b'"compile_fx_aot"'
_WRAPPERS = ("graph_dump:inductor_aot_wrapper_code", "graph_dump:inductor_aot_code")
# What a compile writes before its wrapper: after a wrapper, the first of them begins the next compile.
_EARLY = re.compile(r"^aot_\w+_graph|_(?:pre|post)_grad|^(?:before|after)_\w+_graph$|^fx_graph_runnable$")
_LATE = re.compile(
    r"^inductor_(?:aot|provenance|triton_kernel|runtime)|^triton_kernel_info$|^compilation_metrics$"
)

Stretch = tuple[int, int, int]
"""First record, last record (both included), process (0 where all of the file are of one)."""


class AotCompiles:
    """Which records belong to which AOTInductor compile.

    Args:
        index: the trace.
    """

    def __init__(self, index: TraceIndex) -> None:
        self.stretches: list[Stretch] = []
        """The compiles in file order; number N is `aoti/N`."""
        self.unfinished: set[int] = set()
        """Numbers of the compiles of which no end was recorded."""
        self._turns: dict[int, list[tuple[int, int | None]]] = {}
        events = list(_events(index))
        if any(phase == "B" for _, phase, _ in events):
            self._by_events(events, len(index) - 1)
        else:
            for number, stretch in enumerate(_by_dumps(index)):
                first, last, process = stretch
                self.stretches.append(stretch)
                self._turn(process, first, number)
                self._turn(process, last + 1, None)
                if last == len(index) - 1 and not _ends(index, last):
                    self.unfinished.add(number)

    def __len__(self) -> int:
        """Return how many compiles there are."""
        return len(self.stretches)

    def of(self, number: int, process: int | None = None) -> int | None:
        """Return the compile that a record without compile id belongs to.

        None where no compile was under way, and where several threads compiled at once: their records
        cannot be told apart, not even when all but one have ended, because nothing says which.

        Args:
            number: the record.
            process: its process id, looked at only in a file of several processes.
        """
        turns = self._turns.get(process or 0, [])
        at = bisect_right(turns, number, key=lambda turn: turn[0]) - 1
        return turns[at][1] if at >= 0 else None

    def _turn(self, process: int, at: int, compile_: int | None) -> None:
        """Note which compile is the only one under way in a process from a record on."""
        self._turns.setdefault(process, []).append((at, compile_))

    def _by_events(self, events: list[tuple[int, str, int]], last: int) -> None:
        """Pair the begins with the ends; a begin without end reaches to the end of the file."""
        open_: dict[int, list[int]] = {}
        for at, phase, process in events:
            begun = open_.setdefault(process, [])
            if phase == "B":
                number = len(self.stretches)
                self.stretches.append((at, last, process))
                self._turn(process, at, number)
                if begun:
                    self._turn(process, at + 1, None)
                begun.append(number)
            elif phase == "E" and begun:
                number = begun.pop()
                self.stretches[number] = (self.stretches[number][0], at, process)
                if not begun:
                    self._turn(process, at + 1, None)
        for begun in open_.values():
            self.unfinished.update(begun)


def _ends(index: TraceIndex, number: int) -> bool:
    record = index[number]
    return record.name == "compilation_metrics" or record.key in _WRAPPERS


def _events(index: TraceIndex) -> Iterator[tuple[int, str, int]]:
    """Yield record, phase and process of each `compile_fx_aot` of no compile id (under torch.compile it has one)."""
    for number in _event_records(index):
        record = index[number]
        value = record.json()
        if isinstance(value, dict) and value.get("name") == "compile_fx_aot" and record.compile_id is None:
            yield number, str(value.get("ph")), record.process if index.several_processes else 0


def _event_records(index: TraceIndex) -> Iterator[int]:
    columns, data = index.columns, index.source.data
    for (name, _), numbers in zip(columns.keys, columns.by_key, strict=True):
        if name == "chromium_event":
            for number in numbers:
                if _EVENT in data[columns.head_end[number] : columns.end[number]] or (
                    number in columns.breaks and any(_EVENT in data[s:e] for s, e in columns.breaks[number])
                ):
                    yield number


def _by_dumps(index: TraceIndex) -> Iterator[Stretch]:
    if not any(key in index.counts() for key in _WRAPPERS):
        return
    first, last, dumped, process = -1, -1, False, 0
    for record in index:
        name = record.artifact or record.name
        early, late = _EARLY.search(name) is not None, _LATE.search(name) is not None
        if not (early or late) or record.compile_id is not None:
            continue
        if dumped and early:
            yield first, last, process
            first, dumped = -1, False
        if first < 0:
            first, process = record.number, record.process if index.several_processes else 0
        last = record.number
        dumped = dumped or record.key in _WRAPPERS
    if dumped:
        yield first, last, process
