"""Which reads and writes of memory a value addresses, and what it is multiplied by there."""

from __future__ import annotations

from dataclasses import dataclass

from aoti_logs.code.body import Assign, Check, Store
from aoti_logs.code.expr import Expr, Item, Load, Name, Num, Op, walk
from aoti_logs.code.kernel.slice_scope import Scope, as_select, inner, pointer_of, unwrap


@dataclass(frozen=True)
class Access:
    """A read or write of memory whose address uses the value.

    `write` for stores and atomics. `factor` is what the value is multiplied by in the address, as
    an expression (the stride of the indexed dimension), None when the address is not linear in it.
    """

    ptr: str
    index: Expr
    line: int
    write: bool
    factor: Expr | None


def accesses_of(scope: Scope, group: dict[str, int], at: int, check: Check) -> list[Access]:
    """Return what is addressed with the checked value after the check, nearest first."""
    found: list[Access] = []
    addresses = _Addresses(scope, group)
    for position, statement in enumerate(scope.body.statements[at + 1 :], at + 1):
        block = inner(statement) if isinstance(statement, Assign) else statement.scope
        if block[: len(check.scope)] != check.scope and check.scope[: len(block)] != block:
            continue
        candidates: list[tuple[str, Expr, bool]] = []
        if isinstance(statement, Store):
            candidates.append((statement.ptr, statement.index, True))
            reads = walk(statement.value)
        elif isinstance(statement, Assign):
            reads = walk(statement.value)
        else:
            continue
        candidates += [(n.ptr, n.index, False) for n in reads if isinstance(n, Load)]
        for ptr, index, write in candidates:
            linear = addresses.factor(index, position, block)
            if linear is not None:
                pointer = pointer_of(scope, ptr, position, block)
                factor = None if isinstance(linear, Num) and linear.value == 0 else linear
                found.append(Access(pointer, index, statement.line, write, factor))
    return found


class _Addresses:
    """How addresses use one value; each definition is looked at once, however often it is used."""

    def __init__(self, scope: Scope, group: dict[str, int]) -> None:
        self.scope = scope
        self.group = group
        self._known: dict[tuple[str, int], Expr | None] = {}

    def factor(self, index: Expr, at: int, block: tuple[int, ...], depth: int = 0) -> Expr | None:
        """Return the factor of the value in an address; Num(0) when it is there but not linear;
        None when the address does not use it. Selects are not looked through: what lies behind one
        is another value (an index before its wrap-around).
        """
        if depth > 60:
            return None
        index = unwrap(index)
        match index:
            case Name(id=name):
                return self._name(name, at, block, depth)
            case Item(base=base):
                return self.factor(base, at, block, depth + 1)
            case Op(op="+" | "-", args=args):
                parts = [self.factor(a, at, block, depth + 1) for a in args]
                used = [p for p in parts if p is not None]
                return used[0] if len(used) == 1 else (Num(0) if used else None)
            case Op(op="*", args=(left, right)):
                for one, other in ((left, right), (right, left)):
                    part = self.factor(one, at, block, depth + 1)
                    if part is not None:
                        return other if isinstance(part, Num) and part.value == 1 else Op("*", (part, other))
                return None
            case Load() | Num():
                return None
            case _:
                # What is computed from the value is another value, with a check of its own.
                return None

    def _name(self, name: str, at: int, block: tuple[int, ...], depth: int) -> Expr | None:
        found = self.scope.definition(name, at, block)
        begun = -1 if found is None else found[0]
        if self.group.get(name) == begun:
            return Num(1)
        if found is None or begun >= at or as_select(unwrap(found[1].value)) is not None:
            return None
        if (name, begun) not in self._known:
            self._known[name, begun] = None
            self._known[name, begun] = self.factor(found[1].value, begun, inner(found[1]), depth + 1)
        return self._known[name, begun]
