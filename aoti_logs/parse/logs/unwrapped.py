"""A wrapped log as the text that its processes printed: each stream of lines stands alone, one after the other.

What was wrapped around a line is looked at closely once; lines that begin in the same way, but for the time, are told
by one pattern after that. A property test compares this with taking every line apart.
"""

from __future__ import annotations

import bisect
import mmap
import re
from itertools import accumulate
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.bytemap import ByteMap
from aoti_logs.parse.logs.peel import Peeled, general, peel
from aoti_logs.parse.logs.sender import NOBODY, Sender

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aoti_logs.parse.logs.bytemap import Range
    from aoti_logs.parse.logs.peel import Wrapping

_BLOCK = 1 << 21
_LARGE = 1 << 26  # from here on the text is not kept twice while it is put together
_LONGEST = 1 << 20  # of a longer line only what stands at its beginning is taken off
_HEAD = 4096
_FIRST_LETTERS = b"DIWECJFMASONTUV"  # of months, days and levels
_LEARNED = 64  # beginnings that are told by a pattern
_PORTION = 1024  # lines
_FEW = 16  # lines that are told one by one where those of one beginning end
_ZEROS = bytes(48 if 48 <= byte < 58 else byte for byte in range(256))
_LETTERS = (
    rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) +\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]|"
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z]"
)


class Unwrapped:
    """The text, which of its bytes is which of the log's, and where each stream begins.

    Between two streams stands a line feed that is not in the log (`borders`).
    """

    def __init__(self, streams: Sequence[_Stream]) -> None:
        self.map = ByteMap()
        self.starts: list[int] = []
        self.senders: list[Sender] = []
        self.borders: list[int] = []
        size = 0
        for stream in streams:
            if self.starts:
                self.borders.append(size)
                self.map.add(size, -1, -1)
                size += 1
            self.starts.append(size)
            self.senders.append(stream.sender)
            self.map.shifted(stream.map, size)
            size += stream.size
        self.size = size
        self.data = self.map.data = _joined(streams, size)

    def number(self, at: int) -> int:
        """Return which stream an offset of the text belongs to."""
        return max(bisect.bisect_right(self.starts, at) - 1, 0)

    def ranges(self, start: int, end: int) -> list[Range]:
        """Return the ranges of the log that a part of the text stands for."""
        if self.borders:
            return self.map.ranges(start, end, self.size)
        return [(self.map.begin(start), self.end(end))]

    def end(self, at: int) -> int:
        """Return the offset in the log behind what belongs to the text before `at`."""
        if not self.borders and at < self.size:
            return self.map.begin(at)  # nothing stands between two lines
        return self.map.ranges(at - 1, at, self.size)[-1][1]


def _joined(streams: Sequence[_Stream], size: int) -> bytes | mmap.mmap:
    if size < _LARGE:
        return b"\n".join(b"".join(stream.parts) for stream in streams)
    data = mmap.mmap(-1, size)
    for number, stream in enumerate(streams):
        if number:
            data.write(b"\n")
        stream.parts.reverse()
        while stream.parts:
            data.write(stream.parts.pop())
    return data


class _Stream:
    """The lines of one process while they are collected."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self.parts: list[bytes] = []
        self.size = 0
        self.map = ByteMap()
        self._end = -1  # in the log, behind the last byte that was put here

    def _goes_on(self, at: int) -> bool:
        """Tell whether what stands at an offset of the log goes on with the last run."""
        return at == self._end and not self.map.widths[-1]

    def whole(self, data: bytes, at: int) -> None:
        """Put lines that nothing was taken off."""
        if not self._goes_on(at):
            self.map.add(self.size, at, at)
        self.parts.append(data)
        self.size += len(data)
        self._end = at + len(data)

    def lines(self, bodies: list[bytes], outer: list[int], inner: list[int]) -> None:
        """Put lines that lost only their beginnings, each with a line feed behind it."""
        starts = list(accumulate((len(body) + 1 for body in bodies), initial=self.size))
        self.size = starts.pop()
        self.map.extend(starts, outer, inner)
        self.parts.append(b"\n".join(bodies))
        self.parts.append(b"\n")
        self._end = inner[-1] + len(bodies[-1]) + 1

    def uniform(self, bodies: list[bytes], at: int, width: int) -> None:
        """Put lines that stand together in the log and each lost `width` bytes at their beginnings."""
        self.map.add(self.size, at, at + width, width)
        part = b"\n".join(bodies)
        self.parts += [part, b"\n"]
        self.size += len(part) + 1
        self._end = at + len(part) + 1 + width * len(bodies)

    def line(self, peeled: Peeled, at: int, end: int, *, ended: bool) -> None:
        """Put what is left of the line from `at` to `end`; a line feed stands there when it is `ended`."""
        if peeled.continues:
            self._reopen()
        done = at
        for part, offset in peeled.parts:
            if at + offset != done or not self._goes_on(done):
                self.map.add(self.size, done, at + offset)
            if b"\r" in part:
                part = part[:-1].replace(b"\r", b"\n") + part[-1:]  # noqa: PLW2901 progress bars: lines of their own
            self.parts.append(part)
            self.size += len(part)
            done = self._end = at + offset + len(part)
        stop = end + ended
        if not ended or peeled.joins:
            if done != stop:
                self.map.add(self.size, done, stop)
        else:
            if done != end or not self._goes_on(done):
                self.map.add(self.size, done, end)
            self.parts.append(b"\n")
            self.size += 1
        self._end = stop

    def finish(self) -> None:
        """Let the text not end in bytes that were taken off: the last of them is a line feed in it."""
        if self.map.starts and self.map.starts[-1] == self.size:
            self.map.inner[-1] -= 1
            self.parts.append(b"\n")
            self.size += 1

    def _reopen(self) -> None:
        """Take back the line feed of the last line: it goes on."""
        if not self.parts or not self.parts[-1].endswith(b"\n"):
            return
        self.parts[-1] = self.parts[-1][:-1]
        self.size -= 1
        if self.map.starts[-1] == self.size and not self.map.widths[-1]:
            self.map.inner[-1] += 1
        else:
            self.map.add(self.size, self._end - 1, self._end)


class Unwrapper:
    """Takes a log apart, line by line."""

    def __init__(self, wrapping: Wrapping) -> None:
        self._wrapping = wrapping
        self._streams: dict[Sender, _Stream] = {}
        self._last: _Stream | None = None
        self._learned: dict[bytes, _Stream | None] = {}
        self._order: list[_Stream | None] = []
        self._match: Callable[[bytes], re.Match[bytes] | None] = re.compile(rb"(?!)").match
        first = {
            byte for kind in wrapping.kinds for byte in kind.first if byte > 127 or not chr(byte).isalpha()
        }
        stop = first | {*b"{\x1b"}
        self._more = b"[" + b"".join(re.escape(bytes([b])) for b in sorted(stop)) + rb"]|" + _LETTERS
        plain = {bytes([b]) for b in range(256) if b not in stop and b not in _FIRST_LETTERS}
        self._plain = plain | {b""}
        self._after_time = self._plain - {b"-", b"|", b"#"}
        self._skip = 0
        self._wait = _FEW
        self._alike: tuple[int, bytes, bool, _Stream] | None = None
        self._patterns = not wrapping.indent and not wrapping.escaped
        if not any(not kind.first and not kind.certain for kind in wrapping.kinds):
            self._learned[b""] = None  # lines without a prefix

    def read(self, data: bytes | mmap.mmap) -> Unwrapped:
        """Return the text."""
        self._compile()
        at, size = 0, len(data)
        while at < size:
            found = data.find(b"\n", min(at + _BLOCK, size - 1))
            stop = size if found < 0 else found + 1
            self._block(bytes(data[at:stop]), at)
            at = stop
        for stream in self._streams.values():
            stream.finish()
        return Unwrapped(tuple(self._streams.values()) or (_Stream(NOBODY),))

    def _block(self, block: bytes, at: int) -> None:
        lines = block.split(b"\n")
        ended = not lines[-1]
        if ended:
            del lines[-1]
        odd = b"\x1b" in block or block.count(b"\r") != block.count(b"\r\n")
        fast = self._patterns and not odd and b"\t20" not in block and ended
        begin = 0
        while begin < len(lines):
            count, at = self._next(lines, begin, at, fast=fast, ended=ended)
            begin += count

    def _next(self, lines: list[bytes], begin: int, at: int, *, fast: bool, ended: bool) -> tuple[int, int]:
        """Put some lines from the one at `begin` on; return how many, and where the next one stands in the log."""
        if fast and self._skip <= 0:
            own = lines[begin : begin + _PORTION]
            count = self._uniform(own, at)
            if count:
                self._wait = _FEW if count > _FEW else min(self._wait * 2, _PORTION)
                self._skip = self._wait
                return count, at + sum(map(len, own[:count])) + count
            self._wait = min(self._wait * 2, _PORTION)
            self._skip = self._wait
        if fast:
            own = lines[begin : begin + self._skip]
            count = self._fast(own, at)
            if count:
                self._skip -= count
                return count, at + sum(map(len, own[:count])) + count
        line = lines[begin]
        self._skip -= 1
        self._slow(line, at, ended=ended or begin + 1 < len(lines))
        return 1, at + len(line) + 1

    def _uniform(self, lines: list[bytes], at: int) -> int:
        """Put the first lines that all begin as one that was taken apart, but for digits of a time, or that have
        nothing before them; return how many.
        """
        return self._same(lines, at) or self._bare(lines, at)

    def _bare(self, lines: list[bytes], at: int) -> int:
        if b"" not in self._learned or not lines[0].strip():
            return 0
        firsts = [line[:1] for line in lines]
        if not self._plain.issuperset(firsts):
            lines = lines[: next(n for n, first in enumerate(firsts) if first not in self._plain)]
        if lines:
            self._last = self._stream(NOBODY)
            self._last.whole(b"\n".join(lines) + b"\n", at)
        return len(lines)

    def _same(self, lines: list[bytes], at: int) -> int:
        if self._alike is None:
            return 0
        width, head, masked, stream = self._alike
        heads = [line[:width] for line in lines]
        joined = b"".join(heads)
        if (joined.translate(_ZEROS) if masked else joined) != head * len(lines):
            other = [(one.translate(_ZEROS) if masked else one) != head for one in heads]
            lines = lines[: other.index(True)] if True in other else []
        bodies = [line[width:] for line in lines]
        firsts = [body[:1] for body in bodies]
        plain = self._after_time if masked else self._plain
        if not plain.issuperset(firsts):
            del bodies[next(n for n, first in enumerate(firsts) if first not in plain) :]
        if masked and b" - " in b"\n".join(bodies):
            return 0  # a logger's name and level may follow the time
        if bodies:
            stream.uniform(bodies, at, width)
            self._last = stream
        return len(bodies)

    def _fast(self, lines: list[bytes], at: int) -> int:
        """Put the first lines, those whose beginnings are known; return how many."""
        match, more = self._match, len(self._order)
        found = []
        for line in lines:
            one = match(line)
            if one is None or one.lastindex == more:
                break
            found.append(one)
        if not found:
            return 0
        del lines[len(found) :]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=at))
        del starts[-1]
        which = [self._order[one.lastindex or 0] for one in found]
        nobody: _Stream | None = None
        for number, line in enumerate(lines):
            if which[number] is None:
                if not line.strip():  # no launcher marks an empty line that its own process printed
                    which[number] = which[number - 1] if number else self._last or self._stream(NOBODY)
                else:
                    which[number] = nobody = nobody or self._stream(NOBODY)
        self._last = which[-1]
        ends = [one.end() for one in found]
        bodies = [line[end:] for line, end in zip(lines, ends, strict=True)] if any(ends) else lines
        inner = [start + end for start, end in zip(starts, ends, strict=True)]
        own: dict[_Stream, list[int]] = {stream: [] for stream in which if stream is not None}
        if len(own) > 1:
            for number, stream in enumerate(which):
                own[stream].append(number)  # type: ignore[index]
        for stream, mine in own.items():
            if mine:
                stream.lines([bodies[n] for n in mine], [starts[n] for n in mine], [inner[n] for n in mine])
            elif any(ends):
                stream.lines(bodies, starts, inner)
            else:
                stream.whole(b"\n".join(lines) + b"\n", starts[0])
        return len(found)

    def _slow(self, line: bytes, at: int, *, ended: bool) -> None:
        """Take a line apart; lines that begin like it are known from now on."""
        if len(line) > _LONGEST:
            head = peel(line[:_HEAD], self._wrapping)
            cut = head.prefix[-1][1].end() if head.prefix else 0
            peeled = Peeled(((line[cut:], cut),), head.sender, head.stream)
        else:
            peeled = peel(line, self._wrapping)
        stream = self._stream(peeled.stream)
        if self._last is not None and not line.strip():
            stream = self._last
        self._last = stream
        stream.line(peeled, at, at + len(line), ended=ended)
        if not peeled.prefix:
            return
        self._alike = _alike(peeled, line, stream) or self._alike
        pattern = general(peeled.prefix)
        if pattern not in self._learned and len(self._learned) < _LEARNED:
            self._learned[pattern] = stream
            self._compile()

    def _stream(self, sender: Sender) -> _Stream:
        found = self._streams.get(sender)
        if found is None:
            found = self._streams[sender] = _Stream(sender)
        return found

    def _compile(self) -> None:
        known = sorted(self._learned, key=len, reverse=True)
        self._order = [None, *(self._learned[pattern] for pattern in known)]
        if known:
            alternatives = b"|".join(b"(" + pattern + b")" for pattern in known)
            # One alternative more than known ones: another prefix follows. No group gives anything back for it.
            self._match = re.compile(b"(?:" + alternatives + b")(?:(?=(" + self._more + b"))|)").match


def _alike(peeled: Peeled, line: bytes, stream: _Stream) -> tuple[int, bytes, bool, _Stream] | None:
    """Return width and text of a prefix that other lines have too, and whether the digits of its time are masked."""
    times = [kind.stamp for kind, match in peeled.prefix or () if match.groupdict().get("time")]
    width = peeled.prefix[-1][1].end() if peeled.prefix else 0
    if not width or not all(kind.relays or kind.stamp for kind, _ in peeled.prefix or ()):
        return None
    head = line[:width]
    if not times:
        return width, head, False, stream
    told = [
        value
        for _, match in peeled.prefix or ()
        for name, value in match.groupdict().items()
        if name != "time" and value
    ]
    if any(char in b"0123456789" for value in told for char in value):
        return None  # digits that tell whose line it is
    return width, head.translate(_ZEROS), True, stream
