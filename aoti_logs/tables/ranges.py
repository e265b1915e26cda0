"""Value ranges of shape symbols, as tracing narrowed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.sizes.shape_log import Narrowed, shapes_in
from aoti_logs.parse.text import limit
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Ranges(dy.Schema):
    """One row a range that tracing gave a symbol (TORCH_LOGS=+dynamic), or that an ExportedProgram prints.

    The range at the symbol's creation is in `symbols`.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    symbol = dy.String(nullable=False, description="Symbol.")
    how = dy.String(
        nullable=True,
        description="`new`, `update` (a guard narrowed it), `constrain` (torch or the model, `torch._check`), "
        "`exported_program`; null where not printed.",
    )
    lower = dy.Int64(nullable=True, description="Smallest value; null is minus infinity.")
    upper = dy.Int64(nullable=True, description="Largest value; null is infinity.")
    range = dy.List(
        dy.String(),
        nullable=False,
        description="Smallest and largest value as printed, `4` and `int_oo`; empty where not kept.",
    )


SCHEMA = Ranges


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for told in shapes_in(events.messages):
            if isinstance(said := told.said, Narrowed):
                lower, upper = said.limits
                yield (
                    *_log.here(source, told.message, told.line), said.symbol, said.how, limit(lower), limit(upper),
                    [lower, upper],
                )  # fmt: skip
    for r in run.evidence.ranges:
        yield (
            r.place.source, r.place.line, None, r.source.rank, r.symbol, "exported_program", r.lower, r.upper, []
        )  # fmt: skip
