"""Python stacks of trace records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.records.replay import Replay
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class PythonFrames(dy.Schema):
    """One row a frame of a stack that a record carries, outermost first."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    entry = dy.String(nullable=False, description="Entry of the record, `dynamo_start`.")
    stack = dy.String(
        nullable=False,
        description="`user_stack`: the user's code; `stack`: the framework's; `context`: where a record "
        "without compile id was written from.",
    )
    number = dy.Int64(nullable=False, description="Position in the stack, from 0.")
    file = dy.String(nullable=True, description="File; null where no trace at hand defines its id.")
    file_line = dy.Int64(nullable=True, description="Line there.")
    function = dy.String(nullable=False, description="Function.")
    code = dy.String(nullable=True, description="Text of the line, where recorded.")
    file_id = dy.Int64(nullable=True, description="Interned id of the file.")


SCHEMA = PythonFrames


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    strings, context = Replay(trace), trace.context
    for record in trace.with_stacks():
        number, name = record.number, record.name
        fields, envelope = t.mapping(record.metadata), record.envelope
        strings.go_to(number, context.prefixes[number].process)
        for kind, stack in (
            ("user_stack", fields.get("user_stack")),
            ("stack", fields.get("stack")),
            ("context", envelope.get("stack")),
        ):
            if not stack or not isinstance(stack, list):
                continue
            frames = [frame for frame in stack if isinstance(frame, dict)]
            where = (*context.here[number], name, kind)
            for position, frame in enumerate(frames):
                yield *where, position, *_row(frame, strings)


def _row(frame: dict[str, Any], strings: Replay) -> tuple[Any, ...]:
    get = frame.get
    file, name, loc = get("filename"), get("name"), get("loc")
    number = t.integer(file)
    if number is not None:
        file = strings.find(number)
    return (
        file if isinstance(file, str) else None, t.integer(get("line")), name if isinstance(name, str) else "",
        loc if isinstance(loc, str) else None, number,
    )  # fmt: skip
