"""Where size symbols get their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Sizes(dy.Schema):
    """One row a definition in a wrapper."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    symbol = dy.String(nullable=False, description="Symbol, `s70`, `u0`, or a generated size variable.")
    definition = dy.String(
        nullable=False,
        description="Where it gets its value, in one spelling for all wrappers: `arg0_1_size[0]`, `arg0_1_stride[0]`, "
        "`buf2.size(0)`, `buf1.item()`, another name, or an expression.",
    )
    sort = dy.String(
        nullable=False,
        description="`backed` by an example's size, `unbacked` (known only when the code runs), `precomputed` (an expression "
        "of others) or `variable` (only needed on the way).",
    )
    tensor = dy.String(nullable=True, description="Tensor that it measures.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    stride = dy.Bool(nullable=False, description="True when it is a stride.")
    alias_of = dy.String(nullable=True, description="Symbol that it equals.")
    unbacked = dy.Bool(nullable=False, description="True when data gives it.")
    value = dy.String(nullable=True, description="Expression, when it is one.")
    user_name = dy.String(nullable=True, description="Name of the measured input.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    text = dy.String(nullable=False, description="The definition as written.")


SCHEMA = Sizes


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.code.sizes.definition import sort_of

    for view in run.views():
        for s in view.wrapper.sizes:
            place = view.wrapper.source.place(s.line)
            name = view.named(s.tensor).name if s.tensor else None
            yield (
                view.wrapper.source.name, s.symbol, view.symbols.definition(s), str(sort_of(s.symbol)), s.tensor, s.dim, s.stride, s.alias_of, s.unbacked,
                str(s.value) if s.value is not None else None, name, place.source, place.line, s.text,
            )  # fmt: skip
