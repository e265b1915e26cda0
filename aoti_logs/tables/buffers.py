"""Buffers of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Buffers(dy.Schema):
    """One row a birth or rename of a buffer, in program order."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    name = dy.String(nullable=False, description="Buffer name.")
    at = dy.Int64(
        nullable=False, description="Launches before it: `launches.index` of the first that can use it."
    )
    shape = dy.List(dy.String(), nullable=True, description="Extents as written.")
    stride = dy.List(dy.String(), nullable=True, description="Strides as written.")
    dtype = dy.String(nullable=True, description="Dtype as written.")
    device = dy.String(nullable=True, description="Device as written.")
    bytes = dy.Int64(
        nullable=True, description="Bytes of its elements, where extents are numbers and the dtype is known."
    )
    alias_of = dy.String(nullable=True, description="Older name of the same memory.")
    view = dy.Bool(nullable=False, description="True when it only looks into that memory.")
    reuse = dy.Bool(
        nullable=False, description="True when it takes over the memory and the older values are dead."
    )
    offset = dy.String(
        nullable=True,
        description="Storage offset of a view as written, in elements (in bytes in a pool); `?` when it is not known.",
    )
    branch = dy.List(dy.String(), nullable=False, description="Heads of the branches and loops around it.")
    released_at = dy.Int64(
        nullable=True, description="Launches before the end of the name; null when nothing ends it."
    )
    released_line = dy.Int64(nullable=True, description="Line that ends the name.")
    returned_as = dy.List(
        dy.Int64(),
        nullable=False,
        description="Places in the outputs that its memory is returned as, from 0.",
    )
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Buffers


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        source = view.wrapper.source
        for number, b in enumerate(view.wrapper.buffers):
            place = source.place(b.line)
            end = view.lives.end(number)
            yield (
                source.name, b.name, b.at, _listed(b.shape), _listed(b.stride), b.dtype, b.device,
                view.lives.size(number), b.alias_of, b.view, b.reuse, b.offset, list(b.branch),
                None if end is None else end.at, None if end is None else source.place(end.line).line,
                list(view.lives.returned(number)), place.source, place.line,
            )  # fmt: skip


def _listed(parts: tuple[str, ...] | None) -> list[str] | None:
    return None if parts is None else list(parts)
