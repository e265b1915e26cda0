"""Bytes that nobody claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Unparsed(dy.Schema):
    """One row a range that no reader claimed, or that one expected and could not read."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    expected = dy.String(
        nullable=False, description="What was expected; `text` for free text, which is no known format."
    )
    start = dy.Int64(nullable=False, description="First byte, from 0.")
    end = dy.Int64(nullable=False, description="Byte after the last.")
    line = dy.Int64(nullable=False, description="Line of the first byte, from 1.")
    text = dy.String(
        nullable=False,
        description="The bytes as text, at most 1,000 characters; bytes that are not UTF-8 are U+FFFD.",
    )


SCHEMA = Unparsed


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source in run.files:
        for expected, start, end in run.spans_of(source)[1]:
            text = source.cut(start, min(end, start + 4000))[:1000]
            yield source.name, expected, start, end, source.line_at(start), text
