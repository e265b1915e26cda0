"""Where each byte of an unwrapped text stands in the log that it was cut out of."""

from __future__ import annotations

import bisect
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable

Range = tuple[int, int]


class ByteMap:
    """Runs of kept bytes: where each begins in the text, and in the log; what was taken off stands before it.

    The ranges of the log that belong to the runs are disjoint and together hold the whole log.

    Attributes:
        starts: offset in the text of each run; ascending.
        outer: offset in the log where what belongs to a run begins, its prefix with it.
        inner: offset in the log of a run's first kept byte.
        widths: where not 0, a run is whole lines, and each of them lost so many bytes at its beginning.
    """

    def __init__(self) -> None:
        self.starts = array("q")
        self.outer = array("q")
        self.inner = array("q")
        self.widths = array("q")
        self.data: bytes | mmap.mmap = b""

    def add(self, start: int, outer: int, inner: int, width: int = 0) -> None:
        """Note a run."""
        self.starts.append(start)
        self.outer.append(outer)
        self.inner.append(inner)
        self.widths.append(width)

    def extend(self, starts: list[int], outer: Iterable[int], inner: Iterable[int]) -> None:
        """Note runs without widths."""
        self.starts.extend(starts)
        self.outer.extend(outer)
        self.inner.extend(inner)
        self.widths.frombytes(bytes(8 * len(starts)))

    def shifted(self, other: ByteMap, by: int) -> None:
        """Take over the runs of another map, whose text begins at `by` of this one's."""
        self.starts.extend(other.starts if not by else array("q", [start + by for start in other.starts]))
        self.outer.extend(other.outer)
        self.inner.extend(other.inner)
        self.widths.extend(other.widths)

    def _lost(self, run: int, at: int) -> int:
        """Return how many bytes the lines of a run lost before the line of an offset."""
        width = self.widths[run]
        return width * bytes(self.data[self.starts[run] : at]).count(b"\n") if width else 0

    def begin(self, at: int) -> int:
        """Return where in the log a range that begins at `at` begins."""
        run = bisect.bisect_left(self.starts, at)
        if run < len(self.starts) and self.starts[run] == at:
            return self.outer[run]
        run -= 1
        whole = self.widths[run] and self.data[at - 1 : at] == b"\n"  # with the prefix of its line
        return (self.outer if whole else self.inner)[run] + at - self.starts[run] + self._lost(run, at)

    def end(self, at: int) -> int:
        """Return where in the log the byte before `at` ends."""
        run = bisect.bisect_right(self.starts, at - 1) - 1
        return self.inner[run] + at - self.starts[run] + self._lost(run, at - 1)

    def ranges(self, start: int, end: int, size: int) -> list[Range]:
        """Return the ranges of the log that the text from `start` to `end` stands for; `size` is the text's."""
        starts = self.starts
        first = bisect.bisect_left(starts, start)
        stop = bisect.bisect_left(starts, end) if end < size else len(starts)
        begins = starts[first:stop].tolist()
        lows, highs = self.outer[first:stop].tolist(), self.inner[first:stop].tolist()
        ends = [*begins[1:], end] if begins else []
        highs = [high + last - begin for high, last, begin in zip(highs, ends, begins, strict=True)]
        if any(self.widths[first:stop]):
            lost = (self._lost(first + n, last - 1) for n, last in enumerate(ends))
            highs = [high + more for high, more in zip(highs, lost, strict=True)]
        if first == len(starts) or starts[first] > start:
            lows.insert(0, self.begin(start))
            highs.insert(0, self.end(min(starts[first] if first < len(starts) else size, end)))
        broken = [n for n in range(1, len(lows)) if lows[n] != highs[n - 1]]
        found = zip([0, *broken], [*broken, len(lows)], strict=True)
        return [(lows[a], highs[b - 1]) for a, b in found if lows[a] < highs[b - 1]]
