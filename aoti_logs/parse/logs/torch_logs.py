"""Messages of torch's loggers: lines with one prefix are one message, its prefix taken off.

Format: `grammars/torch_logs.lark`. With the default prefix every line of a message has it, and lines of other
processes may stand between two of them. In all other styles only a message's first line has a prefix; it goes on
until something else begins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.log_format import log_format
from aoti_logs.parse.logs.log_prefix import (
    DEFAULT,
    GROUPS,
    Prefix,
    default_prefix,
    of_groups,
    other_prefix,
    with_rank,
)
from aoti_logs.parse.logs.open_message import OpenMessage

if TYPE_CHECKING:
    import mmap

    from aoti_logs.parse.logs.lines import Line, Log

WORDS = (
    *(b"\n%c%c" % (level, month) for level in b"VIWECF" for month in b"01"),
    b"\n[rank",
    b"\nDEBUG:",
    b"\nINFO:",
    b"\nWARNING:",
    b"\nERROR:",
    b"\nCRITICAL:",
    b"\n[20",
    b"\n> [20",
    b"\n[I",
    b"\n[V",
    b".py:",
)

_DEFAULT = re.compile(DEFAULT.encode())
# Behind other output on the same line; what quotes a line of a log puts a quote or a backslash before it.
_GLUED = re.compile(
    r"(?<![\\\"'`\w])(?:\[rank\d{1,7}\]:)?[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d{1,20} \S{1,300}?\.py:\d{1,9}\]"
)
# Lines of torch's own messages that begin like something else: the title of a graph, the rules of a table, and, below
# a graph break, the traceback that Python's formatter adds.
_TITLES = r" ===== .+ =====\s*$|-{5,}[- ]*$|=+ most recent `torch\.compile` tracing attempt"
_INSIDE = (re.compile(_TITLES), re.compile(_TITLES + r"|Traceback \(most recent call last\):|NoneType: None"))
_BLANK_BEHIND = ("bracket", "cpp")
_ID_OR_TAG = frozenset(bytes([c]) for c in b"!_0123456789")
_LONGEST = 200_000  # lines of one message
_LONGEST_HEAD = 4096
_FOREIGN = 1 << 16  # bytes of other ranks that may stand between two lines of a message


class LineNumbers:
    """Line numbers of growing offsets, each part of the data counted once."""

    def __init__(self, log: Log) -> None:
        self._data = log.data
        self._log = log
        self._at, self._line = 0, 1

    def of(self, offset: int) -> int:
        """Return the line (from 1) of an offset that is not before the last one asked for."""
        if self._log.unwrapped is not None:
            return self._log.line_number(offset)
        if offset > self._at:
            self._line += bytes(self._data[self._at : offset]).count(b"\n")
            self._at = offset
        return self._line


class TorchLogs:
    """Reads the messages of one log; `finish` gives the last ones."""

    def __init__(self, log: Log) -> None:
        self._numbers = LineNumbers(log)
        self._format = log_format(log.data)
        self._open: dict[tuple[int | None, int], OpenMessage] = {}
        self._frontier = -1
        self.any_format = self._format is not None
        self.words = self._format.words if self._format else ()
        """What announces lines of a format of the user's own."""

    def read(self, log: Log, line: Line) -> bool:
        """Claim the messages that begin on this line and right behind it."""
        at = self._runs(log, line)
        if at is not None:
            return True
        text = line.text[:_LONGEST_HEAD]
        prefix = default_prefix(text)
        if prefix is not None:  # with something before it that a launcher wrote
            self._wrapped(log, line, prefix)
            return True
        prefix = self._alone(log, line)
        if prefix is not None and ("%" not in prefix.style or prefix.module.startswith("torch")):
            if prefix.style == "unreadable":
                log.unreadable(line.start, line.end, "TORCH_LOGS prefix")
                return True
            self._until_other(log, line, with_rank(prefix, line.rank))
            return (
                prefix.style != "cpp"
            )  # what C++ logs may be an error with a stack below it: `parse/errors/error.py` claims it
        return self._glued(log, line)

    def finish(self, log: Log) -> None:
        """Close all messages and put them in the order in which they begin."""
        self._close(log, *self._open)
        log.messages.sort(key=lambda m: m.span.start)

    def _runs(self, log: Log, line: Line) -> int | None:
        """Read lines with the default prefix at their very beginning, as long as they follow each other."""
        data, at = log.data, line.start
        found = _DEFAULT.match(data, at)
        if found is None:
            return None
        glued = _glued_above(log, line, found[0]) if self._frontier != at else None
        if glued is not None:
            self._run(log, glued, found, found[0], glued + len(found[0]))
        while found is not None and log.claims.skip(at) == at:
            at = self._run(log, at, found, found[0], found.end())
            found = _DEFAULT.match(data, at) if at < log.size else None
        return at

    def _run(self, log: Log, at: int, found: re.Match[bytes], prefix: bytes, behind: int) -> int:
        """Add the lines from `at` that have the same prefix to their message; return where they end."""
        data, size, length = log.data, log.size, len(prefix)
        limit = log.claims.next_start(at, size)
        first = at
        one = self._message(log, at, found, prefix)
        while True:
            end = data.find(b"\n", behind)
            end = min(size if end < 0 else end + 1, limit)
            one.add(data[behind:end], at, end, self._numbers.of(at))
            at = end
            if at >= limit or data[at : at + length] != prefix or len(one.texts) >= _LONGEST:
                break
            behind = at + length
            if data[behind : behind + 1] not in b" \r\n" or (
                data[behind : behind + 2] == b" ["
                and data[behind + 2 : behind + 3] in _ID_OR_TAG
                and _other_prefix(data, at, prefix)
            ):
                break
        log.claims.add(first, at, "torch_logs")
        self._frontier = at
        return at

    def _message(self, log: Log, at: int, found: re.Match[bytes] | Prefix, text: bytes) -> OpenMessage:
        """Return the open message that a line goes on with, or a new one."""
        if not isinstance(found, Prefix):
            rank, process = found["rank"], found["process"]
            key = (None if rank is None else int(rank), int(process[:18]))
        else:
            key = (found.rank, found.process)
        if at != self._frontier and self._open:
            self._gap(log, at)
        one = self._open.get(key)
        if one is not None and one.prefix.text.encode() == text and len(one.texts) < _LONGEST:
            return one
        if one is not None:
            self._close(log, key)
        if not isinstance(found, Prefix):
            parts = (g if g is None else g.decode("utf-8", "replace") for g in found.group(*GROUPS))
            found = of_groups(text.decode("utf-8", "replace"), tuple(parts))
        one = self._open[key] = OpenMessage(found)
        return one

    def _gap(self, log: Log, at: int) -> None:
        """Close what cannot go on: text without a prefix, unless it is of other ranks, ends a message."""
        between = bytes(log.data[max(self._frontier, 0) : at]) if at - self._frontier <= _FOREIGN else b""
        if log.stream(max(self._frontier - 1, 0)) is not log.stream(at):
            between = b""  # another process
        ranks = {_rank_of(row) for row in between.split(b"\n") if row}
        if not between or None in ranks:
            self._close(log, *self._open)
        else:
            self._close(log, *(key for key in self._open if key[0] in ranks))

    def _wrapped(self, log: Log, line: Line, prefix: Prefix) -> None:
        """Add lines that have something of a launcher before the default prefix."""
        now: Line | None = line
        while now is not None:
            plain = with_rank(prefix, now.rank)
            one = self._message(log, now.start, plain, prefix.text.encode())
            text = now.text[len(prefix.text) :].encode()
            one.add(text, now.start, now.end, self._numbers.of(now.start))
            log.claims.add(now.start, now.end, "torch_logs")
            self._frontier = now.end
            if (
                now.end >= log.size
                or log.claims.skip(now.end) != now.end
                or _DEFAULT.match(log.data, now.end)
            ):
                return
            now = log.line(now.end)
            following = default_prefix(now.text[:_LONGEST_HEAD])
            if following is None:
                return
            prefix = following

    def _close(self, log: Log, *keys: tuple[int | None, int]) -> None:
        for key in keys:
            self._open.pop(key).close(log)

    def _alone(self, log: Log, line: Line) -> Prefix | None:
        """Read a prefix of another style, which stands once a message."""
        raw = bytes(log.data[line.start : min(line.end, line.start + _LONGEST_HEAD)]).decode(
            "utf-8", "replace"
        )
        for text in (raw, line.text[:_LONGEST_HEAD]):
            prefix = self._format.prefix(text) if self._format else None
            prefix = prefix or other_prefix(text)
            if prefix is not None:
                return prefix
        return None

    def _formatted(self, log: Log, line: Line) -> bool:
        """Tell whether a line had the user's format before its time was taken off as a launcher's."""
        if self._format is None or log.unwrapped is None:
            return False
        data, at = log.source.data, log.unwrapped.map.begin(line.start)
        start = data.rfind(b"\n", max(0, at - _LONGEST_HEAD), at) + 1
        raw = bytes(data[start : start + _LONGEST_HEAD]).decode("utf-8", "replace")
        return self._format.prefix(raw) is not None

    def _until_other(self, log: Log, line: Line, prefix: Prefix) -> None:
        """Add a message of which only the first line has a prefix: up to the next one, or to another event."""
        from aoti_logs.parse.errors.message import begins_other

        raw = bytes(log.data[line.start : line.end]).decode("utf-8", "replace")
        own = raw if raw.startswith(prefix.text) else line.text
        one = OpenMessage(prefix)
        now, text = line, own.removesuffix("\n").removesuffix("\r")[len(prefix.text) :]
        if prefix.style in _BLANK_BEHIND:
            text = text.removeprefix(" ")
        alone = prefix.style == "cpp" or not prefix.module.startswith("torch")
        while True:
            one.add(text.encode(), now.start, now.end, self._numbers.of(now.start))
            end = now.end
            if alone or end >= log.size or log.claims.skip(end) != end or len(one.texts) >= _LONGEST:
                break
            now = log.line(end)
            text = now.text
            # Since torch 2.1 every line of a message has the prefix in brackets.
            again = _again(log, now, prefix) if prefix.style == "bracket" else None
            if again is not None:
                text = again.removeprefix(" ")
                one.again.append(len(one.texts))
                continue
            if now.rank != line.rank or self._alone(log, now) is not None or self._formatted(log, now):
                break
            if begins_other(text) and not _INSIDE[prefix.artifact == "graph_breaks"].match(text):
                break
        if prefix.style != "cpp":
            log.claims.add(line.start, end, "torch_logs")
        self._close(log, *self._open)
        self._frontier = end
        one.close(log)

    def _glued(self, log: Log, line: Line) -> bool:
        """Claim a message of one line that stands behind other output."""
        found = _GLUED.search(line.text[:_LONGEST_HEAD])
        if found is None:
            return False
        at = bytes(log.data[line.start : line.end]).find(found[0].encode())
        whole = _DEFAULT.match(log.data, line.start + at) if at > 0 else None
        if whole is None:
            return False
        self._run(log, line.start + at, whole, whole[0], whole.end())
        return True


def _other_prefix(data: bytes | mmap.mmap, at: int, prefix: bytes) -> bool:
    """Tell whether a line that begins with a prefix has a longer one."""
    found = _DEFAULT.match(data, at)
    return found is None or found[0] != prefix


def _again(log: Log, line: Line, prefix: Prefix) -> str | None:
    """Return what stands behind the same prefix on a line, None where it does not stand."""
    raw = (
        bytes(log.data[line.start : line.end])
        .decode("utf-8", "replace")
        .removesuffix("\n")
        .removesuffix("\r")
    )
    whole = raw if raw.startswith(prefix.text) else line.text
    return whole[len(prefix.text) :] if whole.startswith(prefix.text) else None


def _rank_of(row: bytes) -> int | None:
    found = re.match(rb"\[(?:rank|default)(\d{1,7})\]", row)
    return int(found[1]) if found else None


def _glued_above(log: Log, line: Line, prefix: bytes) -> int | None:
    """Return where the message begins behind other output on the line above (a test's name), if it does."""
    above = log.before(line)
    if above is None or above.end != line.start:
        return None
    at = bytes(log.data[above.start : min(above.end, above.start + _LONGEST_HEAD)]).find(b" " + prefix)
    return None if at < 0 else above.start + at + 1
