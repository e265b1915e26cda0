"""Whether the mask of a Triton check can only switch off the high elements of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Name, Num, Op, walk
from aoti_logs.code.kernel.slice_scope import Scope, inner

if TYPE_CHECKING:
    from aoti_logs.code.body import Body, Check
    from aoti_logs.code.expr import Expr

_DEPTH = 12
_SAME_FOR_ALL = {"tl.program_id", "tl.num_programs"}


def hides_high_only(body: Body, check: Check) -> bool:
    """Tell that an element is tested wherever one with higher or equal indexes on all axes is.

    So it is without a mask, and with one made of `index < numel` alone. False when that cannot be read from the code.
    """
    if check.line in {line for line, _ in body.unread} or any(
        isinstance(part, Op) and part.op in {"|", "||"} for part in walk(check.condition)
    ):
        return False
    if check.mask is None:
        return True
    at = body.statements.index(check)
    return _ends(Scope(body), check.mask, at, check.scope, _DEPTH)


def _ends(scope: Scope, mask: Expr, at: int, block: tuple[int, ...], depth: int) -> bool:
    """Tell a condition that holds up to some element and then no more, or that always holds."""
    match mask:
        case Op(op="&", args=args):
            return all(_ends(scope, part, at, block, depth) for part in args)
        case Op(op="<" | "<=", args=(index, limit)):
            return _grows(scope, index, at, block, depth) and _uniform(scope, limit, at, block, depth)
        case Call(func="tl.full", args=(_, Num(value=1), *_)):
            return True
        case Name(id=name) if depth and (found := scope.definition(name, at, block)) is not None:
            return _ends(scope, found[1].value, found[0], inner(found[1]), depth - 1)
        case _:
            return False


def _grows(scope: Scope, index: Expr, at: int, block: tuple[int, ...], depth: int) -> bool:
    """Tell a sum of `tl.arange` and of what all threads share."""
    match index:
        case Call(func="tl.arange"):
            return True
        case Op(op="+", args=args):
            return all(_grows(scope, part, at, block, depth) for part in args)
        case Name(id=name) if depth and (found := scope.definition(name, at, block)) is not None:
            return _grows(scope, found[1].value, found[0], inner(found[1]), depth - 1)
        case _:
            return _uniform(scope, index, at, block, depth)


def _uniform(scope: Scope, value: Expr, at: int, block: tuple[int, ...], depth: int) -> bool:
    """Tell a number that all threads of a block have in common."""
    match value:
        case Num():
            return True
        case (
            Op(op="+" | "-" | "*" | "//", args=args) | Call(func="min" | "tl.minimum" | "tl.cdiv", args=args)
        ):
            return all(_uniform(scope, part, at, block, depth) for part in args)
        case Call(func=func) if func in _SAME_FOR_ALL:
            return True
        case Name(id=name):
            found = scope.definition(name, at, block)
            if found is not None:
                return bool(depth) and _uniform(scope, found[1].value, found[0], inner(found[1]), depth - 1)
            param = scope.body.param(name)
            return scope.loop(name, at, block) is not None or (param is not None and not param.pointer)
        case _:
            return False
