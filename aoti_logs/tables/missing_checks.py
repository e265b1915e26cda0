"""What nobody tests before a compiled model computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class MissingChecks(dy.Schema):
    """One row a thing that an AOTInductor wrapper takes for granted and nothing tests; `torch.compile` has guards instead."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    kind = dy.String(
        nullable=False,
        description="`input` (nothing is compared of it), `rank`, `equal` (with another size), `divisible`, `size`, `lower`, "
        "`upper`, `stride`, `dtype`, `device`, or `unbacked` (a value from data without an assertion).",
    )
    input_index = dy.Int64(nullable=True, description="Index of the input in the list that the caller gives.")
    tensor = dy.String(nullable=True, description="Name of the input in the generated code.")
    user_name = dy.String(nullable=True, description="What the user calls it.")
    dim = dy.Int64(nullable=True, description="Dimension.")
    symbol = dy.String(nullable=True, description="Symbol that the size or value is taken for.")
    expected = dy.String(nullable=True, description="What the code takes for granted, `s28` or `2*s7`.")
    why = dy.String(nullable=False, description="Why it matters, in a sentence.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = MissingChecks


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for m in view.missing_checks:
            place = view.wrapper.source.place(m.line)
            entry = m.input
            name = view.names.get(entry.name) if entry is not None else None
            yield (
                view.wrapper.source.name, str(m.gap), entry.index if entry is not None else None,
                entry.name if entry is not None else None, name.name if name else None, m.dim, m.symbol, m.expected, m.why,
                place.source, place.line,
            )  # fmt: skip
