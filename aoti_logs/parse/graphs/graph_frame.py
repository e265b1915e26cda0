"""Where a graph of the usual form begins and ends, told from its bytes: its statements are not read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

_LONGEST = 1 << 20
_LONGEST_KEPT = 1 << 14
_MOST_LINES = 19_000
_HEAD_END = re.compile(rb":[ ]*\n")
# A statement that only annotates (`arg0_1: "f32[4]"`) adds an input. These lines have none: those without a colon,
# comments, and assignments with a colon in the annotation or in the value alone.
_UNUSUAL_LINE = re.compile(
    rb"\n(?![^:\n]*(?=\n|\Z)|[ ]*(?:#|\w+(?:: \"[^\"\n]*\")? = [^;\n]*(?:;[^:\n]*)?(?=\n|\Z)))"
)
_UNPACKED = b"tree_flatten_spec"
_WORDS = (b"class ", b"def forward(", b"Graph signature:", b"Range constraints:")
_ODD = bytes({*range(256)} - {0x0A, *range(0x20, 0x7F)})


@dataclass(frozen=True)
class Frame:
    """The text of the head, from `def` to the colon, and the offset behind the line with `return`.

    `lines` are those below the head that can add inputs: (number of lines above, counted from the
    first of the head; text).
    """

    head: str
    lines: tuple[tuple[int, str], ...]
    end: int


def usual_frame(data: bytes | mmap.mmap, start: int, found: int) -> Frame | None:
    """Return the frame of a graph that stands alone; None where only reading all of it tells its end.

    Args:
        data: the text around.
        start: where the line with `def forward(` begins.
        found: where `def forward(` stands in it.
    """
    indent = found - start
    limit = min(len(data), start + _LONGEST)
    colon = _HEAD_END.search(data, found, limit)
    if colon is None:
        return None
    at = _return(data, colon.end() - 1, limit, indent)
    if at is None:
        return None
    end = data.find(b"\n", at + 1, limit)
    if end < 0 and limit < len(data):
        return None
    end = limit if end < 0 else end
    read = _framed if at - start <= _LONGEST_KEPT else _framed.__wrapped__
    if len(last := bytes(data[at:end])) != len(last.translate(None, _ODD)):
        return None
    framed = read(bytes(data[start:at]), indent, colon.end() - 1 - start)
    return None if framed is None else Frame(*framed, min(end + 1, len(data)))


@lru_cache(maxsize=512)
def _framed(text: bytes, indent: int, body: int) -> tuple[str, tuple[tuple[int, str], ...]] | None:
    """Return head and lines of a graph without its `return`; `body` is where its head ends.

    Passes print a graph before and after them, often without a difference.
    """
    inside = text[body:]
    count = inside.count(b"\n")
    # Nearly always every line is indented deeper than the head, or empty.
    strangers = count != inside.count(b"\n" + b" " * (indent + 1)) + inside.count(b"\n\n")
    if (
        len(text.translate(None, _ODD)) != len(text)
        or not text.startswith(b" " * indent)
        or text.count(b"\n") > _MOST_LINES
        or any(word in inside for word in _WORDS)
        or (strangers and _stranger(indent).search(inside))
    ):
        return None
    head = text[indent:body].decode("ascii")
    return head, tuple(_lines(inside, head.count("\n") + 1))


def _lines(inside: bytes, above: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that can add inputs, each by the break before it."""
    at = {found.start() for found in _UNUSUAL_LINE.finditer(inside)}
    found = -1
    while (found := inside.find(_UNPACKED, found + 1)) >= 0:
        at.add(inside.rfind(b"\n", 0, found))
        found = inside.find(b"\n", found)
        if found < 0:
            break
    counted = 0
    for start in sorted(at):
        above += inside.count(b"\n", counted, start)
        counted = start
        end = inside.find(b"\n", start + 1)
        yield above, inside[start + 1 : len(inside) if end < 0 else end].decode("ascii")


def _return(data: bytes | mmap.mmap, start: int, limit: int, indent: int) -> int | None:
    """Return where the line with `return` begins (its blank before), None when there is none."""
    at = start
    while (at := data.find(b"return", at, limit)) >= 0:
        line = data.rfind(b"\n", start, at)
        blank = bytes(data[line + 1 : at])
        if not blank.strip(b" "):
            return line if len(blank) > indent else None
        at = data.find(b"\n", at, limit)
        if at < 0:
            break
    return None


@cache
def _stranger(indent: int) -> re.Pattern[bytes]:
    """Return a pattern for lines that are not indented deeper than the head: other output."""
    return re.compile(rb"\n[ ]{0,%d}[^ \n]" % indent)
