"""Uses of buffers, inputs and constants by launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class BufferUses(dy.Schema):
    """One row an argument or result of a launch that is a tensor, in program order."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    launch = dy.Int64(nullable=False, description="The launch, as `launches.index`.")
    kernel = dy.String(nullable=False, description="Kernel or function called.")
    buffer = dy.String(nullable=False, description="The name that the launch uses.")
    memory = dy.List(
        dy.String(),
        nullable=False,
        description="The names that its memory began with: one, several after a branch, none when it is not known.",
    )
    param = dy.String(nullable=True, description="Parameter of the kernel; null for calls of operators.")
    reads = dy.Bool(nullable=True, description="Whether it is read; null when the code does not tell.")
    writes = dy.Bool(nullable=True, description="Whether it is written; null when the code does not tell.")
    sets_all = dy.Bool(
        nullable=True,
        description="Whether a write sets every element that the argument shows; null when it is not known or read only.",
    )
    view = dy.Bool(nullable=False, description="True when the argument shows a part of the memory, or may.")
    certain = dy.Bool(
        nullable=False,
        description="False when the launch is in a branch or loop, or the memory is not certain.",
    )


SCHEMA = BufferUses


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        name = view.wrapper.source.name
        for use, memory in view.lives.arguments():
            yield (
                name, use.launch, use.kernel, use.name, list(memory), use.param, use.read, use.write, use.all,
                use.view, use.certain,
            )  # fmt: skip
