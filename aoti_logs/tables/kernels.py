"""Kernels of the generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Kernels(dy.Schema):
    """One row a kernel definition at hand."""

    name = dy.String(nullable=False, description="Kernel name.")
    backend = dy.String(nullable=False, description="`triton` or `cpp`.")
    wrapper = dy.String(
        nullable=True, description="The wrapper that holds or declares it; null for a kernel file alone."
    )
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    end_line = dy.Int64(nullable=False, description="Last line.")
    params = dy.List(dy.String(), nullable=False, description="Parameter names in order.")
    dtypes = dy.List(
        dy.String(), nullable=False, description="Parameter types as written, in the same order."
    )
    path = dy.String(nullable=True, description="Cache file that the code names.")
    asserts = dy.List(dy.String(), nullable=False, description="Messages of its bounds checks, in order.")


SCHEMA = Kernels


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for wrapper, k in run.kernel_rows():
        place = k.source.place(k.line, k.end_line)
        yield (
            k.name, str(k.backend), wrapper, place.source, place.line, place.end_line, [p.name for p in k.params],
            [p.dtype for p in k.params], k.path, [text for _, text in k.asserts],
        )  # fmt: skip
