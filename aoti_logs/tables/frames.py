"""Frames of C++ stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Frames(dy.Schema):
    """One row a frame, stacks in order of appearance."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    stack = dy.Int64(nullable=False, description="Number of the stack in its log, from 0.")
    format = dy.String(nullable=False, description="`c10`, `captured_traceback` or `gdb`.")
    number = dy.Int64(nullable=False, description="Frame number as printed.")
    symbol = dy.String(nullable=True, description="Symbol, null where the printer knew none.")
    file = dy.String(nullable=True, description="Source file, where it is one.")
    file_line = dy.Int64(nullable=True, description="Source line; a byte offset is never put here.")
    library = dy.String(nullable=True, description="Library.")
    offset = dy.Int64(nullable=True, description="Byte offset.")
    address = dy.Int64(nullable=True, description="Address in the process.")


SCHEMA = Frames


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for number, stack in enumerate(events.stacks):
            for f in stack.frames:
                address = f.address if f.address is not None and f.address < 2**63 else None
                yield (
                    source.name, f.span.line, number, stack.format, f.number, f.symbol, f.file, f.line, f.library,
                    f.offset, address,
                )  # fmt: skip
