"""Size symbols that are other names of symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class SymbolAliases(dy.Schema):
    """One row a symbol of a wrapper that is another name of one: sizes that the export declared equal."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    symbol = dy.String(nullable=False, description="Symbol.")
    alias_of = dy.String(nullable=False, description="The symbol that its definition names.")
    root = dy.String(nullable=False, description="The symbol or input that it is in the end.")
    definition = dy.String(nullable=True, description="Where that gets its value.")
    measures = dy.String(
        nullable=True, description="What the user calls what is measured, `lengths.size()[0]`."
    )
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    text = dy.String(nullable=False, description="The definition as written.")


SCHEMA = SymbolAliases


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.code.sizes.answers import symbol_aliases

    for view in run.views():
        for symbol, alias in symbol_aliases(view).items():
            facts = view.symbol(symbol)
            size = view.sizes[symbol]
            root = view.sizes.get(facts.root)
            place = view.wrapper.source.place(size.line)
            yield (
                view.wrapper.source.name, symbol, alias, facts.root,
                view.symbols.definition(root) if root is not None else None, facts.user_name, place.source, place.line,
                size.text,
            )  # fmt: skip
