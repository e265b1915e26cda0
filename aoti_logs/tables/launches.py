"""Kernel launches and extern calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.tables._launch import launch_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class Launches(dy.Schema):
    """One row a call, in program order of its wrapper."""

    wrapper = dy.String(nullable=False, description="The wrapper, as `sources.name`.")
    index = dy.Int64(nullable=False, description="Place in program order, from 0; calls of all kinds count.")
    kernel = dy.String(nullable=False, description="Kernel or function called.")
    backend = dy.String(nullable=False, description="`triton`, `cpp` or `extern`.")
    source = dy.String(nullable=False, description="File or archive member, as `sources.name`.")
    line = dy.Int64(nullable=False, description="First line, from 1.")
    args = dy.List(
        dy.String(),
        nullable=False,
        description="What stands behind the casts of each argument, for a fused kernel in the order of its parameters: "
        "names of tensors, sizes and expressions in canonical form (`s0 // 2`), literals.",
    )
    inputs = dy.List(
        dy.String(),
        nullable=False,
        description="Tensors read (by the names of parameters for fused kernels).",
    )
    outputs = dy.List(dy.String(), nullable=False, description="Buffers written.")
    sizes = dy.List(dy.String(), nullable=False, description="Size arguments as written.")
    grid = dy.List(
        dy.String(),
        nullable=False,
        description="Blocks along x, y and z as written, in the names of the kernel's parameters; empty where the "
        "wrapper does not say it.",
    )
    stream = dy.String(nullable=True, description="Stream as written; null where the call names none.")
    branch = dy.List(
        dy.String(),
        nullable=False,
        description="Control flow around the call, outermost first, as the code writes it (`if (buf0_scalar)`).",
    )
    subgraph = dy.String(
        nullable=True,
        description="Graph that the call belongs to (`true_graph_0`, `_const_run_impl`); null for the model's own.",
    )
    unbound = dy.String(
        nullable=True,
        description="Why the arguments are bound to no parameters (numbers that differ, unknown parameters); null where "
        "they are, and for calls of ATen.",
    )
    handle = dy.Int64(nullable=True, description="Provenance debug handle.")
    checked = dy.Bool(nullable=False, description="False for a shim call whose error code the code ignores.")
    source_nodes = dy.List(dy.String(), nullable=False, description="Source nodes named above the call.")
    text = dy.String(nullable=False, description="The call as written.")


SCHEMA = Launches


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for view in run.views():
        yield from launch_rows(view)
