"""Parameters of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class KernelParams(dy.Schema):
    """One row a formal parameter of a kernel that is defined."""

    kernel = dy.String(nullable=False, description="Kernel name, as `kernels.name`.")
    source = dy.String(nullable=False, description="File or archive member, as `kernels.source`.")
    line = dy.Int64(nullable=False, description="First line of the kernel, as `kernels.line`.")
    position = dy.Int64(nullable=False, description="Place in the parameter list, from 0.")
    param = dy.String(nullable=False, description="Parameter name (`in_ptr0`, `ks0`, `XBLOCK`).")
    written = dy.String(
        nullable=False, description="Type as written (`*i64`, `const int64_t*`); may be empty."
    )
    dtype = dy.String(nullable=True, description="torch's name of the element type (`int64`).")
    role = dy.String(
        nullable=False,
        description="`in_ptr`, `out_ptr`, `in_out_ptr`, `ks` (a size), `numel`, `constexpr`, `workspace`, `semaphore`, `seed_offset`, `scalar`, or `pointer` (memory that the body neither reads nor writes).",
    )
    pointer = dy.Bool(nullable=False, description="The parameter is memory.")
    mutated = dy.Bool(
        nullable=True,
        description="Inductor says that its memory held something before and is changed, perhaps through another parameter for the same buffer; null where it does not say.",
    )
    constant = dy.String(nullable=True, description="Value that the kernel was compiled for, as written.")


SCHEMA = KernelParams


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for inside in run.insides():
        place = inside.kernel.source.place(inside.kernel.line)
        for p in inside.params:
            yield (
                inside.kernel.name, place.source, place.line, p.position, p.name, p.written, p.dtype, p.role, p.pointer,
                p.mutated, p.constant,
            )  # fmt: skip
