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

TRIPLE = rb"[0-9]{1,18}+,[0-9]{1,18}+,[0-9]{1,18}+"
_BLOCK = re.compile(TRIPLE)
# No possessive group: Python before 3.11.5 loses what such a group captured (gh-101955, gh-106052).
_RUN = re.compile(rb"(%b)\], thread: \[(%b\n(?:\1\], thread: \[%b\n){0,1023})" % (TRIPLE, TRIPLE, TRIPLE))
_LONGEST_BLOCK = 57


class Numbers:
    """Lines `x,y,z], thread: [x,y,z` from the beginning of a text on, as far as there are such.

    Attributes:
        text: the lines, each with its line feed.
        count: how many there are.
        whole: there is nothing else in the text.
        runs: of lines that follow each other and have the same block: (block, lines of their threads).
    """

    __slots__ = ("count", "runs", "text", "whole")

    def __init__(self, text: bytes) -> None:
        self.runs: list[tuple[bytes, bytes]] = []
        at, threads = 0, b""
        while at < len(text):
            block = text[at : text.find(b"]", at, at + _LONGEST_BLOCK)]
            if threads and _BLOCK.fullmatch(block):
                # Most blocks print the same threads: one comparison tells that this one does.
                head = block + BETWEEN
                run = head + threads[:-1].replace(b"\n", b"\n" + head) + b"\n"
                if text.startswith(run, at):
                    self.runs.append((block, threads))
                    at += len(run)
                    continue
            found = _RUN.match(text, at)
            if found is None:
                break
            block, run = found.groups()
            threads = run.replace(block + BETWEEN, b"")
            self.runs.append((block, threads))
            at = found.end()
        self.whole = at == len(text)
        self.text: bytes = text[:at]
        self.count = self.text.count(b"\n")


class Threads:
    """The distinct (block, thread) pairs of one assertion."""

    def __init__(self) -> None:
        self._of_block: dict[bytes, frozenset[bytes] | set[bytes]] = {}
        self._runs: dict[bytes, frozenset[bytes]] = {}
        self._first: dict[bytes, None] = {}

    def add(self, numbers: Numbers) -> None:
        """Add pairs."""
        self.add_runs(numbers.runs)

    def add_runs(self, runs: Iterable[tuple[bytes, bytes]]) -> None:
        """Add pairs as (block, lines of threads)."""
        of_block = self._of_block
        for block, text in runs:
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

    def silent(self) -> tuple[Triple, tuple[int, int]] | None:
        """Return a block, a thread of it that printed nothing, and one that did (`silent.py` says which)."""
        from aoti_logs.parse.asserts.silent import silent_thread

        return silent_thread(self._of_block.items())

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
