"""What the prefixes of a trace's records say together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

Head = tuple[str, int, str, str]
"""File, line, level, time."""

_USUAL = re.compile(rb"[A-Z][01]\d[0-3]\d \d\d:\d\d:\d\d\.\d{6} ")
_AT = 22
"""Where the process id begins behind a level of one letter: `V1129 12:10:21.164000 4741 `."""


def processes(index: TraceIndex) -> tuple[int, ...]:
    """Return the process ids of all records in order of appearance."""
    if index.known_context is not None:
        return tuple(dict.fromkeys(prefix.process for prefix in index.known_context.prefixes))
    data = index.source.data
    found: dict[bytes, int] = {}
    seen: set[bytes] = set()
    for number, start in enumerate(index.columns.start):
        rest = data[start + _AT : start + _AT + 24]
        if rest not in seen:
            seen.add(rest)
            digits = rest.lstrip(b" ").partition(b" ")[0]
            if digits not in found:
                found[digits] = index[number].process
    return tuple(dict.fromkeys(found.values()))


def heads(index: TraceIndex) -> Iterator[Head]:
    """Yield file, line, level and time of each record of a trace in a file of its own."""
    data, name = index.source.data, index.source.name
    for number, (start, line) in enumerate(zip(index.columns.start, index.context.lines, strict=True)):
        text = data[start : start + _AT]
        if _USUAL.fullmatch(text):
            usual = text.decode("ascii")
            yield name, line, usual[0], usual[1:-1]
        else:
            record = index[number]
            yield name, line, record.level, record.time
