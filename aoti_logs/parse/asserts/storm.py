"""Device assertion lines of a log, also a million of them.

Runs of whole lines of the CUDA form are counted by `runs.py`. Every other form (folded over several lines,
glued to other output, HIP, XPU) is read line by line by the same grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.asserts.assertion import Printed, Tallies, device_line, place_start
from aoti_logs.parse.asserts.runs import Runs
from aoti_logs.parse.logs.announce import Announcer

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Log
    from aoti_logs.parse.logs.sender import Sender

_ANCHOR = re.compile(rb"block:\s{0,9}\[|block:[ \t\r]*\n|global id:\s{0,9}\[|device assertion failed: ")
_LITERALS = (b"block:", b"global id:", b"device assertion failed: ")

_TAIL = re.compile(
    r"Assertion\s.*?failed\b\.?|device assertion failed: '.*?', in .{1,1500}? at [^\n]{1,1500}?:\d+", re.S
)
_WINDOW = 4096
_FOLDS = 3
_REMEMBERED = 1000


def read_storm(log: Log, tallies: Tallies) -> None:
    """Claim every device assertion of the log and count it; stop at the first that something is wrapped around."""
    data, at = log.data, 0
    runs = Runs(log, tallies)
    same: dict[tuple[Sender, bytes], Printed] = {}
    announcer = Announcer(data, _LITERALS, passing=True)
    while not log.wrapped and (hit := announcer.next(at, log.size)) is not None:
        start = max(data.rfind(b"\n", at, hit) + 1, at)
        if _ANCHOR.match(data, hit) is None:
            at = hit + 1
            continue
        end = runs.run(start) if data[hit : hit + 5] == b"block" else start
        at = end if end > start else _slow(log, tallies, max(start, hit - _WINDOW), hit, same)


def _slow(log: Log, tallies: Tallies, start: int, hit: int, same: dict[tuple[Sender, bytes], Printed]) -> int:
    """Read one assertion that may be glued to other output, or folded over several lines.

    `same` remembers whole lines: the HIP form has no numbers, its lines are all equal.
    """
    data = log.data
    line = bytes(data[start : hit + _WINDOW])
    line = line[: line.find(b"\n", hit - start) + 1]
    sender = log.stream(start)
    if (sender, line) in same:
        tallies.count(log, same[sender, line], (start, start + len(line)), None, glued=False)
        return start + len(line)
    ends = _line_ends(log, hit)
    window = bytes(data[start : ends[-1]]).replace(b"\r", b"").replace(b"\n", b"")
    if b"ssertion" not in window or b"failed" not in window:
        return hit + 1
    starts = [start]
    if start and data[start - 1 : start] == b"\n":  # the place may stand on the line above
        above = max(data.rfind(b"\n", max(0, start - _WINDOW), start - 1) + 1, start - _WINDOW, 0)
        if log.claims.skip(above) == above and log.claims.next_start(above, start) >= start:
            starts.append(above)
    for begin in starts:
        for end in ends:
            for joint in ("", " "):
                got = _read(log, begin, end, joint)
                if got is None:
                    continue
                printed, numbers, place, glued = got
                if place == (start, ends[0]) and numbers is None and len(same) < _REMEMBERED:
                    same[sender, line] = printed
                tallies.count(log, printed, place, numbers, glued=glued)
                return place[1]
    if b"thread" in window or b"local id" in window or b"device assertion" in window:
        log.unreadable(start, ends[0], "device assertion")
        return ends[0]
    return hit + 1


def _line_ends(log: Log, at: int) -> list[int]:
    ends: list[int] = []
    for _ in range(_FOLDS):
        found = log.data.find(b"\n", at, min(at + _WINDOW, log.size))
        at = min(at + _WINDOW, log.size) if found < 0 else found + 1
        ends.append(at)
        if found < 0:
            break
    return ends


def _read(
    log: Log, start: int, end: int, joint: str
) -> tuple[Printed, bytes | None, tuple[int, int], bool] | None:
    """Read the assertion in these bytes as one line; return it, its numbers, its place, and if it is glued."""
    parts = bytes(log.data[start:end]).split(b"\n")
    bare = (log.bare(part, holds=True) for part in parts)
    pieces = [text.decode("utf-8", "surrogateescape").removesuffix("\r") for text in bare]
    text = joint.join(pieces)
    tail = _TAIL.search(text)
    begin = _begin(text) if tail else None
    if tail is None or begin is None:
        return None
    said = text[begin : tail.end()].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    read = device_line(said, log.stream(start))
    if read is None:
        return None
    printed, block, thread = read
    numbers = b"%d,%d,%d], thread: [%d,%d,%d" % (*block, *thread) if block and thread else None
    stop = start + _offset(parts, pieces, joint, tail.end())
    rest = bytes(log.data[stop : stop + 8])
    if rest.lstrip(b" \t\r")[:1] in {b"\n", b""}:
        line_end = log.data.find(b"\n", stop)
        stop = log.size if line_end < 0 else line_end + 1
    glued = bool(text[:begin].strip())
    first = start + _offset(parts, pieces, joint, begin) if glued else start
    return printed, numbers, (first, stop), glued


def _begin(text: str) -> int | None:
    hip = text.find("device assertion failed: ")
    if hip >= 0:
        return hip
    found = re.search(r"(?:block|global id):\s*\[", text)
    return place_start(text[: found.start()]) if found else None


def _offset(parts: list[bytes], pieces: list[str], joint: str, at: int) -> int:
    """Return the byte offset, in the folded lines, of a character of their joined text."""
    offset = 0
    for part, piece in zip(parts, pieces, strict=True):
        if at <= len(piece):
            behind = len(piece[at:].encode("utf-8", "surrogateescape"))
            return offset + max(len(part.removesuffix(b"\r")) - behind, 0)
        at -= len(piece) + len(joint)
        offset += len(part) + 1
    return offset - 1
