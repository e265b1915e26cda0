"""A log as lines that can be claimed: every byte is claimed once, what nobody claims is free text.

A line here is what is left of a physical line between claims: a progress bar with an assertion
glued to it is two lines. What launchers put in front (rank, worker, time, colour) is taken off.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Record, Unparsed
from aoti_logs.sources.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.autotune import Autotuning
    from aoti_logs.parse.events import Dump, ErrorText, LogLine, Note, Stack
    from aoti_logs.sources.source import Source

LONGEST = 1 << 20
"""Of a line that is longer, only this much is decoded and matched; its bytes are claimed as a whole."""
_FOREIGN = 256  # lines of other ranks that may stand between two lines of one rank

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_RANK = re.compile(r"\[(?:rank|default)(\d{1,7})\]:? ?")
_WORKER = re.compile(r"\(\w[\w.]*(?: [\w.]{1,20}=[^)\s]{1,60}){1,4}\)(?:\x1b\[0m)? ?")
_OTHER = (
    _WORKER,
    re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? "),
    re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) +\d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]+\.py:\d+\] ?"),
    re.compile(r"│ ?"),
    re.compile(r"> "),
)
_PREFIX_START = frozenset("[(0123456789DIWEC│>")
_WORKER_RANK = re.compile(r"\brank=(\d{1,7})\b")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: `start` and `end` (after its line feed) in bytes, its text without prefix, colour and end."""

    start: int
    end: int
    text: str
    rank: int | None


def unprefixed(raw: str) -> tuple[str, int | None]:
    """Take a launcher's prefix, colour codes and a table's border off; return the text and the rank."""
    text = _ANSI.sub("", raw) if "\x1b" in raw else raw
    rank: int | None = None
    for _ in range(4):
        if not text or text[0] not in _PREFIX_START:
            break
        found = _RANK.match(text)
        if found is not None:
            rank = int(found[1])
        else:
            found = next((m for p in _OTHER if (m := p.match(text)) is not None), None)
            if found is None:
                break
            worker = _WORKER_RANK.search(found[0])
            rank = rank if worker is None else int(worker[1])
            if found[0].startswith("│"):
                text = text.rstrip().removesuffix("│").rstrip()
        text = text[found.end() :]
    return text, rank


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

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data = source.data
        self.size = len(self.data)
        self.claims = Claims()
        self._last = Line(-1, -1, "", None)  # a line is looked at from above, then read itself
        self.expected: dict[int, str] = {}
        self.errors: list[ErrorText] = []
        self.stacks: list[Stack] = []
        self.dumps: list[Dump] = []
        self.messages: list[LogLine] = []
        self.notes: list[Note] = []
        self.autotunings: list[Autotuning] = []

    def span(self, start: int, end: int) -> Span:
        """Return a span of this source."""
        return Span(self.source, start, end)

    def line(self, at: int) -> Line:
        """Return the line that begins at an unclaimed offset and ends at a line feed or a claim."""
        found = self.data.find(b"\n", at)
        end = self.size if found < 0 else found + 1
        end = min(end, self.claims.next_start(at, end))
        if (self._last.start, self._last.end) == (at, end):
            return self._last
        raw = bytes(self.data[at : min(end, at + LONGEST)]).decode("utf-8", "replace")
        text, rank = unprefixed(raw.removesuffix("\n").removesuffix("\r"))
        self._last = Line(at, end, text, rank)
        return self._last

    def after(self, line: Line) -> Line | None:
        """Return the next unclaimed line of the same rank, or None when there is none nearby."""
        at = line.end
        for _ in range(_FOREIGN):
            at = self.claims.skip(at)
            if at >= self.size:
                return None
            found = self.line(at)
            if found.rank == line.rank:
                return found
            at = found.end
        return None

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
        at = 0
        for start, end, kind in self.claims:
            if start > at:
                unparsed.append(Unparsed(self.span(at, start), "text"))
            if kind:
                records.append(Record(kind, self.span(start, end)))
            else:
                unparsed.append(Unparsed(self.span(start, end), self.expected.get(start, "text")))
            at = end
        if at < self.size:
            unparsed.append(Unparsed(self.span(at, self.size), "text"))
        return tuple(records), tuple(unparsed)
