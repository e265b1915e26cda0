"""Negative indices: what a kernel adds to one before it is used (`x[-1]` is `x[n - 1]`).

`code/kernel/slice.py` recognises the sequence of statements that is written for an index which was read; where an index is
computed from sizes, Inductor writes one expression: `tl.where((-3) + x0 < 0, (-3) + ks1 + x0, (-3) + x0)`.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Expr, Num, Op
from aoti_logs.code.kernel.slice_scope import as_select, resolve, unwrap

if TYPE_CHECKING:
    from aoti_logs.code.kernel.slice_scope import Scope


def added_to_negative(scope: Scope, expr: Expr, at: int, block: tuple[int, ...]) -> Expr | None:
    """Return what is added where an index is negative; None when the expression is no such choice.

    Args:
        scope: the definitions of the body.
        expr: the index, a name or an expression.
        at: the statement that uses it.
        block: that statement's block.
    """
    choice = as_select(unwrap(resolve(scope, expr, at, block)))
    if choice is None:
        return None
    condition, then, other = choice
    match condition:
        case Op(op="<", args=(tested, Num(value=0))) if unwrap(tested) == unwrap(other):
            pass
        case _:
            return None
    more = Counter(_terms(then))
    more.subtract(Counter(_terms(other)))
    if any(count < 0 for count in more.values()):
        return None
    added = list(more.elements())
    return reduce(lambda a, b: Op("+", (a, b)), added) if added else None


def _terms(expr: Expr) -> list[Expr]:
    """Return what an expression is a sum of."""
    found, todo = [], [expr]
    while todo:
        node = unwrap(todo.pop())
        if isinstance(node, Op) and node.op == "+" and len(node.args) == 2:
            todo.extend(reversed(node.args))
        else:
            found.append(node)
    return found
