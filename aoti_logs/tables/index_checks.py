"""Bounds checks in the text of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run


class IndexChecks(dy.Schema):
    """One row a bounds check; a vectorised C++ kernel has the same check in its main loop and in its tail."""

    kernel = dy.String(nullable=False, description="Kernel name, as `kernels.name`.")
    source = dy.String(nullable=False, description="File or archive member.")
    line = dy.Int64(nullable=False, description="Line of the check, from 1.")
    message = dy.String(nullable=False, description="What it prints when it fails.")
    part = dy.String(
        nullable=False, description="`block` (Triton), `vector`, `vector_tail` or `scalar` (C++)."
    )
    operand = dy.String(
        nullable=True, description="What is tested: a variable, or an expression without a name."
    )
    value = dy.String(
        nullable=True, description="What it is computed from, before wrapping (`in_ptr0[y0] - 1`)."
    )
    lower = dy.String(
        nullable=True, description="Smallest value that passes; null when there is no lower limit."
    )
    bound = dy.String(nullable=True, description="Limit that it must stay below; null when there is none.")
    mask = dy.String(nullable=True, description="Condition under which a lane is tested; null for always.")
    wraps = dy.String(
        nullable=True, description="What is added to a negative index before the check; null when nothing is."
    )
    indexed = dy.List(
        dy.String(),
        nullable=False,
        description="Pointer parameters whose addresses are computed from the operand.",
    )
    origins = dy.List(
        dy.String(), nullable=False, description="Parameters that the operand is computed from, memory first."
    )
    complete = dy.Bool(
        nullable=False, description="False when a statement that may matter could not be read."
    )


SCHEMA = IndexChecks


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    from aoti_logs.code.kernel.inside import PREFIX

    for inside in run.insides():
        if not inside.kernel.asserts:
            continue
        source = inside.kernel.source
        for check in inside.checks:
            if check.operand is None and not check.message.startswith(PREFIX):
                continue
            place = source.place(check.line)
            yield (
                inside.kernel.name, place.source, place.line, check.message, check.part, _text(check.operand),
                _text(check.value), _text(check.lower), _text(check.bound), _text(check.mask), _text(check.wraps),
                list(check.indexed), list(check.origins), check.slice().complete,
            )  # fmt: skip


def _text(expr: object) -> str | None:
    return None if expr is None else str(expr)
