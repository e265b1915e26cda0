"""How a whole log is wrapped, decided once from a sample of its lines.

A line of a program can look like srun's label, a compose service or a quote. Such a prefix is only believed
where (nearly) every line of the log has it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.peel import PLAIN, Wrapping, peel
from aoti_logs.parse.logs.prefix_kinds import BY_NAME

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable

    from aoti_logs.parse.logs.prefix_kinds import PrefixKind

_PLACES = 16
_EACH = 1 << 12
_WHOLE = 1 << 16  # a log that is not longer is looked at as a whole
_MOST = 2000  # lines that are looked at
_NEARLY = 0.95
_ROUNDS = 4
_NAMES = 64  # workers that a log may have
_ENTITY = re.compile(rb"&(?:lt|gt|quot|#39|#x27|amp);")
_FENCE = BY_NAME["fence"].regex
_FRAME = re.compile(rb"[ \t]+(?:File \"|frame #|#\d|at )")
_EXCEPTION = re.compile(rb"(?:\w+\.)*\w*(?:Error|Exception|Warning|Interrupt|DEBUG|INFO|WARNING|ERROR)$")


def wrapping_of(data: bytes | mmap.mmap) -> Wrapping | None:
    """Return how a log is wrapped; None when a sample of it shows nothing that is wrapped.

    A log that only a logger's own prefixes stand in counts as not wrapped: they are taken off where somebody reads.
    """
    lines = _sample(data)
    filled = [line for line in lines if line.strip()]
    if not filled:
        return None
    wrapping = _uncertain(_fenced(filled) or filled, lines)
    if any(_ENTITY.search(line) for line in filled) and not any(data.find(c) >= 0 for c in (b"<", b'"')):
        wrapping = replace(wrapping, escaped=True)
    found = wrapping != PLAIN or any(_is_wrapped(line, wrapping) for line in filled)
    return wrapping if found else None


def _is_wrapped(line: bytes, wrapping: Wrapping) -> bool:
    if b"\x1b" in line or b"\r" in line[:-1]:
        return True
    if line[:1] not in _RELAYED and b"\t20" not in line:
        return False
    read = peel(line, wrapping)
    return read.prefix is None or any(kind.relays for kind, _ in read.prefix)


_RELAYED = frozenset(
    bytes([byte]) for byte in range(256) if any(k.first and not k.stamp for k in PLAIN.table[byte])
) | {b"{"}


def _sample(data: bytes | mmap.mmap) -> list[bytes]:
    size = len(data)
    if size <= _WHOLE:
        return bytes(data).split(b"\n")[:_MOST]
    lines: list[bytes] = []
    for number in range(_PLACES):
        at = (size - _EACH) * number // (_PLACES - 1)
        part = bytes(data[at : at + _EACH]).split(b"\n")
        lines += part[1 if number else 0 : -1]  # the first and the last are cut
    return lines[:_MOST]


def _uncertain(filled: list[bytes], lines: list[bytes]) -> Wrapping:
    """Return the kinds that nearly all lines have, layer by layer from outside."""
    wrapping = Wrapping(indent=_indent(filled))
    for _ in range(_ROUNDS):
        bare = [peel(line, wrapping).text for line in filled]
        bare = [line for line in bare if line.strip()]
        known = wrapping.uncertain
        new = next((k for k in _CANDIDATES if k.name not in known and _shown(k, bare)), None)
        if new is None and "quote" not in known and _quoted(bare, lines):
            new = BY_NAME["quote"]
        if new is None:
            break
        wrapping = replace(wrapping, uncertain=known | {new.name})
    return wrapping


_CANDIDATES = tuple(
    BY_NAME[name]
    for name in ("numbered", "srun", "mpiexec", "tee", "clock", "ts", "kernel", "compose", "stern", "host")
)
_AT_LEAST = {"host": 10, "stern": 4, "compose": 2}


def _shown(kind: PrefixKind, lines: list[bytes]) -> bool:
    """Tell whether (nearly) all lines have a prefix that only all lines together make believable."""
    if len(lines) < _AT_LEAST.get(kind.name, 3):
        return False
    found = [match for line in lines if (match := kind.regex.match(line))]
    if len(found) < len(lines) * _NEARLY:
        return False
    if kind.name == "numbered":
        return _counts(int(re.sub(rb"\D", b"", match[0])) for match in found)
    if "worker" not in kind.regex.groupindex:
        return True
    names = {match["worker"] for match in found}
    if len(names) > min(_NAMES, max(len(found) // 3, 1)) or any(_EXCEPTION.match(name) for name in names):
        return False
    if kind.name == "compose":  # the bars stand below each other
        return len({match[0].rstrip().rfind(b"|") for match in found}) == 1
    # One name before every line of a few is more likely what the lines are about.
    return kind.name != "host" or all(re.search(rb"[\d.-]|^localhost$", name) for name in names)


def _counts(numbers: Iterable[int]) -> bool:
    """Tell whether numbers count lines: each is one more than the last, but for lines that were left out."""
    told = list(numbers)
    steps = [then - now for now, then in pairwise(told)]
    return all(step > 0 for step in steps) and steps.count(1) >= len(steps) * _NEARLY


def _quoted(bare: list[bytes], lines: list[bytes]) -> bool:
    """Tell a quoted log: most of its lines, or three in a row, begin with `>`."""
    quote = BY_NAME["quote"].regex
    marked = [quote.match(line) is not None for line in bare]
    if sum(marked) * 2 >= max(len(marked), 1) and any(marked):
        return True
    own = [quote.match(line) is not None and not line.startswith(b">   ") for line in lines]
    return any(all(own[n : n + 3]) for n in range(len(own) - 2))


def _fenced(lines: list[bytes]) -> list[bytes]:
    """Return what stands between Markdown's fences, where there are any: what stands beside it is a person's."""
    fences = [n for n, line in enumerate(lines) if _FENCE.match(line.lstrip(b" "))]
    if not fences:
        return lines
    ends = [*fences[1:], len(lines)]
    return [line for low, high in list(zip(fences, ends, strict=True))[::2] for line in lines[low + 1 : high]]


def _indent(lines: list[bytes]) -> int:
    """Return how many blanks stand before every line; 0 where they may belong to what is printed."""
    if len(lines) < 2:
        return 0
    widths = [len(line) - len(line.lstrip(b" \t")) for line in lines]
    least = min(widths)
    lowest = [line for line, width in zip(lines, widths, strict=True) if width == least]
    return 0 if any(_FRAME.match(line) for line in lowest) else least
