"""How many elements a store sets: how far the loops run that its index is computed from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.body import Guard, Loop, Store
from aoti_logs.code.expr import Load, Name, Num, Op, Opaque, children, names
from aoti_logs.code.kernel.slice_scope import Scope, inner

if TYPE_CHECKING:
    from aoti_logs.code.expr import Expr

_LANE = re.compile(r"([xyzr]\d*_?)index")
_LANE_MASK = re.compile(r"[xyzr]\d*_?mask|None")
"""Masks that leave out what lies beyond the numel alone."""
_MOST_STEPS = 2000


def store_extents(scope: Scope, position: int, store: Store) -> tuple[Expr, ...] | None:
    """Return the extents of the loops, or of the lanes of a Triton kernel, that a store's index depends on.

    None when it depends on data or on something that cannot be told. Inductor's loops set another element in each
    round, so that the product of the extents is the number of elements.
    """
    if store.mask is not None and not all(_LANE_MASK.fullmatch(name) for name in names(store.mask)):
        return None
    guards = (s for s in scope.body.statements if isinstance(s, Guard) and s.scope)
    if any(store.scope[: len(g.scope)] == g.scope and _on_data(g, scope, position) for g in guards):
        return None
    todo: list[tuple[Expr, int, tuple[int, ...]]] = [(store.index, position, store.scope)]
    extents: dict[str, Expr] = {}
    met: set[tuple[str, int]] = set()
    for _ in range(_MOST_STEPS):
        if not todo:
            return tuple(extents.values())
        expr, at, block = todo.pop()
        if isinstance(expr, Load | Opaque):
            return None
        if not isinstance(expr, Name):
            todo += [(part, at, block) for part in children(expr)]
            continue
        lane = _LANE.fullmatch(expr.id)
        if lane is not None and scope.body.param(lane[1] + "numel") is not None:
            extents[lane[1]] = _numel(scope, lane[1] + "numel", at, block)
            continue
        loop = scope.loop(expr.id, at, block)
        if loop is not None:
            extent = _length(loop)
            if extent is None:
                return None
            extents[expr.id] = extent
            continue
        found = scope.definitions(expr.id, at, block)
        if not found and scope.body.param(expr.id) is None and not expr.id.isupper():
            return None
        for begun, assign in found:
            if (expr.id, begun) not in met:
                met.add((expr.id, begun))
                todo.append((assign.value, begun, inner(assign)))
    return None


def _on_data(guard: Guard, scope: Scope, position: int) -> bool:
    """Tell whether a condition looks at more than loop variables and sizes, as those of a tail loop do."""
    return any(
        scope.loop(name, position, guard.scope) is None and scope.body.param(name) is None
        for name in names(guard.condition)
    )


def _length(loop: Loop) -> Expr | None:
    if loop.stop is None:
        return None
    return loop.stop if loop.start == Num(0) else Op("-", (loop.stop, loop.start))


def _numel(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> Expr:
    """Return a numel, as the number that the body sets it to when it is static (`xnumel = 16`)."""
    found = scope.definition(name, at, block)
    known = found is not None and isinstance(found[1].value, Num)
    return found[1].value if found is not None and known else Name(name)
