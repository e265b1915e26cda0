"""Which records hold a Python stack; told from the bytes, because most do not."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex

_STACK = re.compile(rb'stack": ?\[\s?\{')


def with_stacks(index: TraceIndex) -> Iterator[TraceRecord]:
    """Yield the records with a stack in their envelopes, in file order."""
    columns, last = index.columns, -1
    for found in _STACK.finditer(index.source.data):
        number = bisect_right(columns.start, found.start()) - 1
        if number > last and found.start() < columns.head_end[number]:
            last = number
            yield index[number]
