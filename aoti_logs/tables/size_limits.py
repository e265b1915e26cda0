"""Limits of the size symbols of wrappers, with who sets them and who tests them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class SizeLimits(dy.Schema):
    """One row a range of a symbol of a wrapper, or of an expression that a dimension of an input is, from one place that tells it."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    symbol = dy.String(nullable=False, description="Symbol.")
    extent = dy.String(
        nullable=False, description="What the range is about: the symbol, another name of it, or `2*s7`."
    )
    lower = dy.Int64(nullable=True, description="Smallest value; null is no limit.")
    upper = dy.Int64(nullable=True, description="Largest value; null is no limit.")
    told_by = dy.String(
        nullable=False,
        description="`create_symbol`, `exported_program`, `new`, `update` or `constrain` (TORCH_LOGS=+dynamic), `guard`, "
        "`check_input` or `runtime_assert`.",
    )
    enforced = dy.String(
        nullable=False,
        description="When it is tested: `always`, `AOTI_RUNTIME_CHECK_INPUTS` (only when that variable is set), `guards` "
        "(before every call of `torch.compile`) or `never`.",
    )
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = SizeLimits


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for name in view.symbols.names:
            for limit in view.symbol(name).limits:
                place = limit.place
                yield (
                    view.wrapper.source.name, name, limit.extent, limit.lower, limit.upper, limit.told_by,
                    str(limit.enforced), place.source, place.line,
                )  # fmt: skip
