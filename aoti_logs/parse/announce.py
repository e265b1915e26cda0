"""Literals that announce something readable, so that free text is passed over at memory speed."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable

_BLOCK = 1 << 20


class Announcer:
    """Finds the next place where any of many literals stands.

    Each literal's next place in a block is kept, so that every literal passes over the data once; that
    is several times faster than one regular expression with as many branches.

    Args:
        data: the bytes to look through. Blocks of them are copied: searching in a memory map is slow.
        literals: what to look for; one that begins with a newline stands at the start of a line.
    """

    def __init__(self, data: bytes | mmap.mmap, literals: Iterable[bytes]) -> None:
        self._data = data
        words = tuple(dict.fromkeys(literals))
        self._at_start = tuple(word for word in words if word[:1] == b"\n")
        self._anywhere = tuple(word for word in words if word[:1] != b"\n")
        self._overlap = max(map(len, words))
        self._block = b""
        self._low = self._high = 0
        self._heap: list[tuple[int, bytes]] = []

    def _load(self, low: int, high: int) -> None:
        before = bytes(self._data[low - 1 : low]) if low else b"\n"
        self._block = before + bytes(self._data[low : high + self._overlap])
        self._low, self._high = low, high
        find, base = self._block.find, low - 1
        heap = [(base + at, word) for word in self._anywhere if (at := find(word, 1)) > 0]
        heap += [(low + at, word) for word in self._at_start if (at := find(word)) >= 0]
        self._heap = [place for place in heap if place[0] < high]
        heapq.heapify(self._heap)

    def _find(self, literal: bytes, at: int) -> int:
        """Return the offset of a literal in the block at or after `at`, or -1; behind its newline."""
        line_start = literal[:1] == b"\n"
        found = self._block.find(literal, at - self._low + (0 if line_start else 1))
        if found < 0:
            return -1
        place = self._low + found - (0 if line_start else 1)
        return place if place < self._high else -1

    def next(self, at: int, stop: int) -> int | None:
        """Return the first place from `at` to before `stop`, or None; `at` must not decrease."""
        while at < stop:
            if not self._low <= at < self._high:
                self._load(at, min(at + _BLOCK, stop))
            heap = self._heap
            while heap and heap[0][0] < at:
                literal = heap[0][1]
                found = self._find(literal, at)
                if found >= 0:
                    heapq.heapreplace(heap, (found, literal))
                else:
                    heapq.heappop(heap)
            if heap:
                return heap[0][0] if heap[0][0] < stop else None
            at = self._high
        return None
