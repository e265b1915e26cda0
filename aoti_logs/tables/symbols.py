"""Shape symbols as tracing announced them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Symbols(dy.Schema):
    """One row a `create_symbol` or `create_unbacked_symbol` (TORCH_TRACE record or TORCH_LOGS=dynamic line).

    A size that was given an older symbol of the same value (duck sizing) has a row only in TORCH_LOGS text.
    """

    symbol = dy.String(nullable=False, description="Symbol.")
    kind = dy.String(
        nullable=False,
        description="`backed` by an example's size; `unbacked`: known only when the code runs.",
    )
    origin = dy.String(
        nullable=False,
        description="What measures it, `L['table'].size()[0]`; empty for an unbacked one, unless an input's size was marked "
        "as such (mark_unbacked).",
    )
    input_name = dy.String(nullable=True, description="Name of the input in it.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    stride = dy.Bool(nullable=False, description="True for a stride.")
    hint = dy.Int64(nullable=True, description="Value of the example.")
    lower = dy.Int64(nullable=True, description="Smallest value compiled for; null is minus infinity.")
    upper = dy.Int64(nullable=True, description="Largest value compiled for; null is infinity.")
    range = dy.List(
        dy.String(),
        nullable=False,
        description="Smallest and largest value as printed, `2` and `int_oo`; empty where not printed.",
    )
    compile_id = t.compile_id()
    rank = t.rank()
    user_frame = dy.String(nullable=True, description="User code that made it.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Symbols


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for s in sorted(run.evidence.all_symbols, key=lambda s: (s.place.source, s.place.line)):
        yield (
            s.symbol, "unbacked" if s.unbacked else "backed", s.origin, s.input_name, s.dim, s.stride, s.hint, s.lower,
            s.upper, list(s.range), s.compile, s.source.rank, s.user_frame, s.place.source, s.place.line,
        )  # fmt: skip
