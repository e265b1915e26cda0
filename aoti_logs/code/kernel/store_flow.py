"""What the stores of a kernel are made from: loads, and whether they give values, addresses or conditions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.body import Assign, Store
from aoti_logs.code.expr import Load, Name, Opaque, children, walk
from aoti_logs.code.kernel.slice import is_plain_mask
from aoti_logs.code.kernel.slice_scope import Scope, as_select, inner, pointer_of
from aoti_logs.code.kernel.store_extent import store_extents
from aoti_logs.code.wrapper.extern_calls import Role

if TYPE_CHECKING:
    from aoti_logs.code.body import Body
    from aoti_logs.code.expr import Expr

_MOST_STEPS = 20_000


class Flow(NamedTuple):
    """What reaches the stores through one pointer.

    `loads` are (pointer parameter, role); `complete` is False when a statement of the body could not be read, or
    a name that is no parameter has no definition there, so that more may reach them. `numbers` are parameters that are
    no pointers and are part of what is stored, or decide about it; those that only tell where are left out.
    """

    loads: frozenset[tuple[str, Role]]
    complete: bool
    numbers: frozenset[tuple[str, Role]] = frozenset()


def turned(outer: Role, inner_role: Role) -> Role:
    """Return the role of what reaches something through two steps, the one nearest to the store first."""
    return inner_role if outer is Role.VALUE else outer


class StoreFlow:
    """The stores of one body."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.params = frozenset(p.name for p in body.params)
        self._scope = Scope(body)
        self._stores: dict[str, list[tuple[int, Store]]] = {}
        self._flows: dict[str, Flow] = {}
        for position, statement in enumerate(body.statements):
            if isinstance(statement, Store):
                ptr = pointer_of(self._scope, statement.ptr, position, statement.scope)
                self._stores.setdefault(ptr, []).append((position, statement))

    @cached_property
    def stored(self) -> dict[str, bool]:
        """Pointer parameters stored through -> True when elements may stay as they are.

        That is so for atomics, and for an index that is computed from data.
        """
        return {
            ptr: any(s.atomic or self._by_data(at, s) for at, s in stores)
            for ptr, stores in self._stores.items()
        }

    @cached_property
    def read_first(self) -> frozenset[str]:
        """Pointer parameters that the kernel loads before it stores through them, if it does."""
        loaded: set[str] = set()
        stored: set[str] = set()
        for position, statement in enumerate(self.body.statements):
            parts = [statement.value] if isinstance(statement, Assign) else []
            if isinstance(statement, Store):
                parts = [statement.value, statement.index]
            loads = {n.ptr for part in parts for n in walk(part) if isinstance(n, Load)}
            for ptr in loads:
                param = pointer_of(self._scope, ptr, position, statement.scope)
                if param not in stored:
                    loaded.add(param)
            if isinstance(statement, Store):
                stored.add(pointer_of(self._scope, statement.ptr, position, statement.scope))
        return frozenset(loaded)

    def extents(self, ptr: str) -> tuple[Expr, ...] | None:
        """Return how far the loops run that one of the stores through a pointer stands in.

        Of several stores, the one in most loops; None when a loop cannot be told.
        """
        found = [store_extents(self._scope, at, store) for at, store in self._stores.get(ptr, ())]
        known = [e for e in found if e is not None]
        return max(known, key=len) if known and len(known) == len(found) else None

    def flow(self, ptr: str) -> Flow:
        """Return what the stores through a pointer parameter are made from."""
        if ptr not in self._flows:
            self._flows[ptr] = self._flow(ptr)
        return self._flows[ptr]

    def _by_data(self, position: int, store: Store) -> bool:
        found, _, complete = self._back([(store.index, Role.INDEX, position, store.scope)], set())
        return bool(found) or not complete

    def _flow(self, ptr: str) -> Flow:
        found: set[tuple[str, Role]] = set()
        numbers: set[tuple[str, Role]] = set()
        complete = not self.body.unread
        done: set[tuple[str, Role]] = set()
        todo = [(ptr, Role.VALUE)]
        seen: set[tuple[str, int, Role]] = set()
        while todo:
            current, role = todo.pop()
            if (current, role) in done:
                continue
            done.add((current, role))
            start: list[tuple[Expr, Role, int, tuple[int, ...]]] = []
            for position, store in self._stores.get(current, ()):
                start.append((store.value, role, position, store.scope))
                start.append((store.index, turned(role, Role.INDEX), position, store.scope))
            loads, given, whole = self._back(start, seen)
            complete = complete and whole
            numbers |= given
            found |= loads
            # What the kernel stored itself and loads again comes from its own stores, too.
            todo += [(p, r) for p, r in loads if p in self._stores]
        return Flow(frozenset(found), complete, frozenset(numbers))

    def _back(
        self, start: list[tuple[Expr, Role, int, tuple[int, ...]]], seen: set[tuple[str, int, Role]]
    ) -> tuple[set[tuple[str, Role]], set[tuple[str, Role]], bool]:
        """Return loads, numbers that are no addresses, and whether everything was followed."""
        found: set[tuple[str, Role]] = set()
        numbers: set[tuple[str, Role]] = set()
        todo, steps, complete = list(start), 0, True
        while todo:
            expr, role, at, block = todo.pop()
            steps += 1
            if steps > _MOST_STEPS:
                return found, numbers, False
            if isinstance(expr, Load):
                ptr = pointer_of(self._scope, expr.ptr, at, block)
                complete = complete and ptr in self.params
                found.add((ptr, role))
                todo.append((expr.index, turned(role, Role.INDEX), at, block))
                if expr.mask is not None and not is_plain_mask(expr.mask):
                    todo.append((expr.mask, turned(role, Role.CONDITION), at, block))
                continue
            choice = as_select(expr)
            if choice is not None:
                todo.append((choice[0], turned(role, Role.CONDITION), at, block))
                todo += [(part, role, at, block) for part in choice[1:]]
                continue
            if isinstance(expr, Opaque):
                complete = complete and not expr.names
                todo += [(Name(n), role, at, block) for n in expr.names]
                continue
            if not isinstance(expr, Name):
                todo += [(part, role, at, block) for part in children(expr)]
                continue
            if role is not Role.INDEX and expr.id in self.params:
                numbers.add((expr.id, role))
            for begun, assign in self._scope.definitions(expr.id, at, block):
                if (expr.id, begun, role) not in seen:
                    seen.add((expr.id, begun, role))
                    todo.append((assign.value, role, begun, inner(assign)))
        return found, numbers, complete
