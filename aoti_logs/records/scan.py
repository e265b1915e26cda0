"""One pass over a TORCH_TRACE file: where its records are, and what is between them.

Only a line that does not begin with a TAB can begin a record, so the pass looks at those lines
alone. Most are records one after the other and take the short way; whatever else there is (text of
the program, torn records, two records on one line) goes through `_odd` and `_settle`.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING

from aoti_logs.records import envelope, payload

if TYPE_CHECKING:
    import mmap

    from aoti_logs.records.payload import Piece

_ENVELOPE = rb'(?:\{ ?"([^"\\\n]{1,200})": ?(?:\{ ?"name": ?"([^"\\\n]{0,200})")?)?[^\n]*'
_HEAD = re.compile(rb"(" + envelope.PREFIX + rb")" + _ENVELOPE)
# Lines of text that follow each other are taken together: a trace may lie in a program's output.
_TEXT_LINE = rb"(?!\t|\r?\n|[A-Z]{1,16}[01]\d[0-3]\d \d\d:)[^\n]+"
_LINE = re.compile(
    rb"\n(?!\t)(?:("
    + envelope.PREFIX
    + rb")"
    + _ENVELOPE
    + rb"|"
    + _TEXT_LINE
    + rb"(?:\n"
    + _TEXT_LINE
    + rb"){0,500})?"
)
_GLUE = re.compile(rb'\] \{"')
_LONGEST_PREFIX = 1200
_MOST_PENDING = 10_000
_LONGEST_RESCUE = 1 << 24

TEXT = "text"
ENVELOPE = "a TORCH_TRACE envelope"
REST = "the rest of a TORCH_TRACE record"
_BLANK = ""

_Names = tuple[bytes | None, bytes | None]
Key = tuple[str, str | None]
"""Entry name, and the artifact's or dump's own name."""


@dataclass
class Columns:
    """The index of a trace, a number a record: `start` of the prefix, `env` of the envelope, its end
    (`head_end`, where the newline is), `end` of the record.

    `breaks` holds the payload's pieces of the few records whose payload is not simply the lines from
    `head_end` to `end`. `rows` are the bytes of no record: start, end, what was expected.
    """

    start: array[int] = field(default_factory=lambda: array("Q"))
    env: array[int] = field(default_factory=lambda: array("Q"))
    head_end: array[int] = field(default_factory=lambda: array("Q"))
    end: array[int] = field(default_factory=lambda: array("Q"))
    key: array[int] = field(default_factory=lambda: array("I"))
    keys: list[Key] = field(default_factory=list)
    by_key: list[array[int]] = field(default_factory=list)
    breaks: dict[int, tuple[Piece, ...]] = field(default_factory=dict)
    rows: list[tuple[int, int, str]] = field(default_factory=list)

    def pieces(self, number: int) -> tuple[Piece, ...]:
        """Return the byte ranges of the payload's lines; blank lines between them belong to it."""
        broken = self.breaks.get(number)
        if broken is not None:
            return broken
        start, end = min(self.head_end[number] + 1, self.end[number]), self.end[number]
        return ((start, end),) if start < end else ()

    def spans(self, number: int) -> tuple[Piece, ...]:
        """Return the byte ranges of the whole record."""
        if number not in self.breaks:
            return ((self.start[number], self.end[number]),)
        spans = [(self.start[number], self.end[number])]
        for start, end in self.breaks[number]:
            if end > spans[-1][1]:
                spans.append((max(start, spans[-1][1]), end))
        merged = spans[:1]
        for start, end in spans[1:]:
            if start == merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
            else:
                merged.append((start, end))
        return tuple(merged)


def scan(data: bytes | mmap.mmap) -> Columns:
    """Index a trace. Records and rows share out the bytes among them, none twice."""
    return _Scanner(data).run()


class _Scanner:
    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.data = data
        self.size = len(data)
        self.out = Columns()
        self.known: dict[Key, int] = {}
        self.numbers: dict[_Names, int] = {}
        # Lines after the last record that are not records: start, end of the line itself, end of the
        # TAB lines after it, what it is.
        self.pending: list[tuple[int, int, int, str]] = []
        # Checksums decide what odd lines are. Bounded, so that no file makes us hash it many times.
        self.hashable = 4 * self.size + (1 << 20)

    def run(self) -> Columns:
        if not self.size:
            return self.out
        data, size, out, numbers = self.data, self.size, self.out, self.numbers
        add = (out.start.append, out.env.append, out.head_end.append, out.end.append, out.key.append)
        add_start, add_env, add_head_end, add_end, add_key = add
        # Where `] {"` stands: once in every record, before its envelope. Any other is looked at closely.
        glue = chain(map(re.Match.start, _GLUE.finditer(data)), repeat(size))
        at = next(glue)
        start, head = 0, _HEAD.match(data, 0)
        env, head_end = (head.end(1), head.end()) if head else (-1, 0)
        names: _Names = (head[2], head[3]) if head else (None, None)
        for line in chain(_LINE.finditer(data), (None,)):
            end = line.start() + 1 if line is not None else size
            if end == size and line is not None:
                continue
            odd: list[int] = []
            while at < end:
                if at + 2 != env and at and 0x30 <= data[at - 1] <= 0x39:
                    odd.append(at)
                at = next(glue)
            key = numbers.get(names)
            if env < 0 and not odd:
                self._text(start, end)
            elif env < 0:
                self._texts(start, end, odd)
            elif key is None or odd or self.pending or data[head_end - 1] != 0x7D:
                self._odd(start, end, odd)
            else:
                out.by_key[key].append(len(out.start))
                add_start(start)
                add_env(env)
                add_head_end(head_end)
                add_end(end)
                add_key(key)
            if line is not None:
                start, env = end, line.end(1)
                if env >= 0:
                    head_end, names = line.end(), (line[2], line[3])
        self._settle()
        return out

    # ------------------------------------------------------------ the long way

    def _texts(self, start: int, end: int, glue: list[int]) -> None:
        """Take lines of text that were matched together, a record inside one of them."""
        first = 0
        while start < end:
            line_end = self._line_end(start, end)
            while line_end < end and self.data[line_end] == 0x09:
                line_end = self._line_end(line_end, end)
            last = bisect_left(glue, line_end, first)
            self._odd(start, line_end, glue[first:last])
            start, first = line_end, last

    def _odd(self, start: int, end: int, glue: list[int]) -> None:
        """Take a line and its TAB lines, with the places where another record may begin in them."""
        newline = self.data.find(b"\n", start, end)
        for at in glue:
            begin = self._prefix_before(start, at)
            if begin < 0:
                continue
            in_payload = 0 <= newline < at
            if in_payload and self._intact(start, newline, end):
                break
            if begin > start:
                self._one(start, begin)
            start = begin
            if in_payload:
                newline = self.data.find(b"\n", start, end)
        self._one(start, end)

    def _prefix_before(self, start: int, at: int) -> int:
        """Return where the record begins whose envelope is at `at` + 2, -1 when there is none."""
        data = self.data
        if envelope.NAME.match(data, at + 2) is None:
            return -1
        floor = max(start, at - _LONGEST_PREFIX)
        window = bytes(data[floor : at + 2])
        window_start = window.rfind(b"\n") + 1
        found = None
        while (more := envelope.LOOSE.search(window, window_start)) is not None:
            # The last prefix that fits: a torn record may end in the middle of its own.
            found, window_start = more, more.start() + 1
        return floor + found.start() if found else -1

    def _intact(self, start: int, newline: int, end: int) -> bool:
        """Tell whether the record at `start` has exactly the payload it declares."""
        head = _HEAD.match(self.data, start, newline)
        if head is None or head.group(2) is None:
            return False
        return self._fits(head.end(1), newline, ((newline + 1, end),))

    def _fits(self, env: int, head_end: int, pieces: tuple[Piece, ...]) -> bool:
        md5 = payload.declared_md5(self.data, env, head_end)
        length = sum(end - start for start, end in pieces)
        if md5 is None or length > self.hashable:
            return False
        self.hashable -= length
        crlf = self.data[head_end - 1] == 0x0D
        return payload.matches(payload.read(self.data, pieces, crlf=crlf), md5)

    def _one(self, start: int, end: int) -> None:
        """Take one record, or a line that is none."""
        head = _HEAD.match(self.data, start, end)
        if head is None:
            self._text(start, end)
        elif head.group(2) is None:
            self._wait(start, self._line_end(start, end), end, ENVELOPE)
        else:
            self._record(start, head, end)

    def _text(self, start: int, end: int) -> None:
        """Take lines of text; after the last of them may be TAB lines."""
        text_end = self.data.find(b"\n\t", start, end) + 1 or end
        blank = text_end - start <= 2 and not bytes(self.data[start:text_end]).strip(b"\r\n")
        self._wait(start, text_end, end, _BLANK if blank else TEXT)

    def _line_end(self, start: int, end: int) -> int:
        return self.data.find(b"\n", start, end) + 1 or end

    def _record(self, start: int, head: re.Match[bytes], end: int) -> None:
        env, head_end = head.end(1), head.end()
        last = head_end - 2 if self.data[head_end - 1] == 0x0D else head_end - 1
        if self.data[last] != 0x7D:
            self._torn(start, env, head_end, end)
            return
        key = self._key(env, head_end, (head[2], head[3]))
        if key is None:
            self._wait(start, self._line_end(start, end), end, ENVELOPE)
            return
        self._settle()
        self._append(start, env, head_end, end, key)

    def _torn(self, start: int, env: int, head_end: int, end: int) -> None:
        """Take a record whose line does not end as JSON: it is cut, or text follows on its line."""
        length = -1
        if head_end - env <= _LONGEST_RESCUE:
            length = envelope.object_end(bytes(self.data[env:head_end]))
        names = envelope.NAME.match(self.data, env, head_end)
        key = self._key(env, env + length, (names[1], names[2])) if length > 0 and names else None
        line_end = self._line_end(start, end)
        if key is None:
            self._wait(start, line_end, end, REST)
            return
        self._settle()
        self._append(start, env, env + length, env + length, key)
        self.out.breaks[len(self.out.start) - 1] = ((line_end, end),) if line_end < end else ()
        self.out.rows.append((env + length, line_end, TEXT))

    def _append(self, start: int, env: int, head_end: int, end: int, key: int) -> None:
        out = self.out
        out.by_key[key].append(len(out.start))
        for column, value in zip(
            (out.start, out.env, out.head_end, out.end, out.key),
            (start, env, head_end, end, key),
            strict=True,
        ):
            column.append(value)

    def _key(self, env: int, head_end: int, names: _Names) -> int | None:
        """Return the number of an entry's key; None when the envelope names no entry."""
        known = self.numbers.get(names)
        if known is not None:
            return known
        name, own = ((part.decode("utf-8", "replace") if part is not None else None) for part in names)
        plain = name is not None and name not in envelope.CONTEXT_KEYS
        if not plain or (name in envelope.NAMED and own is None):
            # Keys in another order, or a name that JSON has to unescape: rare, so decode.
            return self._decoded_key(env, head_end)
        assert name is not None
        number = self._number((name, own if name in envelope.NAMED else None))
        self.numbers[names] = number
        return number

    def _decoded_key(self, env: int, head_end: int) -> int | None:
        try:
            value = envelope.decode_json(bytes(self.data[env:head_end]))
        except ValueError:
            return None
        names = envelope.entry_names(value) if isinstance(value, dict) else ()
        if not names:
            return None
        entry = value[names[0]]
        own = entry.get("name") if names[0] in envelope.NAMED and isinstance(entry, dict) else None
        return self._number((names[0], own if isinstance(own, str) else None))

    def _number(self, key: Key) -> int:
        number = self.known.setdefault(key, len(self.known))
        if number == len(self.out.keys):
            self.out.keys.append(key)
            self.out.by_key.append(array("I"))
        return number

    # ------------------------------------------------------------ lines of no record

    def _wait(self, start: int, line_end: int, end: int, kind: str) -> None:
        pending = self.pending
        if pending and pending[-1][3] == kind and pending[-1][1] == pending[-1][2]:
            pending[-1] = (pending[-1][0], line_end, end, kind)
            return
        if len(pending) >= _MOST_PENDING:
            self._rows(pending)
            pending.clear()
        pending.append((start, line_end, end, kind))

    def _settle(self) -> None:
        """Decide whether the TAB lines among the pending lines continue the last record's payload."""
        pending, out = self.pending, self.out
        if not pending:
            return
        self.pending = []
        number = len(out.start) - 1
        joined = self._joined(number, pending) if number >= 0 else None
        if joined is None:
            self._rows(pending)
            return
        out.breaks[number] = joined
        taken = set(joined)
        for start, line_end, end, kind in pending:
            if (line_end, end) in taken or (start, end) in taken:
                if (start, end) not in taken:
                    self._rows([(start, line_end, line_end, kind)])
            else:
                self._rows([(start, line_end, end, kind)])

    def _joined(self, number: int, pending: list[tuple[int, int, int, str]]) -> tuple[Piece, ...] | None:
        """Return the payload's pieces when pending lines hold some of them, else None."""
        out = self.out
        own, env, head_end = out.pieces(number), out.env[number], out.head_end[number]
        if not any(line_end < end for _, line_end, end, _ in pending):
            return None
        if payload.declared_md5(self.data, env, head_end) is None or self._fits(env, head_end, own):
            return None
        foreign = next((i for i, line in enumerate(pending) if line[3] in (ENVELOPE, REST)), len(pending))
        for lines in [pending] if foreign == len(pending) else [pending[:foreign], pending]:
            for blank_too in (True, False):
                pieces = own + _tab_lines(lines, blank_too=blank_too)
                if self._fits(env, head_end, pieces):
                    return pieces
        # No checksum fits, so lines are missing for certain. TAB lines after plain text are theirs;
        # after another record's line they may be anybody's.
        more = _tab_lines(pending[:foreign], blank_too=True)
        return own + more if more else None

    def _rows(self, lines: list[tuple[int, int, int, str]]) -> None:
        rows = self.out.rows
        for start, _, end, kind in lines:
            expected = kind or TEXT
            if rows and rows[-1][1] == start and rows[-1][2] == expected:
                rows[-1] = (rows[-1][0], end, expected)
            else:
                rows.append((start, end, expected))


def _tab_lines(lines: list[tuple[int, int, int, str]], *, blank_too: bool) -> tuple[Piece, ...]:
    """Return the TAB lines after each line, with the line itself where it is blank and wanted."""
    pieces: list[Piece] = []
    last = max((i for i, line in enumerate(lines) if line[1] < line[2]), default=-1)
    for start, line_end, end, kind in lines[: last + 1]:
        if kind == _BLANK and blank_too:
            pieces.append((start, end))
        elif line_end < end:
            pieces.append((line_end, end))
    return tuple(pieces)
