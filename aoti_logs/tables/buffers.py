"""Buffers of compiled models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Buffers(dy.Schema):
    """One row a birth or rename of a buffer."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    name = dy.String(nullable=False, description="Buffer name.")
    shape = dy.List(dy.String(), nullable=True, description="Extents as written.")
    stride = dy.List(dy.String(), nullable=True, description="Strides as written.")
    dtype = dy.String(nullable=True, description="Dtype as written.")
    device = dy.String(nullable=True, description="Device as written.")
    alias_of = dy.String(nullable=True, description="Older name of the same memory.")
    view = dy.Bool(nullable=False, description="True when it only looks into that memory.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")


SCHEMA = Buffers


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        for b in view.wrapper.buffers:
            place = view.wrapper.source.place(b.line)
            yield (
                view.wrapper.source.name, b.name, list(b.shape) if b.shape is not None else None,
                list(b.stride) if b.stride is not None else None, b.dtype, b.device, b.alias_of, b.view, place.source, place.line,
            )  # fmt: skip
