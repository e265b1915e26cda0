"""Which records hold a Python stack; told from the bytes, because most do not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex

_WORD = b'stack"'
_STACK = re.compile(rb'stack" ?: ?\[\s?\{')


def with_stacks(index: TraceIndex) -> Iterator[TraceRecord]:
    """Yield the records with a stack in their envelopes, in file order."""
    data, columns = index.source.data, index.columns
    for number, (env, end) in enumerate(zip(columns.env, columns.head_end, strict=True)):
        raw = data[env:end]
        if _WORD in raw and _STACK.search(raw):
            yield index[number]
