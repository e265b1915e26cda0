"""Messages of TORCH_LOGS: lines with one prefix are one message, its prefix taken off.

Format: `grammars/torch_logs.lark`. In the short form only a message's first line has a prefix; it
goes on until something else begins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import LogLine
from aoti_logs.parse.message import begins_other
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Line, Log
    from aoti_logs.parse.shape import Fields

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
)

_LEAD = rb"(?:> )?(?:\[rank\d{1,7}\]:? ?)?"
_RANK = re.compile(rb"(?:> )?(?:\[rank(\d{1,7})\]:? ?)?")
_DEFAULT = re.compile(
    _LEAD
    + rb"[VIWECF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,20} [^\n]{1,1000}?:\d{1,9}\](?: \[!?[\d/]{1,40}(?:_\d{1,9})?\])?(?: \[__\w{1,100}\])?"
)
_SHORT = re.compile(_LEAD + rb"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[A-Za-z_][\w.]{0,300}:")
_OLD = re.compile(
    _LEAD
    + rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{1,6}\] (?:\[[\d/_]{1,40}\] )?[A-Za-z_][\w.]{0,300}: \[[A-Z]{4,8}\]"
)
_LEVELS = {"V": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "FATAL"}
_LONGEST = 200_000  # lines of one message


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
    """Reads the messages of one log."""

    def __init__(self, log: Log) -> None:
        self._numbers = LineNumbers(log)

    def read(self, log: Log, line: Line) -> bool:
        """Claim the message that begins on this line."""
        head = bytes(log.data[line.start : min(line.end, line.start + 4096)])
        for start, pattern in (("default", _DEFAULT), ("short", _SHORT), ("old", _OLD)):
            found = pattern.match(head)
            if found is None:
                continue
            text = found[0].decode("utf-8", "replace")
            rank = _RANK.match(head)
            read = fields("torch_logs", start, text[rank.end() :] if rank else text)
            if read is None:
                log.unreadable(line.start, line.end, "TORCH_LOGS prefix")
                return True
            if start == "default":
                line = _glued_above(log, line, found[0])
            self._message(log, line, found[0], start, read)
            return True
        return False

    def _message(self, log: Log, line: Line, prefix: bytes, start: str, found: Fields) -> None:
        if start == "short":
            text, lines, spans = _until_other(log, line, prefix)
        else:
            text, lines, spans = _same_prefix(log, line, prefix)
        number = self._numbers.of(line.start)
        numbers: range | tuple[int, ...] = range(number, number + len(lines))
        if log.unwrapped is not None:
            numbers = tuple(map(log.line_number, lines))
        elif len(spans) > 1:
            numbers = tuple(self._numbers_of(log, number, line.start, lines))
        for begin, end in spans:
            log.claims.add(begin, end, "torch_logs")
        rank = _RANK.match(prefix)
        log.messages.append(
            LogLine(
                level=_LEVELS.get(first(found, "LEVEL") or "", first(found, "LEVEL_NAME") or ""),
                time=_time(found),
                process=int((first(found, "PID") or "0")[:18]),
                module=first(found, "FILE") or (first(found, "LOGGER") or "").partition(".__")[0],
                module_line=int((first(found, "LINE") or "0")[:9]),
                compile_id=first(found, "TRACE"),
                artifact=_artifact(found),
                rank=int(rank[1]) if rank and rank[1] else line.rank,
                text=text,
                lines=numbers,
                span=log.span(line.start, spans[-1][1]),
            )
        )

    def _numbers_of(self, log: Log, number: int, at: int, lines: list[int]) -> list[int]:
        out: list[int] = []
        for start in lines:
            number += bytes(log.data[at:start]).count(b"\n")
            at = start
            out.append(number)
        return out


def _glued_above(log: Log, line: Line, prefix: bytes) -> Line:
    """Return where the message begins behind other output on the line above (a test's name), if it does."""
    above = log.before(line)
    if above is None or above.end != line.start:
        return line
    at = bytes(log.data[above.start : min(above.end, above.start + 4096)]).find(b" " + prefix)
    return line if at < 0 else log.line(above.start + at + 1)


def _time(found: Fields) -> str:
    if "DATE" in found:
        return f"{found['DATE'][0]} {found['TIME'][0]}"
    return first(found, "WHEN") or ""


def _artifact(found: Fields) -> str | None:
    if "ARTIFACT" in found:
        return found["ARTIFACT"][0]
    return (first(found, "LOGGER") or "").partition(".__")[2] or None


def _same_prefix(log: Log, line: Line, prefix: bytes) -> tuple[str, list[int], list[list[int]]]:
    """Join the lines that begin with the same bytes; lines of other ranks may stand between them."""
    data, parts = log.data, []
    starts: list[int] = []
    spans: list[list[int]] = []
    at, end = line.start, line.end
    while len(starts) < _LONGEST:
        parts.append(bytes(data[at + len(prefix) : end]).removesuffix(b"\n").removesuffix(b"\r"))
        starts.append(at)
        if spans and spans[-1][1] == at:
            spans[-1][1] = end
        else:
            spans.append([at, end])
        following = end
        if data[following : following + len(prefix)] != prefix:
            other = _own_line(log, following, prefix)
            if other is None:
                break
            following = other
        if log.claims.skip(following) != following:
            break
        found = data.find(b"\n", following)
        at, end = following, log.size if found < 0 else found + 1
        end = min(end, log.claims.next_start(at, end))
    text = b"\n".join(p.removeprefix(b" ") for p in parts).decode("utf-8", "replace")
    return text, starts, spans


def _own_line(log: Log, at: int, prefix: bytes) -> int | None:
    """Return where the same prefix stands again behind a few lines of other ranks."""
    if not prefix.startswith(b"[rank"):
        return None
    data = log.data
    for _ in range(64):
        if data[at : at + 5] != b"[rank":
            return None
        if data[at : at + len(prefix)] == prefix:
            return at
        found = data.find(b"\n", at)
        if found < 0:
            return None
        at = found + 1
    return None


def _until_other(log: Log, line: Line, prefix: bytes) -> tuple[str, list[int], list[list[int]]]:
    """Join the lines of a short-form message: up to the next one, or to another event."""
    own = bytes(log.data[line.start + len(prefix) : line.end]).removesuffix(b"\n").removesuffix(b"\r")
    parts = [own.decode("utf-8", "replace")]
    starts = [line.start]
    end = line.end
    while len(starts) < _LONGEST and end < log.size and log.claims.skip(end) == end:
        now = log.line(end)
        if now.rank is not None or begins_other(now.text):
            break
        parts.append(now.text)
        starts.append(now.start)
        end = now.end
    return "\n".join(parts), starts, [[line.start, end]]
