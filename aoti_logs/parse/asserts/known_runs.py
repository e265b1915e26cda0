"""Runs of assertion lines that were printed before, of another block.

Most blocks of a storm print the same threads in the same order, so that the next lines are known but for the block: one
comparison tells whether they are these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aoti_logs.parse.asserts.threads import BETWEEN, TRIPLE

_BLOCK = re.compile(TRIPLE)
_LONGEST = 57  # of three numbers with commas
_MOST = 64  # runs that are remembered
_FEWEST = 8  # lines of a run for which this pays


@dataclass(frozen=True, slots=True)
class _Run:
    block: bytes
    threads: bytes
    text: bytes
    """The lines as they were printed."""


class KnownRuns:
    """Runs of lines of one shape.

    Args:
        head: what stands before the block.
        tail: what stands behind the thread, with the line feed.
    """

    def __init__(self, head: bytes, tail: bytes) -> None:
        self._head = head
        self._tail = tail
        self._by_first: dict[bytes, _Run] = {}
        self._last: _Run | None = None

    def learn(self, runs: list[tuple[bytes, bytes]]) -> None:
        """Remember runs, (block, lines of threads) each."""
        whole = runs[-5:-1] or runs  # the last one may be cut
        for block, threads in whole:
            first = threads[: threads.find(b"\n")]
            if threads.count(b"\n") < _FEWEST or (whole is runs and first in self._by_first):
                continue
            if len(self._by_first) >= _MOST:
                self._by_first.clear()
            head = self._head + block + BETWEEN
            text = head + threads[:-1].replace(b"\n", self._tail + head) + self._tail
            self._last = self._by_first[first] = _Run(block, threads, text)

    def take(self, chunk: bytes) -> tuple[list[tuple[bytes, bytes]], int]:
        """Return the runs that a text begins with, and where the last of them ends."""
        found: list[tuple[bytes, bytes]] = []
        at = 0
        while self._last is not None and chunk.startswith(self._head, at):
            start = at + len(self._head)
            block = chunk[start : chunk.find(b"]", start, start + _LONGEST)]
            start += len(block) + len(BETWEEN)
            run = self._beginning(chunk[start : chunk.find(b"]", start, start + _LONGEST)])
            if run is None or not _BLOCK.fullmatch(block):
                break
            again = run.text.replace(self._head[-8:] + run.block + b"]", self._head[-8:] + block + b"]")
            if not chunk.startswith(again, at):
                break
            found.append((block, run.threads))
            at += len(again)
        return found, at

    def _beginning(self, thread: bytes) -> _Run | None:
        """Return a run whose first thread this is: a known one, or the rest of the last one from there on."""
        run = self._by_first.get(thread)
        if run is not None or self._last is None:
            return run
        last = self._last
        row = last.threads.find(b"\n" + thread + b"\n") + 1
        line = self._head + last.block + BETWEEN + thread + self._tail
        at = last.text.find(line)
        return _Run(last.block, last.threads[row:], last.text[at:]) if row and at >= 0 else None
