"""Runs of device assertion lines that differ in numbers only, counted without looking at each line.

What stands before and after the numbers is known after the grammar has read one line of a kind; the other
lines are told by these ends, and the numbers are checked all at once. Lines that hold more than an assertion
are counted one by one. The results are those of the grammar alone: a property test says so.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.parse.assertion import Printed, Tallies, device_line, place_start
from aoti_logs.parse.lines import unprefixed

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Log

_SMALLEST = 1 << 11
_LARGEST = 1 << 20
_SHAPES = 4096  # beginnings, and kinds of lines, that are remembered
_KNOWN = 8  # kinds that are looked for by their ends
_ALONE = 64  # lines of one kind after which it is not worth to look for others
_MANY = 64  # so many forgotten kinds, and lines are cut one by one

_BLOCK = b"block: ["
_AFTER_START = b"] A"
_DIGITS = b"0123456789"
_NO_DIGITS = b",,], thread: [,,\n"
_EMPTY = (b",,", b"[,", b",]", b",\n", b"\n,")
_AFTER = re.compile(rb"\] Assertion [^\n]*\bfailed\.[ \r]{0,8}")

Shape = tuple[bytes, bytes]
"""What stands before `block: [` and after `] A`."""


def _numeric(rows: list[bytes]) -> bool:
    """Tell whether each row is `x,y,z], thread: [x,y,z`."""
    text = b"\n" + b"\n".join(rows) + b"\n"
    bare = text.translate(None, _DIGITS)
    return bare[1:] == _NO_DIGITS * len(rows) and not any(part in text for part in _EMPTY)


@lru_cache(maxsize=64)
def _line_unlike(start: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n(?!" + re.escape(start) + rb")")


class Runs:
    """Counts runs of assertion lines of one log."""

    def __init__(self, log: Log, tallies: Tallies) -> None:
        self.log = log
        self.tallies = tallies
        self._heads: dict[bytes, tuple[str, int | None, int] | None] = {}
        self._printed: dict[tuple[str, int | None, bytes], Printed | None] = {}
        self._known: dict[Shape, None] = {}
        self._forgotten = 0
        self._size = 1 << 14

    def head(self, before: bytes) -> tuple[str, int | None, int] | None:
        """Return place, rank and number of bytes of other output before it; None when there is no place."""
        if before in self._heads:
            return self._heads[before]
        if len(self._heads) >= _SHAPES:
            self._heads.clear()
        raw = before.decode("utf-8", "replace")
        text, rank = unprefixed(raw)
        begin = place_start(text)
        found = None
        if begin is not None:
            other = text[:begin]
            glued = len(before) - len(text[begin:].encode()) if other.strip() else 0
            found = text[begin:], rank, glued
        self._heads[before] = found
        return found

    def printed(self, before: bytes, after: bytes) -> Printed | None:
        """Return what lines with these ends say; the grammar reads one of them."""
        head = self.head(before)
        if head is None:
            return None
        key = head[0], head[1], after
        if key not in self._printed:
            if len(self._printed) >= _SHAPES:
                self._printed.clear()
            found = None
            if _BLOCK not in after and _AFTER.fullmatch(_AFTER_START + after):
                text = f"{head[0]}block: [0,0,0], thread: [0,0,0] A" + after.decode("utf-8", "replace")
                found = device_line(text.rstrip(), head[1])
            self._printed[key] = found[0] if found else None
        return self._printed[key]

    def run(self, start: int) -> int:
        """Count whole lines of the CUDA form from here on; return where they end."""
        at = start
        while at < self.log.size:
            chunk = bytes(self.log.data[at : at + self._size])
            end = self._known_lines(at, chunk) if self._known and self._forgotten < _MANY else at
            if end == at:
                chunk = chunk if self._forgotten >= _MANY else chunk[: 1 << 13]
                end = self._cut(at, chunk)
            done, at = end - at, end
            if not done or chunk.find(b"\n", done) >= 0:
                # Something else follows. Runs of a log tend to be of one length.
                self._size = max(done + (done >> 2), _SMALLEST)
                break
            self._size = min(self._size * 2, _LARGEST)
        return at

    def _known_lines(self, start: int, chunk: bytes) -> int:
        """Count lines of the known kinds by their ends alone; return where they end."""
        rows = self._one_kind(chunk)
        shapes = {next(reversed(self._known)): rows} if rows else self._several_kinds(chunk)
        if not shapes or self._mixed(shapes) or not all(_numeric(rows) for rows in shapes.values()):
            return start
        end = start
        for (before, after), rows in shapes.items():
            ends = len(before) + len(_BLOCK) + len(_AFTER_START) + len(after) + 1
            end += sum(map(len, rows)) + len(rows) * ends
        self._add(start, end, chunk, shapes)
        return end

    def _one_kind(self, chunk: bytes) -> list[bytes]:
        """Return the numbers of the lines from the first on that are of the kind seen last."""
        before, after = next(reversed(self._known))
        head, between = before + _BLOCK, _AFTER_START + after + b"\n"
        other = _line_unlike(before[:16]).search(chunk)
        end = other.start() + 1 if other else chunk.rfind(b"\n") + 1
        low, high = len(head), 1 - len(between)
        rows = [line[low:high] for line in chunk[:end].split(b"\n")]
        rows.pop()
        # One comparison tells that every line begins and ends as it should.
        more = len(rows) < _ALONE and _BLOCK in chunk[end : chunk.find(b"\n", end) + 1]
        if not rows or more or chunk[:end] != head + (between + head).join(rows) + between:
            return []
        return rows

    def _several_kinds(self, chunk: bytes) -> dict[Shape, list[bytes]]:
        """Return the numbers of the lines from the first on that are of any known kind."""
        lines = chunk.split(b"\n")
        del lines[-1]  # not ended in this chunk, or not at all
        heads = tuple({before + _BLOCK for before, _ in self._known})
        tails = tuple({_AFTER_START + after for _, after in self._known})
        count = len(lines)
        for fits in ([line.startswith(heads) for line in lines], [line.endswith(tails) for line in lines]):
            if False in fits:
                count = min(count, fits.index(False))
        shapes: dict[Shape, list[bytes]] = {}
        for before, after in self._known:
            head, tail = before + _BLOCK, _AFTER_START + after
            own = [line for line in lines[:count] if line.startswith(head) and line.endswith(tail)]
            if own:
                shapes[before, after] = [line[len(head) : -len(tail)] for line in own]
        return shapes if sum(map(len, shapes.values())) == count else {}

    def _cut(self, start: int, chunk: bytes) -> int:
        """Count lines of any kind by cutting each at its numbers; return where they end."""
        shapes: dict[Shape, list[bytes]] = {}
        pieces: list[bytes] = []
        lines = chunk.split(b"\n")
        del lines[-1]  # not ended in this chunk, or not at all
        for line in lines:
            before, _, rest = line.partition(_BLOCK)
            numbers, found, after = rest.partition(_AFTER_START)
            if not found:
                break
            key = before, after
            if key in shapes:
                shapes[key].append(numbers)
            else:
                shapes[key] = [numbers]
            pieces.append(line)
        if not pieces:
            return start
        if (
            len(shapes) > _MANY
            or self._mixed(shapes)
            or not all(self._plain(shape, rows) for shape, rows in shapes.items())
        ):
            return self._one_by_one(start, pieces)
        for shape in shapes:
            self._known.pop(shape, None)
            self._known[shape] = None
        while len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]
            self._forgotten += 1
        end = start + sum(map(len, pieces)) + len(pieces)
        self._add(start, end, chunk, shapes)
        return end

    def _add(self, start: int, end: int, chunk: bytes, shapes: dict[Shape, list[bytes]]) -> None:
        for (before, after), rows in shapes.items():
            printed = self.printed(before, after)
            if printed is None:  # cannot be: a shape is known after it was read
                continue
            tally = self.tallies.of(printed)
            first, last = (
                b"%b%b%b%b%b\n" % (before, _BLOCK, n, _AFTER_START, after) for n in (rows[0], rows[-1])
            )
            if not tally.count:
                at = start if chunk.startswith(first) else start + chunk.find(b"\n" + first) + 1
                tally.first = at, at + len(first)
            at = start + max(chunk.rfind(b"\n" + last, 0, end - start) + 1, 0)
            tally.last = at, at + len(last)
            tally.count += len(rows)
            tally.pairs.update(dict.fromkeys(rows))
            tally.seen(start, end)
        self.log.claims.add(start, end, "assertion")

    def _mixed(self, shapes: dict[Shape, list[bytes]]) -> bool:
        """Tell whether one assertion has several shapes here: its numbers would be out of order."""
        return len(shapes) > 1 and len({self.printed(*shape) for shape in shapes}) < len(shapes)

    def _plain(self, shape: Shape, rows: list[bytes]) -> bool:
        """Tell whether lines of a shape hold one assertion and nothing else."""
        head = self.head(shape[0])
        if head is None or head[2] or self.printed(*shape) is None:
            return False
        return _numeric(rows)

    def _one_by_one(self, start: int, lines: list[bytes]) -> int:
        """Count lines, some of which hold more than an assertion, up to the first that needs `slow`."""
        for line in lines:
            before, _, rest = line.partition(_BLOCK)
            numbers, _, after = rest.partition(_AFTER_START)
            head, printed = self.head(before), self.printed(before, after)
            if head is None or printed is None or not _numeric([numbers]):
                return start
            end = start + len(line) + 1
            self.tallies.count(self.log, printed, (start + head[2], end), numbers, glued=head[2] > 0)
            start = end
        return start
