"""A log as lines that can be claimed: every byte is claimed once, what nobody claims is free text.

A line here is what is left of a physical line between claims: a progress bar with an assertion
glued to it is two lines. Where a log is wrapped (rank, worker, time, colour), these are lines of the text that is
left of it (`parse/logs/unwrapped.py`), one stream after the other; spans are always those of the log itself.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Record, Unparsed
from aoti_logs.parse.logs.peel import PLAIN, peel
from aoti_logs.parse.logs.sender import NOBODY
from aoti_logs.sources.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.compiles.autotune import Autotuning
    from aoti_logs.parse.events import Dump, ErrorText, LogLine, Note, Stack
    from aoti_logs.parse.logs.peel import Wrapping
    from aoti_logs.parse.logs.sender import Sender
    from aoti_logs.parse.logs.unwrapped import Unwrapped
    from aoti_logs.sources.source import Source

LONGEST = 1 << 20
"""Of a line that is longer, only this much is decoded and matched; its bytes are claimed as a whole."""
_LONGEST_REST = 1 << 16
"""The same for what is left of a line behind something that was claimed: there may be thousands of records in one."""
_BORDER = "border"
_MAY_BE_PREFIX = frozenset(b for b in range(256) if any(kind.first for kind in PLAIN.table[b])) | {*b"{"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line: `start` and `end` (after its line feed) in bytes, its text without prefix, colour and end."""

    start: int
    end: int
    text: str
    rank: int | None


class Claims:
    """Disjoint ranges of bytes, each with the kind of what stands there."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self._ends: list[int] = []
        self._kinds: list[str] = []

    def add(self, start: int, end: int, kind: str) -> None:
        """Claim a range; the part of it that is claimed already stays as it is."""
        at = bisect.bisect_right(self.starts, start)
        if at and self._ends[at - 1] > start:
            start = self._ends[at - 1]
        if at < len(self.starts) and self.starts[at] < end:
            end = self.starts[at]
        if start >= end:
            return
        if at and kind == "assertion" == self._kinds[at - 1] and self._ends[at - 1] == start:
            self._ends[at - 1] = end  # a storm is one record
            return
        self.starts.insert(at, start)
        self._ends.insert(at, end)
        self._kinds.insert(at, kind)

    @property
    def size(self) -> int:
        """How many bytes are claimed."""
        return sum(self._ends) - sum(self.starts)

    def skip(self, at: int) -> int:
        """Return the first unclaimed offset at or after `at`."""
        found = bisect.bisect_right(self.starts, at)
        while found and self._ends[found - 1] > at:
            at = self._ends[found - 1]
            if found < len(self.starts) and self.starts[found] == at:
                found += 1
        return at

    def end_before(self, at: int) -> int:
        """Return the end of the last range that begins before or at `at`, or 0."""
        found = bisect.bisect_right(self.starts, at)
        return self._ends[found - 1] if found else 0

    def next_start(self, at: int, default: int) -> int:
        """Return the start of the first range that begins after `at`."""
        found = bisect.bisect_right(self.starts, at)
        return self.starts[found] if found < len(self.starts) else default

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, kind) in order."""
        return zip(self.starts, self._ends, self._kinds, strict=True)


class Log:
    """The bytes of a log with what has been claimed of them, and a way to walk its lines."""

    def __init__(self, source: Source, unwrapped: Unwrapped | None = None, plain: Wrapping = PLAIN) -> None:
        self.source = source
        self.unwrapped = unwrapped
        self._plain = plain
        self.data = source.data if unwrapped is None else unwrapped.data
        self.size = len(self.data)
        self.peeled = False  # whether something was taken off a line, until the reader of lines asks
        self.wrapped = False  # whether a line was seen that something is wrapped around
        self.claims = Claims()
        for at in unwrapped.borders if unwrapped is not None else ():
            self.claims.add(at, at + 1, _BORDER)
        self._last = Line(-1, -1, "", None)  # a line is looked at from above, then read itself
        self._feed = (0, 0)  # a physical line, from where it was looked at first to its end
        self.unread: dict[str, int] = {}  # before it no line of a format of stacks can be read
        self.barren = 0  # before it no line begins a sanitizer's report
        self.expected: dict[int, str] = {}
        self.errors: list[ErrorText] = []
        self.stacks: list[Stack] = []
        self.dumps: list[Dump] = []
        self.messages: list[LogLine] = []
        self.notes: list[Note] = []
        self.autotunings: list[Autotuning] = []

    def span(self, start: int, end: int) -> Span:
        """Return a span of the source: of a wrapped log from the first to the last byte in it.

        What stands in a span are offsets of the source, which are none of `data` then.
        """
        if self.unwrapped is None or start >= end:
            return Span(self.source, start, end)
        return Span(self.source, self.unwrapped.map.begin(start), self.unwrapped.end(end))

    def line_number(self, at: int) -> int:
        """Return the line (from 1) of the source that an offset stands in."""
        return self.source.line_at(at if self.unwrapped is None else self.unwrapped.map.begin(at))

    def stream(self, at: int) -> Sender:
        """Return whose lines those around an offset are."""
        if self.unwrapped is None:
            return NOBODY
        return self.unwrapped.senders[self.unwrapped.number(at)]

    def bare(self, raw: bytes, *, holds: bool = False) -> bytes:
        """Return a line without what is wrapped around it, and note that something was.

        What only a logger wrote before it counts when the line `holds` something that is read, or a reader took it
        (`peeled`): most lines of loggers say nothing to us.
        """
        odd = b"\x1b" in raw or b"\r" in raw[:-1]
        if self.unwrapped is not None or not (odd or (raw[:1] and raw[0] in _MAY_BE_PREFIX)):
            return raw
        found = peel(raw, self._plain)
        text = found.text
        if odd or text != raw:
            relayed = found.prefix is None or any(kind.relays for kind, _ in found.prefix)
            self.wrapped = self.wrapped or odd or holds or relayed
            self.peeled = True
        return text

    def line(self, at: int) -> Line:
        """Return the line that begins at an unclaimed offset and ends at a line feed or a claim."""
        begin, end = self._feed
        if begin <= at < end:
            longest = _LONGEST_REST if at > begin else LONGEST
        else:
            found = self.data.find(b"\n", at)
            end = self.size if found < 0 else found + 1
            self._feed = (at, end)
            longest = LONGEST
        end = min(end, self.claims.next_start(at, end))
        if (self._last.start, self._last.end) == (at, end):
            return self._last
        raw = bytes(self.data[at : min(end, at + longest)]).removesuffix(b"\n").removesuffix(b"\r")
        text = self.bare(raw).decode("utf-8", "replace")
        self._last = Line(at, end, text, self.stream(at).rank)
        return self._last

    def after(self, line: Line) -> Line | None:
        """Return the next unclaimed line of the same stream, or None."""
        at = self.claims.skip(line.end)
        if at >= self.size:
            return None
        if self.unwrapped is not None and self.unwrapped.number(at) != self.unwrapped.number(line.start):
            return None
        return self.line(at)

    def before(self, line: Line) -> Line | None:
        """Return the unclaimed line right above, or None."""
        if line.start == 0:
            return None
        start = self.data.rfind(b"\n", max(0, line.start - LONGEST), line.start - 1) + 1
        start = max(start, self.claims.end_before(line.start - 1))
        if start >= line.start or self.claims.skip(start) != start:
            return None
        return self.line(start)

    def claim(self, kind: str, lines: Iterable[Line]) -> Span:
        """Claim the lines of one event and return the span from its first to its last byte."""
        pieces: list[list[int]] = []
        for line in lines:
            if pieces and pieces[-1][1] == line.start:
                pieces[-1][1] = line.end
            else:
                pieces.append([line.start, line.end])
        for start, end in pieces:
            self.claims.add(start, end, kind)
        return self.span(pieces[0][0], pieces[-1][1])

    def unreadable(self, start: int, end: int, expected: str) -> None:
        """Note bytes that announced something and could not be read."""
        self.claims.add(start, end, "")
        self.expected[start] = expected

    def rows(self) -> tuple[tuple[Record, ...], tuple[Unparsed, ...]]:
        """Return records and unparsed rows; together they hold every byte once."""
        records: list[Record] = []
        unparsed: list[Unparsed] = []
        for start, end, kind, expected in self._in_log():
            span = Span(self.source, start, end)
            if kind:
                records.append(Record(kind, span))
            else:
                unparsed.append(Unparsed(span, expected))
        return tuple(records), tuple(unparsed)

    def _in_log(self) -> Iterable[_Row]:
        """Return all ranges of the source in order, with the kind of what was claimed, or what was expected."""
        if self.unwrapped is None:
            return self._partition()
        kinds: dict[tuple[str, str], int] = {}
        own: list[int] = []
        for start, end, kind, expected in self._partition():
            if kind == _BORDER:
                continue
            # Storms and free text of several streams are one row where they stand together.
            key = (
                (kind, expected)
                if kind == "assertion" or expected == "text"
                else (kind, f"{expected}\0{start}")
            )
            number = kinds.setdefault(key, len(kinds))
            own += [low << _KINDS | number for low, _ in self.unwrapped.ranges(start, end)]
        own.sort()
        names = list(kinds)
        starts: list[tuple[int, tuple[str, str]]] = []
        last = -1
        for one in own:
            if one & _KIND != last:
                last = one & _KIND
                starts.append((one >> _KINDS, names[last]))
        ends = [*(start for start, _ in starts[1:]), len(self.source.data)]
        return [
            (start, end, kind, expected.partition("\0")[0])
            for (start, (kind, expected)), end in zip(starts, ends, strict=True)
        ]

    def _partition(self) -> Iterator[_Row]:
        at = 0
        for start, end, kind in self.claims:
            if start > at:
                yield at, start, "", "text"
            yield start, end, kind, "" if kind else self.expected.get(start, "text")
            at = end
        if at < self.size:
            yield at, self.size, "", "text"


_Row = tuple[int, int, str, str]
_KINDS = 32  # bits
_KIND = (1 << _KINDS) - 1
