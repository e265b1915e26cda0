"""Names inside a kernel's body: which assignment a name means, and which names hold the same value."""

from __future__ import annotations

from aoti_logs.code.body import Assign, Body, Loop
from aoti_logs.code.expr import Call, Expr, Item, Name, Op

_SAME_VALUE = {
    "tl.broadcast_to", "tl.reshape", "tl.view", "tl.trans", ".to", ".view", ".reshape",
    "static_cast", "c10::convert", "int64_t", "int32_t", "long", "int", "triton_helpers.promote_to_tensor",
    "tl.cast", "decltype", "tl.expand_dims",
}  # fmt: skip
"""Calls whose result has the values of their first argument."""
_SELECTS = {"tl.where", "triton_helpers.where", "std::where"}
_MAX_STEPS = 400


class Scope:
    """Definitions of a body that are visible from one statement.

    A name may have several at once: one from before a loop and one from the round before, one from
    each branch of an `if`. Then it has no single value, and nothing is concluded from one of them.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.by_target: dict[str, list[tuple[int, Assign]]] = {}
        self._loops: dict[str, list[tuple[int, Loop]]] = {}
        self._rounds: set[tuple[int, ...]] = set()
        for position, statement in enumerate(body.statements):
            if isinstance(statement, Assign):
                self.by_target.setdefault(statement.target, []).append((position, statement))
            elif isinstance(statement, Loop):
                self._loops.setdefault(statement.var, []).append((position, statement))
                self._rounds.add(statement.scope)

    def loop(self, name: str, before: int, scope: tuple[int, ...]) -> Loop | None:
        """Return the loop of that variable around a position; loops one after the other share names."""
        around = [
            loop
            for position, loop in self._loops.get(name, ())
            if position < before and scope[: len(loop.scope)] == loop.scope
        ]
        return around[-1] if around else None

    def definitions(self, name: str, before: int, scope: tuple[int, ...]) -> list[tuple[int, Assign]]:
        """Return every assignment that can have given the name its value at a position."""
        seen = [d for d in self.by_target.get(name, ()) if scope[: len(d[1].scope)] == d[1].scope]
        found: list[tuple[int, Assign]] = []
        for definition in reversed([d for d in seen if d[0] < before]):
            found.append(definition)
            block = inner(definition[1])
            if scope[: len(block)] == block:
                break
        later = [d for d in seen if d[0] >= before and self._again(inner(d[1]), scope)]
        return found + later[-1:]

    def _again(self, block: tuple[int, ...], scope: tuple[int, ...]) -> bool:
        """Tell whether an assignment in one block reaches another in the next round of a loop."""
        shared = 0
        while shared < min(len(block), len(scope)) and block[shared] == scope[shared]:
            shared += 1
        return any(block[:n] in self._rounds for n in range(1, shared + 1))

    def definition(self, name: str, before: int, scope: tuple[int, ...]) -> tuple[int, Assign] | None:
        """Return the one assignment that a name has at a position; None when there is none or several."""
        found = self.definitions(name, before, scope)
        return found[0] if len(found) == 1 else None

    def position(self, name: str, before: int, scope: tuple[int, ...]) -> int:
        """Return where the name's value was assigned; -1 for a parameter or an unknown name."""
        found = self.definition(name, before, scope)
        return -1 if found is None else found[0]


def inner(assign: Assign) -> tuple[int, ...]:
    """Return the block in which the names of an assignment's value are looked up."""
    return assign.inside if assign.inside is not None else assign.scope


def unwrap(expr: Expr) -> Expr:
    """Take off casts, broadcasts and vector constructors around a value."""
    for _ in range(20):
        if isinstance(expr, Call) and expr.args and (same_value(expr) or _is_vector(expr.func)):
            expr = expr.args[0]
        else:
            break
    return expr


def _is_vector(func: str) -> bool:
    return func.endswith(("Vectorized", "VectorizedN", "VecMask", "::arange"))


def same_value(call: Call) -> bool:
    """Tell a call that gives back the values of its first argument."""
    return call.func in _SAME_VALUE or call.func.rpartition("::")[2] in {"convert", "broadcast"}


def copies(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> tuple[dict[str, int], str]:
    """Return every name that holds the same value, and the one it was first computed under.

    Each name comes with the position of its assignment: a C++ kernel uses a name again for another
    value in the next block.
    """
    group: dict[str, int] = {}
    position = at
    for _ in range(_MAX_STEPS):
        found = scope.definition(name, position, block)
        group[name] = -1 if found is None else found[0]
        if found is None:
            break
        value = unwrap(found[1].value)
        if isinstance(value, Item):
            value = unwrap(value.base)
        if not isinstance(value, Name) or value.id in group:
            break
        name, position, block = value.id, found[0], inner(found[1])
    return group, name


def as_select(expr: Expr) -> tuple[Expr, Expr, Expr] | None:
    """Return (condition, then, else) of a conditional in any of its spellings."""
    if isinstance(expr, Op) and expr.op == "?:":
        return expr.args[0], expr.args[1], expr.args[2]
    if isinstance(expr, Call) and len(expr.args) == 3:
        if expr.func in _SELECTS:
            return expr.args[0], expr.args[1], expr.args[2]
        if expr.func.endswith("blendv"):
            return expr.args[2], expr.args[1], expr.args[0]
    return None


def root_of(scope: Scope, expr: Expr, at: int, block: tuple[int, ...]) -> str | None:
    """Return the name under which a plain value was first computed."""
    expr = unwrap(expr)
    return copies(scope, expr.id, at, block)[1] if isinstance(expr, Name) else None


def resolve(scope: Scope, expr: Expr, at: int, block: tuple[int, ...]) -> Expr:
    """Follow plain copies to the first expression that computes something."""
    for _ in range(_MAX_STEPS):
        expr = unwrap(expr)
        if not isinstance(expr, Name):
            return expr
        found = scope.definition(expr.id, at, block)
        if found is None or found[0] >= at:
            return expr
        at, expr, block = found[0], found[1].value, inner(found[1])
    return expr


def pointer_of(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> str:
    """Follow `auto out_ptr0 = in_out_ptr0;` to the parameter."""
    for _ in range(8):
        if scope.body.param(name) is not None:
            return name
        found = scope.definition(name, at, block)
        if found is None or not isinstance(found[1].value, Name):
            return name
        name = found[1].value.id
    return name
