"""Reads, writes and reductions in the text of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class KernelAccesses(dy.Schema):
    """One row a load, store, atomic or reduction in a kernel's text, in program order."""

    kernel = dy.String(nullable=False, description="Kernel name, as `kernels.name`.")
    source = dy.String(nullable=False, description="File or archive member.")
    line = dy.Int64(nullable=False, description="Line of the statement, from 1.")
    kind = dy.String(
        nullable=False,
        description="`load`, `store`, `atomic`, `call` (a function gets the pointer and may read and write behind it), or `reduction`.",
    )
    operation = dy.String(
        nullable=True, description="Function or operator of an atomic, a call or a reduction, as written."
    )
    param = dy.String(
        nullable=True,
        description="Pointer parameter; null for a reduction, and for an address that is not one parameter plus an index.",
    )
    index = dy.String(
        nullable=False,
        description="Index of the element in names of the kernel; for a reduction what is reduced.",
    )
    mask = dy.String(nullable=True, description="Condition under which a lane does it; null for always.")
    conditions = dy.List(
        dy.String(), nullable=False, description="Conditions of the branches around it, outermost first."
    )
    variables = dy.List(
        dy.String(), nullable=False, description="Loop variables and lanes that the index is computed from."
    )
    through = dy.List(
        dy.String(),
        nullable=False,
        description="Pointer parameters that are read to compute the index; not empty for an indirect access.",
    )
    exact = dy.Bool(
        nullable=False,
        description="False when a part of the address has several values (a pointer that moves).",
    )


SCHEMA = KernelAccesses


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for inside in run.insides():
        source, name = inside.kernel.source, inside.kernel.name
        found: list[tuple[int, tuple[Any, ...]]] = []
        for a in inside.accesses:
            mask = None if a.mask is None else str(a.mask)
            conditions = [str(c) for c in a.conditions]
            row = (
                a.kind, a.operation or None, a.pointer, str(a.index), mask, conditions, list(a.variables),
                list(a.through), a.exact,
            )  # fmt: skip
            found.append((a.line, row))
        found += [
            (r.line, ("reduction", r.operation, None, str(r.value), None, [], [], [], True))
            for r in inside.reductions
        ]
        for line, row in sorted(found, key=lambda f: f[0]):
            place = source.place(line)
            yield (name, place.source, place.line, *row)
