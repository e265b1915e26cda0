"""Reductions and scans in a kernel: which operation, over what, on which line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign
from aoti_logs.code.expr import Call, Expr, Name, Op, names, walk

if TYPE_CHECKING:
    from aoti_logs.code.body import Body

_TRITON = {
    "tl.sum", "tl.max", "tl.min", "tl.argmax", "tl.argmin", "tl.xor_sum", "tl.reduce", "tl.associative_scan",
    "tl.cumsum", "tl.cumprod", "tl.sort", "triton_helpers.max2", "triton_helpers.min2", "triton_helpers.any",
    "triton_helpers.prod", "triton_helpers.welford", "triton_helpers.max_with_index",
    "triton_helpers.min_with_index", "triton_helpers.online_softmax_reduce", "triton_helpers.sort_with_index",
}  # fmt: skip
_ACCUMULATOR = re.compile(r"(?:^|_)tmp_acc\d+")
"""`CppKernel.reduction` of `torch/_inductor/codegen/cpp.py` names its accumulators so."""


@dataclass(frozen=True)
class Reduction:
    """One reduction: `operation` is the function or operator as written (`tl.sum`, `max_propagate_nan`, `+`)."""

    operation: str
    target: str
    value: Expr
    line: int


def reductions(body: Body) -> tuple[Reduction, ...]:
    """Return the reductions in program order, each line's once."""
    found: dict[tuple[str, str, int], Reduction] = {}
    for statement in body.statements:
        if not isinstance(statement, Assign):
            continue
        for node in walk(statement.value):
            if isinstance(node, Call) and node.func in _TRITON and node.args:
                one = Reduction(node.func, statement.target, node.args[0], statement.line)
                found.setdefault((one.operation, one.target, one.line), one)
        accumulated = _accumulated(statement)
        if accumulated is not None:
            found.setdefault((accumulated.operation, accumulated.target, accumulated.line), accumulated)
    return tuple(found.values())


def _accumulated(statement: Assign) -> Reduction | None:
    """Read `tmp_acc0 = tmp_acc0 + tmp4` and `tmp_acc0 = max_propagate_nan(tmp_acc0, tmp4)`."""
    if not _ACCUMULATOR.search(statement.target) or statement.target not in names(statement.value):
        return None
    match statement.value:
        case Op(op=op, args=(Name(), value)):
            return Reduction(op, statement.target, value, statement.line)
        case Call(func=func, args=(_, value, *_)):
            return Reduction(func, statement.target, value, statement.line)
        case _:
            return None
