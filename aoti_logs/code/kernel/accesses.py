"""Every read and write of memory in a kernel: which parameter, at which address, under which condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign, Check, Guard, Loop, Store
from aoti_logs.code.expr import Expr, Load, Name, Num, Op, Opaque, names, walk
from aoti_logs.code.kernel.slice_scope import Scope, inner, unwrap
from aoti_logs.code.triton.expr import split_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.body import Body

    Block = tuple[int, ...]

_MOST_STEPS = 50


@dataclass(frozen=True)
class MemoryAccess:
    """One read or write in the text of a kernel.

    `kind` is `load`, `store`, `atomic`, or `call` for a pointer that is given to a function which may read and write
    behind it. `operation` is what does an atomic or a call, as written. `pointer` is the parameter; None when the
    address is not one parameter plus an index. `index` is the element's index, in names of the kernel. `exact` is
    False when a part of the address has several values (a pointer that a loop moves on). `variables` are the loop
    variables and lanes that the index is computed from, `through` the parameters that are read to compute it: not
    empty for an indirect access. `conditions` are the conditions of branches around it, outermost first.
    """

    kind: str
    pointer: str | None
    index: Expr
    mask: Expr | None
    line: int
    operation: str = ""
    exact: bool = True
    variables: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    conditions: tuple[Expr, ...] = ()


def memory_accesses(body: Body) -> tuple[MemoryAccess, ...]:
    """Return the accesses in program order, the reads of a statement before its writes; each line's once."""
    scope = Scope(body)
    inputs = _Inputs(scope)
    guards = [s for s in body.statements if isinstance(s, Guard)]
    found: dict[tuple[str, str | None, str, str, int], MemoryAccess] = {}
    for at, statement in enumerate(body.statements):
        block = inner(statement) if isinstance(statement, Assign) else statement.scope
        around = tuple(g.condition for g in guards if g.scope and block[: len(g.scope)] == g.scope)
        for kind, ptr, index, mask, operation in _raw(statement):
            pointer, where, exact = address(scope, ptr, index, at, block)
            variables, through = inputs.of(where, at, block)
            access = MemoryAccess(
                kind, pointer, where, mask, statement.line, operation, exact, variables, through, around
            )
            # A function that is called twice stands in the text once.
            found.setdefault((kind, pointer, str(where), str(mask), statement.line), access)
    return tuple(found.values())


def _raw(statement: object) -> Iterator[tuple[str, str, Expr, Expr | None, str]]:
    """Yield (kind, pointer as written, index, mask, operation)."""
    parts: tuple[Expr | None, ...] = ()
    match statement:
        case Assign(value=value):
            parts = (value,)
        case Store(index=index, value=value, mask=mask):
            parts = (index, value, mask)
        case Check(condition=condition, mask=mask):
            parts = (condition, mask)
        case Guard(condition=condition):
            parts = (condition,)
        case Loop(start=start, stop=stop):
            parts = (start, stop)
        case _:
            pass
    reads = [n for part in parts if part is not None for n in walk(part) if isinstance(n, Load)]
    # `walk` goes from the right to the left.
    for load in reversed(reads):
        yield "load", load.ptr, load.index, load.mask, ""
    if isinstance(statement, Store):
        kind = "atomic" if statement.atomic else "store"
        if statement.operation and isinstance(statement.index, Opaque) and statement.index == statement.value:
            kind = "call"
        yield kind, statement.ptr, statement.index, statement.mask, statement.operation


def address(scope: Scope, ptr: str, index: Expr, at: int, block: Block) -> tuple[str | None, Expr, bool]:
    """Follow a local pointer (`Q = arg_Q + offset`) to its parameter.

    Returns:
        The parameter (None when there is not one), the index from its beginning, and False when some part of the
        way has several values, so that the index is only the last part of it.
    """
    exact = True
    for _ in range(_MOST_STEPS):
        if not ptr:
            return None, index, False
        definitions = scope.definitions(ptr, at, block)
        if not definitions:
            return (ptr if scope.body.param(ptr) is not None else None), index, exact
        if len(definitions) > 1 or definitions[0][0] >= at:
            return _common_base(scope, ptr, at, block), index, False
        at, assign = definitions[0]
        block = inner(assign)
        value = unwrap(assign.value)
        if isinstance(value, Name):
            ptr = value.id
            continue
        pointers = {n for n in names(value) if _is_pointer(scope, n, at, block)}
        ptr, before = split_pointer(value, pointers)
        index = before if index == Num(0) else index if before == Num(0) else Op("+", (before, index))
    return None, index, False


def _is_pointer(scope: Scope, name: str, at: int, block: Block) -> bool:
    param = scope.body.param(name)
    if param is not None and not scope.definitions(name, at, block):
        return param.pointer
    return _common_base(scope, name, at, block) is not None


def _common_base(scope: Scope, name: str, at: int, block: Block) -> str | None:
    """Return the parameter that all values of a local pointer point into, None when there are several or none."""
    found: set[str] = set()
    todo = [(name, at, block)]
    seen: set[tuple[str, int]] = set()
    while todo and len(seen) < _MOST_STEPS:
        name, at, block = todo.pop()
        if (name, at) in seen:
            continue
        seen.add((name, at))
        definitions = scope.definitions(name, at, block)
        param = scope.body.param(name)
        if not definitions:
            if param is not None and param.pointer:
                found.add(name)
            continue
        for position, assign in definitions:
            value = unwrap(assign.value)
            base = value.id if isinstance(value, Name) else split_pointer(value, _Any())[0]
            if base and (base, position) not in seen:
                todo.append((base, position, inner(assign)))
    return found.pop() if len(found) == 1 else None


class _Any:
    """Takes every name for a pointer: the first one of a sum is followed."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and "." not in name


class _Inputs:
    """Which loop variables and which reads a value is computed from; each definition is looked at once."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._known: dict[tuple[str, int], tuple[frozenset[str], frozenset[str]]] = {}

    def of(self, expr: Expr, at: int, block: Block) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return (loop variables and lanes, pointer parameters that are read), sorted."""
        variables, reads = self._expr(expr, at, block, 0)
        return tuple(sorted(variables)), tuple(sorted(reads))

    def _expr(self, expr: Expr, at: int, block: Block, depth: int) -> tuple[frozenset[str], frozenset[str]]:
        variables: set[str] = set()
        reads: set[str] = set()
        if depth > _MOST_STEPS:
            return frozenset(), frozenset()
        for node in walk(expr):
            if isinstance(node, Load):
                pointer = address(self.scope, node.ptr, Num(0), at, block)[0]
                reads |= {pointer} if pointer is not None else set()
        for name in names(expr):
            more, found = self._name(name, at, block, depth + 1)
            variables |= more
            reads |= found
        return frozenset(variables), frozenset(reads)

    def _name(self, name: str, at: int, block: Block, depth: int) -> tuple[frozenset[str], frozenset[str]]:
        definitions = self.scope.definitions(name, at, block)
        if not definitions:
            looped = self.scope.loop(name, at, block) is not None
            return frozenset([name] if looped else ()), frozenset()
        variables: set[str] = set()
        reads: set[str] = set()
        for position, assign in definitions:
            key = (name, position)
            if key not in self._known:
                self._known[key] = frozenset(), frozenset()
                if _is_lane(assign.value):
                    self._known[key] = frozenset([name]), frozenset()
                else:
                    self._known[key] = self._expr(assign.value, position, inner(assign), depth)
            variables |= self._known[key][0]
            reads |= self._known[key][1]
        return frozenset(variables), frozenset(reads)


def _is_lane(expr: Expr) -> bool:
    from aoti_logs.code.expr import Call

    calls = {n.func for n in walk(expr) if isinstance(n, Call)}
    return bool(calls & {"tl.arange", "tl.program_id"}) and not any(isinstance(n, Load) for n in walk(expr))
