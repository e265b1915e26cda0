"""How kernels are started on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Launchers(dy.Schema):
    """One row a kernel whose C++ wrapper loads and starts it itself (`call_<kernel>`); Triton starts those of Python."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    kernel = dy.String(nullable=False, description="Kernel.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="Line of the launch itself, from 1.")
    grid = dy.List(
        dy.String(),
        nullable=False,
        description="Blocks along x, y and z as written, in the names of the kernel's parameters; empty where only the "
        "run chooses one of several.",
    )
    skips_empty = dy.Bool(
        nullable=False, description="True where nothing is launched when the grid has no blocks."
    )
    num_warps = dy.Int64(
        nullable=True, description="Warps of a block; null where it is known at run time only."
    )
    shared_bytes = dy.Int64(
        nullable=True, description="Dynamic shared memory of a block, in bytes; null likewise."
    )
    binary = dy.String(
        nullable=True,
        description="File that the kernel is loaded from, on the machine that compiled, or the embedded object.",
    )
    symbol = dy.String(nullable=True, description="Name of the function in the binary.")
    workspaces = dy.List(
        dy.String(),
        nullable=False,
        description="Scratch memory that the launcher allocates: sizes as written.",
    )
    passed = dy.List(
        dy.String(), nullable=False, description="Parameters that reach the device; constants do not."
    )


SCHEMA = Launchers


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        source = view.wrapper.source
        for one in view.wrapper.launchers:
            place = source.place(one.line)
            yield (
                source.name, one.kernel, place.source, place.line, list(one.grid), one.skips_empty, one.num_warps,
                one.shared_bytes, one.binary, one.symbol, list(one.workspaces), list(one.passed),
            )  # fmt: skip
