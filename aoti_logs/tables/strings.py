"""The interned strings of traces: names of files in stack frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Strings(dy.Schema):
    """One row a definition; a file of several processes or runs may define an id again."""

    source = t.source()
    line = t.line()
    process = dy.Int64(
        nullable=True, description="Process that the id belongs to; null where a report does not tell."
    )
    id = dy.Int64(nullable=False, description="Id that frames use.")
    string = dy.String(nullable=False, description="What it stands for, a file name.")


SCHEMA = Strings


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    found = sorted(
        (at, process, number, text)
        for (process, number), defined in trace.string_definitions.of_process.items()
        for at, text in zip(defined.numbers, defined.texts, strict=True)
    )
    for at, process, number, text in found:
        source, line = trace[at].where
        yield source, line, process or None, number, text
