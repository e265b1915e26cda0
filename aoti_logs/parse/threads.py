"""Which threads of which blocks failed: exact counts, and the first of each in order of appearance.

A storm prints whole warps of a block one after another. Such a run is taken at once: its threads are mostly
those of runs before, only of another block.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Triple = tuple[int, int, int]

KEEP = 1024
"""At most so many distinct blocks and threads are listed; counts are always exact."""

BETWEEN = b"], thread: ["
_REMEMBERED = 4096  # different runs of threads

_TRIPLE = rb"[0-9]{1,18}+,[0-9]{1,18}+,[0-9]{1,18}+"
# No possessive group: Python before 3.11.5 loses what such a group captured (gh-101955, gh-106052).
_RUNS = re.compile(
    rb"(%b)\], thread: \[(%b\n(?:\1\], thread: \[%b\n){0,1023})|((?s:.+))" % (_TRIPLE, _TRIPLE, _TRIPLE)
)


class Numbers:
    """Lines `x,y,z], thread: [x,y,z` from the beginning of a text on, as far as there are such.

    Attributes:
        text: the lines, each with its line feed.
        count: how many there are.
        whole: there is nothing else in the text.
        runs: lines that follow each other and have the same block: (block, thread and further lines).
    """

    __slots__ = ("count", "runs", "text", "whole")

    def __init__(self, text: bytes) -> None:
        runs = _RUNS.findall(text)
        rest = runs.pop()[2] if runs and runs[-1][2] else b""
        self.whole = not rest
        self.text: bytes = text[: len(text) - len(rest)]
        self.count = self.text.count(b"\n")
        self.runs: list[tuple[bytes, bytes, bytes]] = runs


class Threads:
    """The distinct (block, thread) pairs of one assertion."""

    def __init__(self) -> None:
        self._of_block: dict[bytes, frozenset[bytes] | set[bytes]] = {}
        self._runs: dict[bytes, frozenset[bytes]] = {}
        self._first: dict[bytes, None] = {}

    def add(self, numbers: Numbers) -> None:
        """Add pairs."""
        of_block = self._of_block
        for block, run, _ in numbers.runs:
            text = run.replace(block + BETWEEN, b"")
            threads = self._runs.get(text)
            if threads is None:
                threads = self._remember(text)
            known = of_block.setdefault(block, threads)
            if known is threads:
                continue
            if isinstance(known, set):
                known |= threads
            else:
                of_block[block] = {*known, *threads}

    def _remember(self, run: bytes) -> frozenset[bytes]:
        threads = run.splitlines()
        if len(self._first) < KEEP:
            self._first.update(dict.fromkeys(threads))
        if len(self._runs) >= _REMEMBERED:
            self._runs.clear()
        self._runs[run] = frozenset(threads)
        return self._runs[run]

    @property
    def n_pairs(self) -> int:
        """How many distinct pairs there are."""
        return sum(map(len, self._of_block.values()))

    @property
    def n_blocks(self) -> int:
        """How many distinct blocks there are."""
        return len(self._of_block)

    def blocks(self) -> tuple[Triple, ...]:
        """Return the first blocks in order of appearance."""
        return _triples(self._of_block)

    def threads(self) -> tuple[Triple, ...]:
        """Return the first thread indices in order of appearance, whatever their block."""
        return _triples(self._first)


def _triples(found: Iterable[bytes]) -> tuple[Triple, ...]:
    rows: list[Triple] = []
    for text in found:
        if len(rows) == KEEP:
            break
        x, y, z = (int(n) for n in text.split(b","))
        rows.append((x, y, z))
    return tuple(rows)
