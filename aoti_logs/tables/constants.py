"""Weights and other constants of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Constants(dy.Schema):
    """One row a constant."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=False, description="Index in the table of constants.")
    name = dy.String(nullable=False, description="Name in the generated code.")
    fqn = dy.String(nullable=True, description="Module path, `emb.weight`.")
    dtype = dy.String(nullable=True, description="Dtype as written.")
    shape = dy.List(dy.Int64(), nullable=True, description="Shape.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Constants


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for c in view.wrapper.constants:
            place = view.wrapper.source.place(c.line)
            yield (
                view.wrapper.source.name, c.index, c.name, c.fqn, c.dtype, list(c.shape) if c.shape is not None else None,
                place.source, place.line,
            )  # fmt: skip
