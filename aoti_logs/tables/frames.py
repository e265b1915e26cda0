"""Frames of native stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _sender

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Frames(dy.Schema):
    """One row a frame, stacks in order of appearance."""

    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    stack = dy.Int64(nullable=False, description="Number of the stack in its log, from 0, as `stacks.stack`.")
    format = dy.String(nullable=False, description="Who printed it, as `stacks.format`.")
    rank = _sender.rank()
    worker = _sender.worker()
    process = _sender.process()
    time = _sender.time()
    thread = dy.String(nullable=True, description="Thread as printed.")
    number = dy.Int64(
        nullable=False, description="Frame number as printed; counted from 0 where there is none."
    )
    symbol = dy.String(nullable=True, description="Symbol, null where the printer knew none.")
    function = dy.String(
        nullable=True,
        description="Qualified name in the symbol, without arguments and template arguments; null where none can be read.",
    )
    file = dy.String(nullable=True, description="Source file, where it is one.")
    file_line = dy.Int64(nullable=True, description="Source line; a byte offset is never put here.")
    file_column = dy.Int64(nullable=True, description="Column of that line, from 1.")
    library = dy.String(nullable=True, description="Library or program.")
    offset = dy.Int64(nullable=True, description="Byte offset, within the function or the library.")
    address = dy.Int64(nullable=True, description="Address in the process.")
    build_id = dy.String(nullable=True, description="BuildId of the library.")
    inlined = dy.Bool(
        nullable=False, description="True where the frame is known to be inlined into the next."
    )
    model = dy.Bool(nullable=False, description="True for the compiled model's own code.")
    skipped = dy.String(
        nullable=True,
        description="Why a signature leaves it out: `allocator`, `dispatcher`, `python`, `no symbol`, ...; null where it counts.",
    )


SCHEMA = Frames


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.parse.stacks.frame_name import frame_name, is_model, skipped

    for source, events in run.logs():
        for number, stack in enumerate(events.stacks):
            who = stack.sender.rank if stack.sender else None, *_sender.sent(stack.sender)
            for f in stack.frames:
                address = f.address if f.address is not None and f.address < 2**63 else None
                offset = f.offset if f.offset is not None and abs(f.offset) < 2**63 else None
                yield (
                    source.name, f.span.line, number, stack.format, *who, stack.thread, f.number, f.symbol, frame_name(f), f.file,
                    f.line, f.column, f.library, offset, address, f.build_id, f.inlined, is_model(f), skipped(f),
                )  # fmt: skip
