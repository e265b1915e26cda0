"""What the prefixes of a trace's records say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex

_AT = 22
"""Where the process id begins behind a level of one letter: `V1129 12:10:21.164000 4741 `."""


def processes(index: TraceIndex) -> tuple[int, ...]:
    """Return the process ids of all records in order of appearance."""
    data = index.source.data
    found: dict[bytes, int] = {}
    for number, start in enumerate(index.columns.start):
        digits = data[start + _AT : start + _AT + 24].lstrip(b" ").partition(b" ")[0]
        if digits not in found:
            found[digits] = index[number].process
    return tuple(dict.fromkeys(found.values()))
