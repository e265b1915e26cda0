"""Inputs of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Inputs(dy.Schema):
    """One row an input of a wrapper."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=False, description="Index in the list that the caller gives.")
    name = dy.String(nullable=False, description="Name in the generated code.")
    user_name = dy.String(nullable=True, description="What the user calls it.")
    strength = dy.String(
        nullable=True, description="How well the user name is known: `proven`, `likely` or `possible`."
    )
    evidence = dy.String(nullable=True, description="Where the user name stands.")
    scalar = dy.Bool(nullable=False, description="True for a size that torch.compile passes as an argument.")
    shape = dy.List(dy.String(), nullable=True, description="Extents as the code writes them.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Inputs


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for i in view.wrapper.inputs:
            name = view.names.get(i.name)
            place = view.wrapper.source.place(i.line)
            shape = view.shapes.get(i.name)
            yield (
                view.wrapper.source.name, i.index, i.name, name.name if name else None, str(name.strength) if name else None,
                str(name.place) if name else None, i.scalar, list(shape) if shape is not None else None, place.source, place.line,
            )  # fmt: skip
