"""Python stacks of trace records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

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
    for record in trace.with_stacks():
        fields = t.mapping(record.metadata)
        stacks = [(key, fields.get(key)) for key in ("user_stack", "stack")]
        stacks.append(("context", record.envelope.get("stack")))
        for kind, stack in stacks:
            frames = [frame for frame in stack if isinstance(frame, dict)] if isinstance(stack, list) else []
            if not frames:
                continue
            where = (*t.here(record), record.name, kind)
            for number, (raw, frame) in enumerate(zip(frames, record.frames(frames), strict=True)):
                yield (
                    *where, number, frame.file, t.integer(frame.line), frame.name, frame.loc,
                    t.integer(raw.get("filename")),
                )  # fmt: skip
