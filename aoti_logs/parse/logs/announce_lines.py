"""The same as `parse/logs/announce.py` for large texts: polars tells which lines hold any literal.

It looks for all literals at once (Aho-Corasick), so that their number does not count: with a hundred and fifty of them
that takes a seventh of the time of looking for one after the other. Bytes are decoded one to one, whatever they are.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable

_BLOCK = 1 << 22
_RECENT = 4
_PART = 1 << 12
_GAP = 1 << 12  # text between two claims that is looked at alone: what stands around it may be a storm


class LineAnnouncer:
    """Finds the next place where any of many literals stands; a literal that begins with a newline begins a line.

    Args:
        data: the bytes to look through.
        literals: what to look for, in ASCII.
    """

    def __init__(self, data: bytes | mmap.mmap, literals: Iterable[bytes]) -> None:
        self._data = data
        words = tuple(dict.fromkeys(literals))
        self._anywhere = tuple(word for word in words if word[:1] != b"\n")
        self._at_start = tuple(word[1:] for word in words if word[:1] == b"\n")
        self._patterns = [word.decode("latin-1") for word in (*self._anywhere, *self._at_start)]
        self._overlap = max(map(len, words))
        self._recent: list[bytes] = []
        self._high = 0
        self._pieces: list[tuple[int, int]] = []
        self._ends: list[int] = []
        self._next = 0

    def next(self, at: int, stop: int) -> int | None:
        """Return the first place from `at` to before `stop`, or None; `at` must not decrease.

        Of a line that lies behind `at` as a whole it is the beginning: which literal stands where in it is not asked.
        """
        if stop - at <= _GAP and at >= self._high:
            return self._in_gap(at, stop)
        while at < stop:
            if self._next < len(self._pieces) and self._ends[self._next] <= at:
                self._next = bisect.bisect_right(self._ends, at, self._next)
            while self._next < len(self._pieces):
                start, end = self._pieces[self._next]
                if start >= stop:
                    return None
                if end > at:
                    if start >= at and end <= stop and end - start <= _PART:
                        if self._holds(start, end):
                            return start
                    else:
                        found = self._exact(max(at, start), min(end, stop), start)
                        if found is not None:
                            return found
                    if end > stop:
                        return None
                self._next += 1
            if self._high >= len(self._data):
                return None
            self._load(max(self._high, at - self._overlap))
        return None

    def _in_gap(self, at: int, stop: int) -> int | None:
        """Return the first place in a short text, of which nothing is known yet."""
        text = (bytes(self._data[at - 1 : at]) or b"\n") + bytes(self._data[at : stop + self._overlap])
        reach, found = stop - at, -1
        for word in self._anywhere:
            place = text.find(word, 1, reach + len(word)) - 1
            if place >= 0:
                found, reach = place, place
        for word in self._at_start:
            place = text.find(b"\n" + word, 0, reach + len(word) + 1)
            if 0 <= place < reach:
                found, reach = place, place
        return None if found < 0 else at + found

    def _load(self, low: int) -> None:
        import polars as pl

        begin = self._data.rfind(b"\n", max(0, low - _BLOCK), low) + 1
        low = begin or low
        high = min(low + _BLOCK, len(self._data))
        block = bytes(self._data[low : high + self._overlap])
        cut = block.rfind(b"\n", 0, high - low) + 1
        if cut and high < len(self._data):
            block, high = block[:cut], low + cut
        lines = pl.Series(block.decode("latin-1").split("\n"))
        ends = lines.str.len_chars().cast(pl.Int64) + 1
        places = pl.DataFrame({"size": ends, "end": ends.cum_sum()}).filter(
            lines.str.contains_any(self._patterns)
        )
        sizes, ends_of = places["size"].to_list(), places["end"].to_list()
        self._pieces = [(low + end - size, low + end) for size, end in zip(sizes, ends_of, strict=True)]
        self._ends = [low + end for end in ends_of]
        self._next = 0
        self._high = high

    def _holds(self, start: int, end: int) -> bool:
        """Tell whether a line has a literal where it may stand; lines tend to have that of the lines before."""
        text = bytes(self._data[start : end + self._overlap])
        whole = end - start
        for word in self._recent:
            if 0 <= text.find(word, 0, whole + len(word) - 1) < whole:
                return True
        begins = start == 0 or self._data[start - 1 : start] == b"\n"
        if begins and text.startswith(self._at_start):
            return True
        for word in self._anywhere:
            if 0 <= text.find(word, 0, whole + len(word) - 1) < whole:
                self._recent = [word, *self._recent[: _RECENT - 1]]
                return True
        return False

    def _exact(self, low: int, high: int, start: int) -> int | None:
        """Return the first place in a part of a line that begins at `start`."""
        begins = low == start and (start == 0 or self._data[start - 1 : start] == b"\n")
        if begins and bytes(self._data[low : low + self._overlap]).startswith(self._at_start):
            return low
        while (
            low < high
        ):  # part by part: a line may be as long as the log, and have a record at its beginning
            reach = min(high - low, _PART)
            text = bytes(self._data[low : low + reach + self._overlap])
            found = -1
            for word in self._anywhere:
                at = text.find(word, 0, reach + len(word) - 1)
                if at >= 0:
                    found, reach = at, at
            if found >= 0:
                return low + found
            low += _PART
        return None
