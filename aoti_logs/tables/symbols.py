"""Shape symbols as tracing announced them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Symbols(dy.Schema):
    """One row a `create_symbol` (TORCH_TRACE record or TORCH_LOGS=dynamic line)."""

    symbol = dy.String(nullable=False, description="Symbol.")
    origin = dy.String(nullable=False, description="What measures it, `L['table'].size()[0]`.")
    input_name = dy.String(nullable=True, description="Name of the input in it.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    stride = dy.Bool(nullable=False, description="True for a stride.")
    hint = dy.Int64(nullable=True, description="Value of the example.")
    lower = dy.Int64(nullable=True, description="Smallest value compiled for; null is minus infinity.")
    upper = dy.Int64(nullable=True, description="Largest value compiled for; null is infinity.")
    compile_id = dy.String(nullable=True, description="Compile id.")
    user_frame = dy.String(nullable=True, description="User code that made it.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Symbols


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for s in run.evidence.symbols:
        yield (
            s.symbol, s.origin, s.input_name, s.dim, s.stride, s.hint, s.lower, s.upper, s.compile_id, s.user_frame,
            s.place.source, s.place.line,
        )  # fmt: skip
