"""What is known of every size symbol of a wrapper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.code.sizes.input_dims import InputDim


class WrapperSymbols(dy.Schema):
    """One row a symbol that a wrapper defines, or that the sizes of its inputs are made of."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    symbol = dy.String(nullable=False, description="Symbol.")
    sort = dy.String(
        nullable=False,
        description="`backed` by an example's size, `unbacked` (known only when the code runs), `precomputed` (an expression "
        "of others) or `variable`.",
    )
    definition = dy.String(
        nullable=True, description="Where it gets its value; null where the wrapper does not say."
    )
    root = dy.String(
        nullable=False, description="The symbol or input that it is another name of; itself where it is none."
    )
    aliases = dy.List(dy.String(), nullable=False, description="All other names of the same value.")
    tensor = dy.String(nullable=True, description="The tensor that is measured first.")
    dim = dy.Int64(nullable=True, description="The dimension that is measured.")
    stride = dy.Bool(nullable=False, description="True when its stride is measured.")
    extent = dy.String(
        nullable=True, description="What that dimension is in terms of the symbol, `s7` or `2*s7`."
    )
    measures = dy.String(
        nullable=True, description="What the user calls what is measured, `lengths.size()[0]`."
    )
    strength = dy.String(
        nullable=True, description="How well that name is known: `proven`, `likely` or `possible`."
    )
    made_by = dy.String(nullable=True, description="The call that made what an unbacked symbol is read from.")
    hint = dy.Int64(nullable=True, description="Value of the example when the model was compiled.")
    dims = dy.List(
        dy.String(),
        nullable=False,
        description="Dimensions of inputs that are made of it, `arg1_1[0] = s28`.",
    )
    unmeasured = dy.List(
        dy.String(),
        nullable=False,
        description="Those of them that the code never reads: they are taken to be equal.",
    )
    unchecked = dy.List(
        dy.String(), nullable=False, description="Those of the unmeasured that nothing ever compares."
    )
    asserts = dy.List(dy.String(), nullable=False, description="Assertions about it in the code.")
    contradictions = dy.List(
        dy.String(), nullable=False, description="Where what was declared differs from what is tested."
    )
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = WrapperSymbols


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for name in view.symbols.names:
            f = view.symbol(name)
            line = f.defined.line if f.defined is not None else f.dims[0].input.line if f.dims else 1
            place = view.wrapper.source.place(line)
            measured = f.measured
            yield (
                view.wrapper.source.name, f.symbol, str(f.sort), f.definition, f.root, list(f.aliases),
                measured.tensor if measured else None, measured.dim if measured else None,
                measured.stride if measured else False, f.extent, f.user_name, str(f.strength) if f.strength else None,
                f.made_by.kernel if f.made_by else None, f.hint.value if f.hint else None, list(map(_dim, f.dims)),
                list(map(_dim, f.unmeasured)), list(map(_dim, f.unchecked)), [c.expected for c in f.asserts],
                list(f.contradictions), place.source, place.line,
            )  # fmt: skip


def _dim(dim: InputDim) -> str:
    return f"{dim.input.name}[{dim.dim}] = {dim.extent}"
