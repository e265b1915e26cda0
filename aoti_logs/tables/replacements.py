"""Shape symbols that became something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.sizes.logged_replacements import replacements_in
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


class Replacements(dy.Schema):
    """One row a symbol that tracing replaced by a constant (`symbolic_shape_specialization`), in TORCH_LOGS=dynamic also
    by another expression, or that it kept although one equals it.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    symbol = dy.String(
        nullable=True,
        description="Symbol; null where a log names only what it measures (`Specializing ... to 8`).",
    )
    value = dy.String(nullable=True, description="What stands for it now: a number, or an expression.")
    constant = dy.Int64(nullable=True, description="The value as an integer: the symbol was specialised.")
    reason = dy.String(
        nullable=True,
        description="Why: `range_refined_to_singleton`, `find`, `solve`, `rename_unbacked_to`, ...",
    )
    sources = dy.List(
        dy.String(),
        nullable=True,
        description="What the symbol measures, `L['x'].size()[0]`; in a log as the lines that announced it say.",
    )
    file = dy.String(nullable=True, description="Innermost file of the user's stack, where recorded.")
    file_line = dy.Int64(nullable=True, description="Line there.")
    function = dy.String(nullable=True, description="Function there.")
    code = dy.String(nullable=True, description="Text of that line.")
    bound = dy.String(nullable=True, description="Range of the value as a log prints it, `VR[8, 8]`.")
    skipped = dy.String(nullable=True, description="Why torch kept the symbol; null where it was replaced.")


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
            frame.line if frame else None, frame.name if frame else None, frame.loc if frame else None, None, None,
        )  # fmt: skip


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for told in replacements_in(events.messages):
        said = told.said
        yield (
            *_log.here(source, told.message, told.line), said.symbol, said.value, _constant(said.value), said.reason,
            list(told.sources) or None, None, None, None, None, said.bound, said.skipped,
        )  # fmt: skip


def _constant(value: str | None) -> int | None:
    try:
        return t.integer(int(value)) if value is not None and len(value) < 25 else None
    except ValueError:
        return None
