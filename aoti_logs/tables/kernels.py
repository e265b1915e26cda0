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
    defined = dy.Bool(
        nullable=False, description="False for a declaration, whose body stands in another file."
    )
    kind = dy.String(
        nullable=True,
        description="`pointwise`, `reduction`, `persistent_reduction`, `split_scan`, `cooperative_reduction`, `template`, `foreach`, `combo` (several kernels in one), `user` (a user's own); null for C++.",
    )
    heuristic = dy.String(nullable=True, description="Name of the decorator of a Triton kernel, as written.")
    device = dy.String(nullable=True, description="Device type that a Triton kernel was compiled for.")
    capability = dy.String(nullable=True, description="Its compute capability as written (`90`, `gfx942`).")
    warp_size = dy.Int64(nullable=True, description="Threads in a warp of that device.")
    size_hints = dy.List(
        dy.String(),
        nullable=False,
        description="Extents that were expected when compiling (`x=16`, `r0_=512`).",
    )
    grid_type = dy.String(nullable=True, description="How the grid is computed, as `inductor_meta` says.")
    reduction_hint = dy.String(nullable=True, description="`INNER`, `OUTER`, `OUTER_TINY` or `DEFAULT`.")
    tile_hint = dy.String(nullable=True, description="`SQUARE` or `DEFAULT`, for tiled pointwise kernels.")
    num_warps = dy.Int64(nullable=True, description="Warps of a block, where the decorator fixes them.")
    num_stages = dy.Int64(nullable=True, description="Pipeline stages, where the decorator fixes them.")
    num_load = dy.Int64(
        nullable=True, description="Reads by Inductor's own count, which leaves out indirect ones and seeds."
    )
    num_store = dy.Int64(nullable=True, description="Writes by Inductor's own count (torch 2.10+).")
    num_reduction = dy.Int64(nullable=True, description="Reductions by Inductor's own count; scans are none.")
    mutated = dy.List(
        dy.String(),
        nullable=True,
        description="Parameters whose memory held something before and is changed.",
    )
    openmp = dy.Bool(nullable=True, description="A C++ kernel that several threads run; null for others.")
    vectorized = dy.Bool(
        nullable=True, description="A C++ kernel that handles several elements at once; null for others."
    )
    checks_indices = dy.Bool(
        nullable=True, description="False: a Triton kernel that was made without bounds checks."
    )
    n_index_checks = dy.Int64(
        nullable=False, description="Bounds checks in its text; main loop and tail of C++ count each."
    )


SCHEMA = Kernels


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.code.kernel.inside import Inside, check_texts, is_defined
    from aoti_logs.code.model import Backend
    from aoti_logs.code.triton.meta import KernelMeta

    for wrapper, k in run.kernel_rows():
        place = k.source.place(k.line, k.end_line)
        inside, defined = Inside(k), is_defined(k)
        meta = inside.meta or KernelMeta()
        cpp = k.backend is Backend.CPP and defined
        yield (
            k.name, str(k.backend), wrapper, place.source, place.line, place.end_line, [p.name for p in k.params],
            [p.dtype for p in k.params], k.path, [text for _, text in k.asserts], defined, meta.kind, meta.heuristic,
            meta.device.type, meta.device.capability, meta.device.warp_size,
            [f"{axis}={extent}" for axis, extent in meta.size_hints], meta.grid_type, meta.reduction_hint,
            meta.tile_hint, meta.num_warps, meta.num_stages, meta.num_load, meta.num_store, meta.num_reduction,
            list(meta.mutated) if meta.mutated is not None else None, inside.openmp if cpp else None,
            inside.vectors if cpp else None, meta.checks_indices, len(check_texts([k])),
        )  # fmt: skip
