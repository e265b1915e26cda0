"""One record of a tlparse report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.records import payload as _payload
from aoti_logs.records.record import Check, TraceRecord
from aoti_logs.sources.source import Place, Span

if TYPE_CHECKING:
    from aoti_logs.records.tlparse.index import ReportIndex
    from aoti_logs.sources.source import Source


class ReportRecord(TraceRecord):
    """A record of a report. `time`, `process` and `emitter` are empty or 0 where it does not tell them."""

    index: ReportIndex

    @property
    def _origin(self) -> tuple[Source, int, int, int]:
        number, start, end, line = self.index.rebuilt.origins[self.number]
        return self.index.rebuilt.sources[number], start, end, line

    @property
    def head(self) -> Span:
        """The bytes of the report that tell of it: a line of `raw.jsonl`, an event, a payload's file."""
        source, start, end, _ = self._origin
        return Span(source, start, end)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The same."""
        return (self.head,)

    @property
    def line(self) -> int:
        """Line (from 1) of those bytes in their file."""
        return self._origin[3]

    @property
    def where(self) -> tuple[str, int]:
        """File and line of those bytes."""
        source, _, _, line = self._origin
        return source.name, line

    @property
    def place(self) -> Place:
        """Where a person finds it."""
        source, _, _, line = self._origin
        return source.place(line)

    @property
    def text_where(self) -> tuple[str, int]:
        """File and line that stand for the payload as a whole: where it begins."""
        source, lines = self.payload_where
        return (source, lines[0]) if lines else self.where

    @property
    def payload_where(self) -> tuple[str, range | list[int]]:
        """File of the payload, and the line number there of each of its lines."""
        lines = self.payload_lines()
        if not lines:
            return self.where[0], lines
        source, first, by_line = self.index.rebuilt.at(lines[0])
        return source.name, range(first, first + len(lines)) if by_line else [first] * len(lines)

    @property
    def level(self) -> str:
        """Empty: tlparse does not keep it."""
        return ""

    @property
    def time(self) -> str:
        """Local time, `MMDD HH:MM:SS.uuuuuu`; empty where it is not told, as of chromium events."""
        return self._prefix[1] if self.index.rebuilt.known[self.number].time else ""

    @property
    def process(self) -> int:
        """Process id; of a chromium event that of all other records, and 0 where they differ."""
        return self._prefix[2]

    def check(self) -> Check:
        """Compare the payload with what the envelope declares. tlparse writes JSON anew, so there it says nothing."""
        known, md5, wrong = self.index.rebuilt.known[self.number], self.declared_md5, self._decoded[1]
        if known.problem is not None or not self.has_payload:
            return Check(None, md5, None, wrong or known.problem)
        if md5 is None or not known.exact:
            return Check(None, md5, None, wrong)
        payload = self.payload
        intact = _payload.matches(payload, md5)
        return Check(len(payload), md5, intact, wrong or (None if intact else _payload.CHANGED))
