"""Every byte of every source that a reader claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Records(dy.Schema):
    """One row a record; with `unparsed` the spans of a source add up to its size."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    kind = dy.String(
        nullable=False,
        description="What it is: an entry name of a trace, a form of log text, or the kind of a whole file.",
    )
    start = dy.Int64(nullable=False, description="First byte, from 0.")
    end = dy.Int64(nullable=False, description="Byte after the last.")
    line = dy.Int64(nullable=False, description="Line of the first byte, from 1.")


SCHEMA = Records


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source in run.files:
        records = run.spans_of(source)[0]
        lines = source.lines_at(start for _, start, _ in records)
        for (kind, start, end), line in zip(records, lines, strict=True):
            yield source.name, kind, start, end, line
