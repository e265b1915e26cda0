"""What a kernel's own arithmetic guarantees about an index, whatever the data are."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Name, Num, Op
from aoti_logs.code.kernel.slice_scope import as_select, unwrap

if TYPE_CHECKING:
    from collections.abc import Collection

    from aoti_logs.code.expr import Expr

_DEEPEST = 40
# `CppOverrides` and `TritonKernelOverrides` of `torch/_inductor/codegen`. Indices are integers: no NaN.
_LARGER = ("maximum", "::max", "max_propagate_nan", "clamp_min")
_SMALLER = ("minimum", "::min", "min_propagate_nan", "clamp_max")


def lower_limit(expr: Expr, sizes: Collection[str], least: int = 1, depth: int = 0) -> int | None:
    """Return a number that the expression never falls below, None when there is no such number.

    Args:
        expr: an index with its definitions put in.
        sizes: names of size parameters.
        least: what every size is at least.
        depth: how deep the recursion is.
    """
    if depth > _DEEPEST:
        return None
    expr = unwrap(expr)
    match expr:
        case Num(value=literal):
            return floor(literal)
        case Name(id=name):
            return least if name in sizes else None
        case Op(op="+", args=(left, right)):
            low = lower_limit(left, sizes, least, depth + 1)
            more = lower_limit(right, sizes, least, depth + 1)
            return low + more if low is not None and more is not None else None
        case Op(op="-", args=(left, Num(value=literal))):
            low = lower_limit(left, sizes, least, depth + 1)
            return low - ceil(literal) if low is not None else None
        case Op(op="*", args=(Num(value=int(literal)), right)) if literal >= 0:
            low = lower_limit(right, sizes, least, depth + 1)
            return literal * low if low is not None else None
        case Call(func=func, args=args) if len(args) == 2 and func.endswith(_LARGER):
            lows = [lower_limit(a, sizes, least, depth + 1) for a in args]
            return max((low for low in lows if low is not None), default=None)
        case Call(func=func, args=(left, right)) if func.endswith(_SMALLER):
            low = lower_limit(left, sizes, least, depth + 1)
            more = lower_limit(right, sizes, least, depth + 1)
            return min(low, more) if low is not None and more is not None else None
    choice = as_select(expr)
    if choice is None:
        return None
    condition, then, other = choice
    low_then = lower_limit(then, sizes, least, depth + 1)
    low_other = lower_limit(other, sizes, least, depth + 1)
    tested = _tested(condition)
    if tested is not None:
        value, limit, when_true = tested
        if when_true and str(unwrap(value)) == str(unwrap(then)):
            low_then = limit if low_then is None else max(low_then, limit)
        if not when_true and str(unwrap(value)) == str(unwrap(other)):
            low_other = limit if low_other is None else max(low_other, limit)
    return min(low_then, low_other) if low_then is not None and low_other is not None else None


def _tested(condition: Expr) -> tuple[Expr, int, bool] | None:
    """Read `x >= n` as (x, n, True) and `x < n` as (x, n, False): on that side x is at least n."""
    condition = unwrap(condition)
    if not (isinstance(condition, Op) and len(condition.args) == 2 and isinstance(condition.args[1], Num)):
        return None
    value, limit = condition.args[0], int(condition.args[1].value)
    return {
        ">=": (value, limit, True),
        ">": (value, limit + 1, True),
        "<": (value, limit, False),
        "<=": (value, limit + 1, False),
    }.get(condition.op)
