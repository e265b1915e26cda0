"""Run-time checks in wrappers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Checks(dy.Schema):
    """One row a comparison of `check_input_N`, of an assert, or of an older inline check."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    kind = dy.String(
        nullable=False,
        description="`dtype`, `min`, `max`, `equal`, `stride`, `device`, `size_stride` or `runtime_assert`.",
    )
    tensor = dy.String(nullable=False, description="Tensor or symbol tested.")
    input_index = dy.Int64(nullable=True, description="Input index.")
    user_name = dy.String(nullable=True, description="Name of the input.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    expected = dy.String(nullable=False, description="Expected value as written.")
    gated = dy.Bool(nullable=False, description="True when it runs only with AOTI_RUNTIME_CHECK_INPUTS.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    text = dy.String(nullable=False, description="The test as written.")


SCHEMA = Checks


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for c in view.wrapper.checks:
            place = view.wrapper.source.place(c.line)
            yield (
                view.wrapper.source.name, str(c.kind), c.tensor, c.input_index, view.named(c.tensor).name, c.dim, c.expected,
                c.gated, place.source, place.line, c.text,
            )  # fmt: skip
