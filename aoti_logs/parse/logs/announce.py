"""Literals that announce something readable, so that free text is passed over at memory speed."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable

_BLOCK = 1 << 20
_NEAR = 1 << 14  # where the caller passes over long stretches, the next place tends to be near


class Announcer:
    """Finds the next place where any of many literals stands.

    Each literal's next place in a block is kept, so that every literal passes over the data once; that
    is several times faster than one regular expression with as many branches.

    Args:
        data: the bytes to look through. Blocks of them are copied: searching in a memory map is slow.
        literals: what to look for; one that begins with a newline stands at the start of a line.
        passing: the caller passes over long stretches from most places. A literal is then looked for no
            further than to the first place of another; with many literals that would cost more.
    """

    def __init__(self, data: bytes | mmap.mmap, literals: Iterable[bytes], *, passing: bool = False) -> None:
        self._data = data
        self._passing = passing
        words = tuple(dict.fromkeys(literals))
        self._at_start = tuple(word for word in words if word[:1] == b"\n")
        self._anywhere = tuple(word for word in words if word[:1] != b"\n")
        self._overlap = max(map(len, words))
        self._block = b""
        self._low = self._high = 0
        self._heap: list[tuple[int, bytes]] = []

    def _load(self, low: int, high: int) -> None:
        end = high + self._overlap
        self._block = bytes(self._data[low - 1 : end]) if low else b"\n" + bytes(self._data[:end])
        self._low, self._high = low, high
        if self._passing:
            self._heap = [(low - 1, word) for word in self._anywhere + self._at_start]
            return
        find, base = self._block.find, low - 1
        heap = [(base + at, word) for word in self._anywhere if (at := find(word, 1)) > 0]
        heap += [(low + at, word) for word in self._at_start if (at := find(word)) >= 0]
        self._heap = [place for place in heap if place[0] < high]
        heapq.heapify(self._heap)

    def _find(self, literal: bytes, at: int, stop: int) -> int:
        """Return the offset of a literal in the block from `at` to before `stop`, or -1; behind its newline."""
        base = self._low - (0 if literal[:1] == b"\n" else 1)
        found = self._block.find(literal, at - base, stop - base + len(literal) - 1)
        return -1 if found < 0 else base + found

    def next(self, at: int, stop: int) -> int | None:
        """Return the first place from `at` to before `stop`, or None; `at` must not decrease."""
        size = _NEAR if self._passing else _BLOCK
        while at < stop:
            if not self._low <= at < self._high:
                self._load(at, min(at + size, stop))
                size = _BLOCK
            heap, bound = self._heap, self._high
            while heap and heap[0][0] < at:
                literal = heap[0][1]
                found = self._find(literal, at, bound)
                if found >= 0 and self._passing:
                    bound = found
                if found >= 0 or bound < self._high:
                    # Where it is, or where another is: there it is looked for again.
                    heapq.heapreplace(heap, (found if found >= 0 else bound, literal))
                else:
                    heapq.heappop(heap)
            if heap:
                return heap[0][0] if heap[0][0] < stop else None
            at = self._high
        return None
