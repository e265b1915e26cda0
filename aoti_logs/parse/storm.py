"""Device assertion lines of a log, also a million of them.

Runs of lines of the CUDA form are cut by one regular expression into what stands before the block,
the numbers, and what stands after. Lines whose ends are equal differ in numbers only: one of them
goes through the grammar, the others are counted. Every other form (folded, glued, HIP, XPU) is read
line by line by the same grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.announce import Announcer
from aoti_logs.parse.assertion import Printed, Tallies, device_line
from aoti_logs.parse.lines import unprefixed

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Log

_FIRST_CHUNK = 1 << 16
_CHUNK = 4 << 20
_NUMBERS = re.compile(rb"(?:\d{1,10},\d{1,10},\d{1,10}\], thread: \[\d{1,10},\d{1,10},\d{1,10}\n)++")
_AFTER = re.compile(rb"\] Assertion [^\n]*\bfailed\.[ \r]{0,8}")
_ANCHOR = re.compile(rb"block:\s{0,9}\[|block:[ \t\r]*\n|global id:\s{0,9}\[|device assertion failed: ")
_LITERALS = (b"block:", b"global id:", b"device assertion failed: ")

# Where the place begins: a path with blanks is only believed when nothing stands before it on the line.
_END = r":\d{1,9}:(?: \S[^\n]{0,1500}?:)?\s*$"
_WHOLE = re.compile(r"\s*(?:[A-Za-z]:[\\/]|[</.~])[^\n:]{1,1000}" + _END)
_PLACE = re.compile(
    r"(?:<[^<>\n]{1,300}>|unknown|[A-Za-z]:[\\/][^\n:*?\"<>|\s]{1,1000}"
    r"|(?:\.{1,2})?/[^\n:\s]{1,1000}|\w[\w.-]{0,200}\.\w{1,4})" + _END
)
_TAIL = re.compile(
    r"Assertion\s.*?failed\b\.?|device assertion failed: '.*?', in .{1,1500}? at [^\n]{1,1500}?:\d+", re.S
)
_WINDOW = 4096
_FOLDS = 3

_SHAPES = 4096  # distinct beginnings that are remembered


def place_start(before: str) -> int | None:
    """Return where `FILE:LINE: FUNCTION:` begins in the text before `block:`, or None."""
    if _WHOLE.match(before):
        return len(before) - len(before.lstrip())
    found = _PLACE.search(before, max(0, len(before) - _WINDOW))
    return found.start() if found else None


def read_storm(log: Log, tallies: Tallies) -> None:
    """Claim every device assertion of the log and count it."""
    data, at = log.data, 0
    reader = _Reader(log, tallies)
    announcer = Announcer(data, _LITERALS)
    while (hit := announcer.next(at)) is not None:
        start = max(data.rfind(b"\n", at, hit) + 1, at)
        if _ANCHOR.match(data, hit) is None:
            at = hit + 1
            continue
        end = reader.run(start)
        at = end if end > start else reader.slow(start, hit)


class _Reader:
    def __init__(self, log: Log, tallies: Tallies) -> None:
        self.log = log
        self.tallies = tallies
        self.heads: dict[bytes, tuple[str, int | None, int] | None] = {}
        self.shapes: dict[tuple[bytes, bytes], Printed | None] = {}

    def head(self, before: bytes) -> tuple[str, int | None, int] | None:
        """Return place, rank and number of bytes of other output before it; None when there is no place."""
        if before in self.heads:
            return self.heads[before]
        if len(self.heads) >= _SHAPES:
            self.heads.clear()
        raw = before.decode("utf-8", "replace")
        text, rank = unprefixed(raw)
        begin = place_start(text)
        found = None
        if begin is not None:
            other = text[:begin]
            glued = len(before) - len(text[begin:].encode()) if other.strip() else 0
            found = text[begin:], rank, glued
        self.heads[before] = found
        return found

    def printed(self, before: bytes, after: bytes) -> Printed | None:
        """Return what lines with these ends say; the grammar reads one of them."""
        key = before, after
        if key not in self.shapes:
            if len(self.shapes) >= _SHAPES:
                self.shapes.clear()
            head = self.head(before)
            found = None
            if head is not None and _AFTER.fullmatch(b"] A" + after):
                text = f"{head[0]}block: [0,0,0], thread: [0,0,0] A" + after.decode("utf-8", "replace")
                found = device_line(text.rstrip(), head[1])
            self.shapes[key] = found[0] if found else None
        return self.shapes[key]

    def run(self, start: int) -> int:
        """Count whole lines of the CUDA form from here on; return where they end."""
        size = _FIRST_CHUNK
        while True:
            chunk = bytes(self.log.data[start : start + size])
            end = self._chunk(start, chunk)
            if end < start + len(chunk) - (1 << 13) or end == start or start + len(chunk) >= self.log.size:
                return end
            start, size = end, min(size * 4, _CHUNK)

    def _chunk(self, start: int, chunk: bytes) -> int:
        groups: dict[tuple[bytes, bytes], list[bytes]] = {}
        pieces: list[bytes] = []
        lines = chunk.split(b"\n")
        del lines[-1]  # not ended in this chunk, or not at all
        for line in lines:
            before, _, rest = line.partition(b"block: [")
            numbers, found, after = rest.partition(b"] A")
            if not found:
                break
            key = before, after
            if key in groups:
                groups[key].append(numbers)
            else:
                groups[key] = [numbers]
            pieces.append(line)
        if not all(self._plain(*key, numbers) for key, numbers in groups.items()):
            return self._one_by_one(start, pieces)
        end = start + sum(map(len, pieces)) + len(pieces)
        for (before, after), rows in groups.items():
            printed = self.printed(before, after)
            assert printed is not None
            tally = self.tallies.of(printed)
            first, last = (b"%bblock: [%b] A%b" % (before, n, after) for n in (rows[0], rows[-1]))
            if not tally.count:
                at = start + (0 if pieces[0] == first else chunk.find(b"\n" + first + b"\n") + 1)
                tally.first = at, at + len(first) + 1
            at = (
                end - len(last) - 1
                if pieces[-1] == last
                else start + chunk.rfind(b"\n" + last, 0, end - start) + 1
            )
            tally.last = at, at + len(last) + 1
            tally.count += len(rows)
            tally.pairs.update(dict.fromkeys(rows))
            tally.seen(start, end)
        if pieces:
            self.log.claims.add(start, end, "assertion")
        return end

    def _plain(self, before: bytes, after: bytes, numbers: list[bytes]) -> bool:
        """Tell whether lines with these ends hold one assertion and nothing else."""
        head = self.head(before)
        if head is None or head[2] or self.printed(before, after) is None:
            return False
        return _NUMBERS.fullmatch(b"\n".join(numbers) + b"\n") is not None

    def _one_by_one(self, start: int, lines: list[bytes]) -> int:
        """Count lines, some of which hold more than an assertion, up to the first that needs `slow`."""
        for line in lines:
            before, _, rest = line.partition(b"block: [")
            numbers, _, after = rest.partition(b"] A")
            head, printed = self.head(before), self.printed(before, after)
            if head is None or printed is None or _NUMBERS.fullmatch(numbers + b"\n") is None:
                return start
            end = start + len(line) + 1
            self._count(printed, start + head[2], end, numbers, glued=head[2] > 0)
            start = end
        return start

    def _count(self, printed: Printed, start: int, end: int, numbers: bytes | None, *, glued: bool) -> None:
        tally = self.tallies.of(printed)
        tally.count += 1
        if tally.count == 1:
            tally.first = start, end
        tally.last = start, end
        tally.seen(start, end)
        tally.glued = tally.glued or glued
        if numbers is not None:
            tally.pairs[numbers] = None
        self.log.claims.add(start, end, "assertion")

    def slow(self, start: int, hit: int) -> int:
        """Read one assertion that may be glued to other output, or folded over several lines."""
        data, size = self.log.data, self.log.size
        start = max(start, hit - _WINDOW)
        ends: list[int] = []
        at = hit
        for _ in range(_FOLDS):
            found = data.find(b"\n", at, min(at + _WINDOW, size))
            at = min(at + _WINDOW, size) if found < 0 else found + 1
            ends.append(at)
            if found < 0:
                break
        announced = False
        for end in ends:
            parts = bytes(data[start:end]).split(b"\n")
            for joint in ("", " "):
                text, offsets, rank = _joined(start, parts, joint)
                tail = _TAIL.search(text)
                if tail is None:
                    continue
                announced = announced or "thread" in text or "local id" in text or "device assertion" in text
                begin = self._begin(text)
                read = None if begin is None else device_line(text[begin : tail.end()], rank)
                if read is None or begin is None:
                    continue
                printed, block, thread = read
                numbers = None
                if block and thread:
                    numbers = b"%d,%d,%d], thread: [%d,%d,%d" % (*block, *thread)
                stop = offsets[tail.end() - 1] + len(text[tail.end() - 1].encode())
                rest = bytes(data[stop : stop + 8])
                if rest.lstrip(b" \t\r")[:1] in {b"\n", b""}:
                    line_end = data.find(b"\n", stop)
                    stop = size if line_end < 0 else line_end + 1
                first = offsets[begin] if text[:begin].strip() else start
                self._count(printed, first, stop, numbers, glued=bool(text[:begin].strip()))
                return stop
        if announced:
            self.log.unreadable(start, ends[0], "device assertion")
            return ends[0]
        return hit + 1

    def _begin(self, text: str) -> int | None:
        hip = text.find("device assertion failed: ")
        if hip >= 0:
            return hip
        found = re.search(r"(?:block|global id):\s*\[", text)
        return place_start(text[: found.start()]) if found else None


def _joined(start: int, parts: list[bytes], joint: str) -> tuple[str, list[int], int | None]:
    """Join folded lines; return the text, the byte offset of each character, and the rank."""
    out: list[str] = []
    offsets: list[int] = []
    rank: int | None = None
    at = start
    for number, part in enumerate(parts):
        raw = part.decode("utf-8", "replace").removesuffix("\r")
        text, own_rank = unprefixed(raw)
        rank = own_rank if rank is None else rank
        if number and text and joint:
            out.append(joint)
            offsets.append(at)
        position = at + len(part.removesuffix(b"\r")) - len(text.encode("utf-8", "replace"))
        if "\ufffd" in text or "\x1b" in raw:  # lengths differ from the bytes: whole lines only
            position = at
        for char in text:
            offsets.append(min(position, at + max(len(part) - 1, 0)))
            position += len(char.encode())
        out.append(text)
        at += len(part) + 1
    return "".join(out), offsets, rank
