"""Shape symbols that became something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Replacements(dy.Schema):
    """One row a symbol that tracing replaced by a constant or another expression (`symbolic_shape_specialization`)."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    symbol = dy.String(nullable=False, description="Symbol.")
    value = dy.String(nullable=True, description="What stands for it now: a number, or an expression.")
    constant = dy.Int64(nullable=True, description="The value as an integer: the symbol was specialised.")
    reason = dy.String(
        nullable=True,
        description="Why: `range_refined_to_singleton`, `find`, `solve`, `rename_unbacked_to`, ...",
    )
    sources = dy.List(dy.String(), nullable=True, description="What the symbol measures, `L['x'].size()[0]`.")
    file = dy.String(nullable=True, description="Innermost file of the user's stack, where recorded.")
    file_line = dy.Int64(nullable=True, description="Line there.")
    function = dy.String(nullable=True, description="Function there.")
    code = dy.String(nullable=True, description="Text of that line.")


SCHEMA = Replacements


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("symbolic_shape_specialization"):
        fields = t.mapping(record.metadata)
        frame = t.innermost(record, fields.get("user_stack"))
        value = t.text(fields.get("value"))
        yield (
            *t.here(record), t.text(fields.get("symbol")) or "", value, _constant(value),
            t.text(fields.get("reason")), t.texts(fields.get("sources")), frame.file if frame else None,
            frame.line if frame else None, frame.name if frame else None, frame.loc if frame else None,
        )  # fmt: skip


def _constant(value: str | None) -> int | None:
    try:
        return t.integer(int(value)) if value is not None and len(value) < 25 else None
    except ValueError:
        return None
