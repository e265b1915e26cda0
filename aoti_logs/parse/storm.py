"""Device assertion lines of a log, also a million of them.

Runs of whole lines of the CUDA form are counted by `runs.py`. Every other form (folded over several lines,
glued to other output, HIP, XPU) is read line by line by the same grammar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.announce import Announcer
from aoti_logs.parse.assertion import Tallies, device_line, place_start
from aoti_logs.parse.lines import unprefixed
from aoti_logs.parse.runs import Runs

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Log

_ANCHOR = re.compile(rb"block:\s{0,9}\[|block:[ \t\r]*\n|global id:\s{0,9}\[|device assertion failed: ")
_LITERALS = (b"block:", b"global id:", b"device assertion failed: ")

_TAIL = re.compile(
    r"Assertion\s.*?failed\b\.?|device assertion failed: '.*?', in .{1,1500}? at [^\n]{1,1500}?:\d+", re.S
)
_WINDOW = 4096
_FOLDS = 3

_SHAPES = 4096  # distinct beginnings that are remembered


def read_storm(log: Log, tallies: Tallies) -> None:
    """Claim every device assertion of the log and count it."""
    data, at = log.data, 0
    runs = Runs(log, tallies)
    announcer = Announcer(data, _LITERALS)
    while (hit := announcer.next(at, log.size)) is not None:
        start = max(data.rfind(b"\n", at, hit) + 1, at)
        if _ANCHOR.match(data, hit) is None:
            at = hit + 1
            continue
        end = runs.run(start)
        at = end if end > start else _slow(log, tallies, start, hit)


def _slow(log: Log, tallies: Tallies, start: int, hit: int) -> int:
    """Read one assertion that may be glued to other output, or folded over several lines."""
    data, size = log.data, log.size
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
            begin = _begin(text)
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
            tallies.count(log, printed, (first, stop), numbers, glued=bool(text[:begin].strip()))
            return stop
    if announced:
        log.unreadable(start, ends[0], "device assertion")
        return ends[0]
    return hit + 1


def _begin(text: str) -> int | None:
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
