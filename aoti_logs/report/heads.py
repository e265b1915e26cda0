r"""Which lines of a file tlparse takes for records.

tlparse looks for `[VIWEC]dddd dd:dd:dd.dddddd \d+[^:]+:\d+\] .` anywhere in a line (digits of any script)
and reads all that follows as JSON. It does so for every line that is not part of a payload it waits for,
so a line of a payload can be a record to tlparse although torch wrote it as text. What tlparse is kept
from doing must therefore be decided for the lines that it could take, not for ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.records import envelope

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

_GLUE = re.compile(rb"\] [ \t\r]*\{")
_USUAL = re.compile(
    rb"[VIWEC][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}.[0-9]{6} ([0-9]{1,19})[^:\n0-9\x80-\xff][^:\n]{0,1024}:[0-9]{1,19}\] "
)
# A digit of another script is several bytes; every character of several bytes is taken for one.
_WIDE = rb"[\xc0-\xf7][\x80-\xbf]{1,3}"
_DIGIT = rb"(?:[0-9]|" + _WIDE + rb")"
_START = re.compile(
    rb"[VIWEC]%b{4} %b{2}:%b{2}:%b{2}(?:%b|[^\n])%b{6} (?=(%b))"
    % (_DIGIT, _DIGIT, _DIGIT, _DIGIT, _WIDE, _DIGIT, _DIGIT)
)
_NUMBER = re.compile(rb"[0-9]{1,19}(?![0-9])")
_DIGITS = re.compile(_DIGIT + rb"*")
_OURS = re.compile(envelope.PREFIX)


class Head(NamedTuple):
    """A line that tlparse reads as a record, or should.

    Attributes:
        start: where the line begins.
        env: where its JSON begins.
        end: where the line ends, without its line end.
        process: what the prefix says, -1 when it is no number.
        taken: False when only our reader knows the prefix.
        plain: False when a number of the prefix is one that tlparse stops at.
    """

    start: int
    env: int
    end: int
    process: int
    taken: bool = True
    plain: bool = True


def heads(data: bytes | mmap.mmap) -> Iterator[Head]:
    """Yield, in file order, the lines that tlparse could read as a record with a JSON object."""
    done = 0
    for glue in _GLUE.finditer(data):
        if glue.start() < done:
            continue
        start = data.rfind(b"\n", done, glue.start()) + 1 or done
        end = data.find(b"\n", glue.start())
        end = len(data) if end < 0 else end
        done = min(end + 1, len(data))
        stripped = end - 1 if end > start and data[end - 1] == 0x0D else end
        usual = _USUAL.match(data, start, stripped)
        if usual is not None:
            if _is_object(data, usual.end(), stripped):
                yield Head(start, usual.end(), stripped, int(usual[1]))
            continue
        found = _search(data, start, stripped) or _ours(data, start, stripped)
        if found is not None:
            yield found


def _is_object(data: bytes | mmap.mmap, env: int, end: int) -> bool:
    while env < end and data[env] in b" \t\r":
        env += 1
    return env < end and data[env] == 0x7B


def _search(data: bytes | mmap.mmap, start: int, end: int) -> Head | None:
    """Find the first place in a line where tlparse's pattern fits."""
    at = start
    while (found := _START.search(data, at, end)) is not None:
        process = found.end()
        colon = data.find(b":", process + 1, end)
        if colon < 0:
            return None
        at = found.start() + 1
        first = found.end(1)
        number = _DIGITS.match(data, colon + 1, end)
        if colon <= first or number is None or number.end() == colon + 1:
            continue
        if bytes(data[number.end() : number.end() + 2]) != b"] " or number.end() + 2 >= end:
            continue
        env = number.end() + 2
        if not _is_object(data, env, end):
            return None
        own = _NUMBER.match(data, process, colon)
        plain = (
            own is not None
            and data[own.end()] < 0x80
            and _NUMBER.fullmatch(data, colon + 1, number.end()) is not None
            and bytes(data[found.start() : process]).isascii()
        )
        return Head(start, env, end, int(own[0]) if own else -1, plain=plain)
    return None


def _ours(data: bytes | mmap.mmap, start: int, end: int) -> Head | None:
    """Find a record whose prefix tlparse does not know: a path with a drive, a level of another name."""
    found = _OURS.match(data, start, end)
    parts = envelope.parse_prefix(bytes(data[start : found.end()])) if found else None
    if found is None or parts is None or not _is_object(data, found.end(), end):
        return None
    return Head(start, found.end(), end, parts[2], taken=False)


def usual_prefix(data: bytes | mmap.mmap, head: Head) -> bytes:
    """Return the prefix of a head that is not `taken` as tlparse takes it."""
    level, time, process, path, line = envelope.parse_prefix(bytes(data[head.start : head.env])) or (
        ("V", "0101 00:00:00.000000", 0, "unknown", 0)
    )
    day, _, fraction = time.partition(".")
    level = level if level in {"V", "I", "W", "E", "C"} else "V"
    path = path.replace(":", "_") or "_"
    return f"{level}{day}.{fraction[:6]:0<6} {process % 10**18} {path}:{line}] ".encode()
