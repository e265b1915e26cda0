"""Where a value in a kernel comes from: its inputs, and the statements between them and it.

`code/kernel/slice.py` answers the narrower question of a failed check (which memory bounds the index?); this is the whole
backward slice, with what addresses and conditions are computed from.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign, Check, Guard, Loop, Store
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque, children
from aoti_logs.code.kernel.accesses import address
from aoti_logs.code.kernel.slice_scope import Scope, as_select, inner, same_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.code.body import Body, Statement

    Block = tuple[int, ...]

_MOST_STEPS = 5000


@dataclass(frozen=True)
class Input:
    """Where a slice ends.

    `kind` is `load` (memory behind the pointer parameter `name`), `size` (a scalar parameter), `constant` (a parameter
    known when compiling), `loop`, `lane` (an index over the elements of a Triton block), `program` (a program id),
    `literal`, or `unknown` for a name that nothing in the kernel defines. `via` tells what it takes part in: `value`,
    `address` of a read on the way, or `condition` that chooses or masks. `index` is the address of a load.
    """

    kind: str
    name: str
    line: int
    via: str
    index: str | None = None


@dataclass(frozen=True)
class ValueSlice:
    """The backward slice of one value.

    `lines` are the statements in between, in program order, the value's own included. `complete` is False when a
    statement in between could not be read, a name is unknown, or the way was too long: then more may flow in, and
    `gaps` says what is in the way. What only decides whether a statement runs (branches around it) is in
    `conditions`.
    """

    target: str
    line: int
    inputs: tuple[Input, ...]
    lines: tuple[int, ...]
    conditions: tuple[str, ...] = ()
    complete: bool = True
    gaps: tuple[tuple[int, str], ...] = ()

    def named(self, kind: str, *, via: str | None = None) -> tuple[str, ...]:
        """Return the names of the inputs of a kind, each once, in order of lines."""
        return tuple(
            dict.fromkeys(i.name for i in self.inputs if i.kind == kind and (via is None or i.via == via))
        )


def slice_value(body: Body, name: str, line: int | None = None) -> ValueSlice | None:
    """Slice a variable.

    Args:
        body: the kernel's body.
        name: the variable; that of a called function may be given without its `@function#n`.
        line: where it is assigned or used; the last assignment when None.

    Returns:
        The slice of the value that the variable has after that line; None when nothing there assigns it.
    """
    found = [
        (at, s)
        for at, s in enumerate(body.statements)
        if isinstance(s, Assign) and name in {s.target, s.target.partition("@")[0]}
    ]
    before = [f for f in found if line is None or f[1].line <= line]
    if not before:
        return None
    at, assign = before[-1]
    return _slice(body, assign.target, assign.line, [(Name(assign.target), "value")], at + 1, inner(assign))


def slice_line(body: Body, line: int) -> tuple[ValueSlice, ...]:
    """Slice what stands on a line: assigned values, what a store writes and where, what a check tests."""
    found = []
    for at, statement in enumerate(body.statements):
        if statement.line != line:
            continue
        parts = [(e, via) for e, via in _parts(statement) if e is not None]
        if parts:
            block = inner(statement) if isinstance(statement, Assign) else statement.scope
            found.append(_slice(body, _target(statement), line, parts, at, block))
    return tuple(found)


def slice_expression(body: Body, target: str, parts: Iterable[tuple[Expr, str]], at: int) -> ValueSlice:
    """Slice expressions of the statement at place `at`, each with the `via` of its inputs."""
    statement = body.statements[at]
    block = inner(statement) if isinstance(statement, Assign) else statement.scope
    return _slice(body, target, statement.line, list(parts), at, block)


def _target(statement: Statement) -> str:
    match statement:
        case Assign(target=target):
            return target
        case Store(ptr=ptr, index=index):
            return f"{ptr}[{index}]"
        case Check(message=message):
            return message
        case Loop(var=var):
            return var
        case Guard(condition=condition):
            return str(condition)


def _parts(statement: Statement) -> Iterator[tuple[Expr | None, str]]:
    match statement:
        case Assign(value=value):
            yield value, "value"
        case Store(index=index, value=value, mask=mask):
            yield value, "value"
            yield index, "address"
            yield mask, "condition"
        case Check(condition=condition, mask=mask):
            yield condition, "value"
            yield mask, "condition"
        case Loop(start=start, stop=stop):
            yield start, "value"
            yield stop, "value"
        case Guard(condition=condition):
            yield condition, "condition"


def _slice(
    body: Body, target: str, line: int, parts: list[tuple[Expr, str]], at: int, block: Block
) -> ValueSlice:
    walker = _Walker(body, Scope(body))
    walker.follow(parts, at, line, block)
    lines = sorted({*walker.lines, line})
    gaps = [(n, text) for n, text in body.unread if lines[0] <= n <= lines[-1]]
    if walker.truncated:
        gaps.append((line, "the slice is longer than is followed"))
    unknown = [i for i in walker.inputs.values() if i.kind == "unknown"]
    gaps += [(i.line, f"nothing defines {i.name}") for i in unknown]
    order = {"value": 0, "address": 1, "condition": 2}
    inputs = sorted(walker.inputs.values(), key=lambda i: (order[i.via], i.kind != "load", i.line, i.name))
    return ValueSlice(
        target, line, tuple(inputs), tuple(lines), walker.conditions(at, block), not gaps, tuple(gaps)
    )


class _Walker:
    """Follows data backwards; each definition is looked at once for each of the three ways."""

    def __init__(self, body: Body, scope: Scope) -> None:
        self.body = body
        self.scope = scope
        self.inputs: dict[tuple[str, str, str | None], Input] = {}
        self.lines: set[int] = set()
        self.blocks: set[Block] = set()
        self.truncated = False

    def follow(self, parts: list[tuple[Expr, str]], at: int, line: int, block: Block) -> None:
        """Collect inputs and lines, values before addresses before conditions."""
        waiting: dict[str, deque[tuple[Expr, int, int, Block]]]
        waiting = {via: deque() for via in ("value", "address", "condition")}
        for expr, via in parts:
            waiting[via].append((expr, at, line, block))
        seen: set[tuple[str, int]] = set()
        steps = 0
        while any(waiting.values()):
            via = next(v for v, queue in waiting.items() if queue)
            expr, position, here, around = waiting[via].popleft()
            steps += 1
            if steps > _MOST_STEPS:
                self.truncated = True
                return
            for part, other in self._below(expr, via, position, here, around):
                waiting[other].append((part, position, here, around))
            if isinstance(expr, Name):
                for other, entry in self._defined(expr.id, via, position, here, around, seen):
                    waiting[other].append(entry)

    def _below(self, expr: Expr, via: str, at: int, line: int, block: Block) -> Iterator[tuple[Expr, str]]:
        """Yield the parts of an expression with the way that each takes part in it; note where it ends."""
        weaker = "condition" if via == "condition" else "address"
        match expr:
            case Load(ptr=ptr, index=index, mask=mask):
                pointer, where, _ = address(self.scope, ptr, index, at, block)
                self._add(Input("load", pointer or ptr, line, via, str(where)))
                yield index, weaker
                if self.body.param(ptr) is None:
                    yield Name(ptr), weaker
                if mask is not None:
                    yield mask, "condition"
            case Num(value=value):
                self._add(Input("literal", str(value), line, via))
            case Opaque(names=inside):
                for name in inside:
                    yield Name(name), via
            case Call(func="tl.program_id", args=args):
                self._add(Input("program", f"program_id({', '.join(map(str, args))})", line, via))
            case Op() | Call() if (choice := as_select(expr)) is not None:
                yield choice[0], "condition"
                yield choice[1], via
                yield choice[2], via
            case Call(args=(value, *_)) if same_value(expr):
                # The shape that a value is broadcast to is no part of it.
                yield value, via
            case Op() | Call() | Item():
                for part in children(expr):
                    yield part, via
            case _:
                pass

    def _defined(
        self, name: str, via: str, at: int, line: int, block: Block, seen: set[tuple[str, int]]
    ) -> Iterator[tuple[str, tuple[Expr, int, int, Block]]]:
        """Yield the values that a name can have, with the way that each takes part; note it where it has none."""
        definitions = self.scope.definitions(name, at, block)
        loop = self.scope.loop(name, at, block)
        if loop is not None and not definitions:
            self.lines.add(loop.line)
            self._add(Input("loop", name, loop.line, via))
            for end in (loop.start, loop.stop):
                if end is not None and (name, loop.line) not in seen:
                    # How far it runs chooses among its values.
                    yield "condition", (end, at, loop.line, loop.scope)
            seen.add((name, loop.line))
            return
        if not definitions:
            self._leaf(name, via, line)
        for begun, assign in definitions:
            self.lines.add(assign.line)
            self.blocks.add(inner(assign))
            if (name, begun) in seen:
                continue
            seen.add((name, begun))
            if _is_lane(assign.value):
                self._add(Input("lane", name, assign.line, via))
            yield via, (assign.value, begun, assign.line, inner(assign))

    def _leaf(self, name: str, via: str, line: int) -> None:
        param = self.body.param(name)
        if param is not None:
            kind = "constant" if param.dtype == "constexpr" else "pointer" if param.pointer else "size"
            if kind != "pointer":
                self._add(Input(kind, name, line, via))
        elif name not in self.body.functions and not _is_word(name):
            self._add(Input("unknown", name, line, via))

    def _add(self, found: Input) -> None:
        self.inputs.setdefault((found.kind, found.name, found.index), found)

    def conditions(self, at: int, block: Block) -> tuple[str, ...]:
        """Return the conditions of the branches around the value and around what it is computed from."""
        blocks = {*self.blocks, block}
        found = [
            str(g.condition)
            for g in self.body.statements[: at + 1]
            if isinstance(g, Guard) and g.scope and any(b[: len(g.scope)] == g.scope for b in blocks)
        ]
        return tuple(dict.fromkeys(found))


_WORDS = {"float", "int", "bool", "range", "None", "True", "False", "nan", "INFINITY", "NAN", "M_PI", "this"}
"""Names that are no variables, in Python or C++."""


def _is_word(name: str) -> bool:
    return "." in name or "::" in name or name in _WORDS


def _is_lane(expr: Expr) -> bool:
    todo: list[Expr] = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, Call) and node.func == "tl.arange":
            return True
        todo.extend(children(node))
    return False
