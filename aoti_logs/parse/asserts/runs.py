"""Runs of device assertion lines that differ in numbers only, counted without looking at each line.

What stands before and after the numbers is known after the grammar has read one line of a kind; the other
lines are told by these ends, and the numbers are checked all at once. Lines that hold more than an assertion
are counted one by one. The results are those of the grammar alone: a property test says so.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from aoti_logs.parse.asserts.assertion import Printed, Tallies, device_line, place_start
from aoti_logs.parse.asserts.known_runs import KnownRuns
from aoti_logs.parse.asserts.threads import Numbers
from aoti_logs.parse.logs.sender import NOBODY, Sender

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Log

_SMALLEST = 1 << 11
_LARGEST = 1 << 19
_SHAPES = 4096  # beginnings, and kinds of lines, that are remembered
_KNOWN = 8  # kinds that are looked for by their ends
_ALONE = 64  # lines of one kind after which it is not worth to look for others
_MANY = 64  # so many forgotten kinds, and lines are cut one by one

_BLOCK = b"block: ["
_AFTER_START = b"] A"
_AFTER = re.compile(rb"\] Assertion [^\n]*\bfailed\.[ \r]{0,8}")

Shape = tuple[bytes, bytes]
"""What stands before `block: [` and after `] A`."""
Place = tuple[int, int]
Shapes = dict[Shape, Numbers]
"""The numbers between them."""


def _places(start: int, end: int, chunk: bytes, shape: Shape, numbers: bytes) -> tuple[Place, Place]:
    """Return where the first and the last line of a shape stand."""
    ends = numbers[: numbers.find(b"\n")], numbers[numbers.rfind(b"\n", 0, -1) + 1 : -1]
    first, last = (b"%b%b%b%b%b\n" % (shape[0], _BLOCK, n, _AFTER_START, shape[1]) for n in ends)
    at = start if chunk.startswith(first) else start + chunk.find(b"\n" + first) + 1
    to = start + max(chunk.rfind(b"\n" + last, 0, end - start) + 1, 0)
    return (at, at + len(first)), (to, to + len(last))


def _lines(rows: list[bytes]) -> bytes:
    return b"\n".join(rows) + b"\n"


def _head(log: Log, before: bytes) -> tuple[str, int] | None:
    text = log.bare(before, holds=True).decode("utf-8", "surrogateescape")  # which keeps the number of bytes
    begin = place_start(text)
    if begin is None:
        return None
    own = text[begin:].encode("utf-8", "surrogateescape")
    return own.decode("utf-8", "replace"), len(before) - len(own) if text[:begin].strip() else 0


class Runs:
    """Counts runs of assertion lines of one log."""

    def __init__(self, log: Log, tallies: Tallies) -> None:
        self.log = log
        self.tallies = tallies
        self._sender = NOBODY
        self._heads: dict[bytes, tuple[str, int] | None] = {}
        self._printed: dict[tuple[Sender, str, bytes], Printed | None] = {}
        self._known: dict[Shape, KnownRuns] = {}
        self._forgotten = 0
        self._size = 1 << 14

    def head(self, before: bytes) -> tuple[str, int] | None:
        """Return place and number of bytes of other output before it; None when there is no place."""
        if before not in self._heads:
            if len(self._heads) >= _SHAPES:
                self._heads.clear()
            self._heads[before] = _head(self.log, before)
        return self._heads[before]

    def printed(self, before: bytes, after: bytes) -> Printed | None:
        """Return what lines with these ends say; the grammar reads one of them."""
        head = self.head(before)
        if head is None:
            return None
        key = self._sender, head[0], after
        if key not in self._printed:
            if len(self._printed) >= _SHAPES:
                self._printed.clear()
            found = None
            if _BLOCK not in after and _AFTER.fullmatch(_AFTER_START + after):
                text = f"{head[0]}block: [0,0,0], thread: [0,0,0] A" + after.decode("utf-8", "replace")
                found = device_line(text.rstrip(), self._sender)
            self._printed[key] = found[0] if found else None
        return self._printed[key]

    def run(self, start: int) -> int:
        """Count whole lines of the CUDA form from here on; return where they end."""
        at = start
        self._sender = self.log.stream(start)
        while at < self.log.size:
            chunk = bytes(self.log.data[at : at + self._size])
            by_ends = self._known and self._forgotten < _MANY
            end = self._repeated(at, chunk) if by_ends else at
            if by_ends and end - at < len(chunk):
                end = self._known_lines(end, chunk[end - at :] if end > at else chunk)
            if end == at:
                chunk = chunk[: 1 << 13] if by_ends else chunk
                end = self._cut(at, chunk)
            done, at = end - at, end
            if not done or chunk.find(b"\n", done) >= 0:
                # Something else follows. Runs of a log tend to be of one length.
                whole = at - start
                self._size = min(max(whole + (whole >> 3), _SMALLEST), _LARGEST)
                break
            self._size = min(self._size * 2, _LARGEST)
        return at

    def _repeated(self, start: int, chunk: bytes) -> int:
        """Count runs of the kind seen last that were printed before, of other blocks; return where they end."""
        shape = next(reversed(self._known))
        runs, end = self._known[shape].take(chunk)
        if not runs:
            return start
        first = start, start + chunk.find(b"\n") + 1
        last = start + chunk.rfind(b"\n", 0, end - 1) + 1, start + end
        self._count(shape, runs, start, start + end, (first, last))
        return start + end

    def _known_lines(self, start: int, chunk: bytes) -> int:
        """Count lines of the known kinds by their ends alone; return where they end."""
        numbers = self._one_kind(chunk)
        shapes = self._several_kinds(chunk) if numbers is None else {next(reversed(self._known)): numbers}
        if not shapes or self._mixed(shapes):
            return start
        end = start
        for (before, after), numbers in shapes.items():
            ends = len(before) + len(_BLOCK) + len(_AFTER_START) + len(after)
            end += len(numbers.text) + numbers.count * ends
        self._add(start, end, shapes, {s: _places(start, end, chunk, s, n.text) for s, n in shapes.items()})
        return end

    def _one_kind(self, chunk: bytes) -> Numbers | None:
        """Return the numbers of the lines from the first on that are of the kind seen last."""
        before, after = next(reversed(self._known))
        head, between = before + _BLOCK, _AFTER_START + after + b"\n"
        low, high = len(head), 1 - len(between)
        rows = [line[low:high] for line in chunk.split(b"\n")]
        rows[-1] = b""  # not ended in this chunk, or not at all
        numbers = Numbers(b"\n".join(rows))
        # One comparison tells that every line begins and ends as it should.
        whole = head + (between + head).join(rows[: numbers.count]) + between
        if not numbers.count or not chunk.startswith(whole):
            return None
        self._known[before, after].learn(numbers.runs)
        more = numbers.count < _ALONE and _BLOCK in chunk[len(whole) : chunk.find(b"\n", len(whole)) + 1]
        return None if more else numbers

    def _several_kinds(self, chunk: bytes) -> Shapes:
        """Return the numbers of the lines from the first on that are of any known kind."""
        lines = chunk.split(b"\n")
        del lines[-1]  # not ended in this chunk, or not at all
        heads = tuple({before + _BLOCK for before, _ in self._known})
        tails = tuple({_AFTER_START + after for _, after in self._known})
        count = len(lines)
        for fits in ([line.startswith(heads) for line in lines], [line.endswith(tails) for line in lines]):
            if False in fits:
                count = min(count, fits.index(False))
        lines = lines[:count]
        shapes: Shapes = {}
        for before, after in self._known:
            head, tail = before + _BLOCK, _AFTER_START + after
            own = [line for line in lines if line.startswith(head) and line.endswith(tail)]
            if own:
                numbers = Numbers(_lines([line[len(head) : -len(tail)] for line in own]))
                if not numbers.whole:
                    return {}
                shapes[before, after] = numbers
                count -= len(own)
        return {} if count else shapes

    def _cut(self, start: int, chunk: bytes) -> int:
        """Count lines of any kind by cutting each at its numbers; return where they end."""
        rows: dict[Shape, list[bytes]] = {}
        first: dict[Shape, int] = {}
        last: dict[Shape, int] = {}
        pieces: list[bytes] = []
        lines = chunk.split(b"\n")
        del lines[-1]  # not ended in this chunk, or not at all
        for number, line in enumerate(lines):
            before, _, rest = line.partition(_BLOCK)
            numbers, found, after = rest.partition(_AFTER_START)
            if not found:
                break
            key = before, after
            if key in rows:
                rows[key].append(numbers)
            else:
                rows[key] = [numbers]
                first[key] = number
            last[key] = number
            pieces.append(line)
        if not pieces:
            return start
        shapes = {shape: Numbers(_lines(own)) for shape, own in rows.items()}
        if (
            len(shapes) > _MANY
            or self._mixed(shapes)
            or not all(self._plain(shape, numbers) for shape, numbers in shapes.items())
        ):
            return self._one_by_one(start, pieces)
        for shape in shapes:
            known = self._known.pop(shape, None)
            self._known[shape] = known or KnownRuns(shape[0] + _BLOCK, _AFTER_START + shape[1] + b"\n")
        while len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]
            self._forgotten += 1
        places = list(pairwise(accumulate(map(len, pieces), lambda at, size: at + size + 1, initial=start)))
        self._add(start, places[-1][1], shapes, {s: (places[first[s]], places[last[s]]) for s in shapes})
        return places[-1][1]

    def _add(self, start: int, end: int, shapes: Shapes, places: dict[Shape, tuple[Place, Place]]) -> None:
        for shape, numbers in shapes.items():
            self._count(shape, numbers.runs, start, end, places[shape])

    def _count(
        self, shape: Shape, runs: list[tuple[bytes, bytes]], start: int, end: int, places: tuple[Place, Place]
    ) -> None:
        """Count lines of a shape that stand somewhere from `start` to `end`, the first and the last at `places`."""
        printed = self.printed(*shape)
        if printed is None:  # cannot be: a shape is known after it was read
            return
        tally = self.tallies.of(printed)
        first, tally.last = places
        if not tally.count:
            tally.first = first
        tally.count += sum(threads.count(b"\n") for _, threads in runs)
        tally.threads.add_runs(runs)
        tally.seen(start, end)
        self.log.claims.add(start, end, "assertion")

    def _mixed(self, shapes: Shapes) -> bool:
        """Tell whether one assertion has several shapes here: its numbers would be out of order."""
        return len(shapes) > 1 and len({self.printed(*shape) for shape in shapes}) < len(shapes)

    def _plain(self, shape: Shape, numbers: Numbers) -> bool:
        """Tell whether lines of a shape hold one assertion and nothing else."""
        head = self.head(shape[0])
        if head is None or head[1] or self.printed(*shape) is None:
            return False
        return numbers.whole

    def _one_by_one(self, start: int, lines: list[bytes]) -> int:
        """Count lines, some of which hold more than an assertion, up to the first that needs `slow`."""
        for line in lines:
            before, _, rest = line.partition(_BLOCK)
            numbers, _, after = rest.partition(_AFTER_START)
            head, printed = self.head(before), self.printed(before, after)
            if head is None or printed is None or not Numbers(numbers + b"\n").whole:
                return start
            end = start + len(line) + 1
            self.tallies.count(self.log, printed, (start + head[1], end), numbers, glued=head[1] > 0)
            start = end
        return start
