"""Where a value in a kernel comes from, and what it indexes.

Works on `code/body.py`, so that Triton and C++ kernels are answered alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign, Body, Check, Store
from aoti_logs.code.expr import Call, Expr, Load, Name, Num, Op, children, names, walk
from aoti_logs.code.kernel.addresses import Access, accesses_of
from aoti_logs.code.kernel.slice_scope import (
    Scope,
    as_select,
    copies,
    inner,
    pointer_of,
    resolve,
    root_of,
    same_value,
    unwrap,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_STEPS = 400


@dataclass(frozen=True)
class Origin:
    """Where a value ends: `kind` is `load` (memory behind a pointer parameter), `loop` (a loop or
    lane variable), `param` (a scalar parameter such as `ks0`), `literal`, or `unknown`.
    """

    kind: str
    name: str
    line: int
    load: Load | None = None


@dataclass(frozen=True)
class Slice:
    """The backward and forward slice of one operand at one check.

    `steps` are the assignments that lead to it, as line numbers in program order. `wraps` is the
    size added to a negative index (None: the kernel adds nothing). `direct` is the load that the
    operand, before wrapping, is a plain copy of (None when arithmetic lies between): only then
    does the maximum of that tensor bound the operand. `unread_lines` are statements in between
    that could not be read: with any of them the slice may be incomplete.
    """

    operand: str
    check: Check
    steps: tuple[int, ...]
    origins: tuple[Origin, ...]
    accesses: tuple[Access, ...]
    wraps: Expr | None
    direct: Load | None
    value: Expr | None
    """The operand before wrapping, with names of one use put in, for showing (`in_ptr0[y0] - 1`)."""
    extent: Expr | None = None
    """For an operand that is a loop variable: it runs from 0 to this (excluded)."""
    extents: tuple[tuple[str, Expr | None], ...] = ()
    """How far each loop variable runs that the operand is computed from."""
    reach: Expr | None = None
    """How many elements, from the first on, the direct load reads: None when it skips some, or when a
    mask other than that of the loop holds it back."""
    unread_lines: tuple[int, ...] = ()
    loads: tuple[Load, ...] = field(default=())


def checks_with(body: Body, message: str) -> tuple[Check, ...]:
    """Return the checks that print this message."""
    return tuple(c for c in body.checks if c.message == message)


def operand_of(check: Check) -> tuple[str | None, Expr | None, Expr | None]:
    """Return (operand variable, lower bound, upper bound) from the tested condition."""
    operand, lower, upper = tested_of(check)
    return (operand.id if isinstance(operand, Name) else None), lower, upper


def tested_of(check: Check) -> tuple[Expr | None, Expr | None, Expr | None]:
    """Return (operand, lower bound, upper bound) from the tested condition.

    The operand is a variable where there is one; where the index has no name of its own it is an expression.
    """
    lower: Expr | None = None
    upper: Expr | None = None
    operands: list[Expr] = []
    for node in _comparisons(check.condition):
        left, right = (unwrap(a) for a in node.args)
        op = node.op
        if op.startswith(">"):
            # Users also write `(row >= 0) & (row < rows)`.
            left, right, op = right, left, op.replace(">", "<")
        if isinstance(left, Num) and isinstance(right, Name):
            lower = left if op == "<=" else Num(left.value + 1)
            operands.append(right)
        elif op == "<=" and isinstance(right, Num):
            upper = Num(right.value + 1)
            operands.append(left)
        elif op == "<":
            upper = right
            operands.append(left)
    named = [o for o in operands if isinstance(o, Name)]
    return next(iter(named or operands), None), lower, upper


def _comparisons(condition: Expr) -> Iterator[Op]:
    """Yield the comparisons that a condition is made of, not those inside of what they compare."""
    todo = [condition]
    while todo:
        node = todo.pop()
        if isinstance(node, Op) and len(node.args) == 2 and node.op in {"<", "<=", ">", ">="}:
            yield node
        elif not (isinstance(node, Op) and node.op == "?:") and not isinstance(node, Load):
            todo.extend(children(node))


def slice_check(body: Body, check: Check) -> Slice | None:
    """Slice the operand of a check; None when the condition names no variable."""
    operand, _, _ = operand_of(check)
    if operand is None:
        return None
    scope = Scope(body)
    at = body.statements.index(check)
    group, root = copies(scope, operand, at, check.scope)
    begun = group[root] + 1 if group.get(root, -1) >= 0 else at
    wraps, unwrapped = _wrap(scope, root, begun, check.scope)
    start = unwrapped if unwrapped is not None else Name(root)
    steps, origins = _backward(scope, Name(operand), at, check.scope)
    accesses = accesses_of(scope, group, at, check)
    direct = _direct(scope, start, at, check.scope)
    extent = None
    if not any(o.kind == "load" for o in origins):
        extent = _extent(scope, root, at, check.scope)
    loops = [o.name for o in origins if o.kind == "loop"]
    first = min(steps, default=check.line)
    return Slice(
        operand=operand,
        check=check,
        steps=tuple(sorted(steps)),
        origins=tuple(origins),
        accesses=tuple(accesses),
        wraps=wraps,
        direct=direct,
        value=_shown(scope, start, at, check.scope),
        extent=extent,
        extents=tuple((name, _extent(scope, name, at, check.scope)) for name in loops),
        reach=_reach(scope, direct, at, check.scope),
        unread_lines=tuple(line for line, _ in body.unread if first <= line <= check.line),
        loads=tuple(o.load for o in origins if o.load is not None),
    )


def _wrap(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> tuple[Expr | None, Expr | None]:
    """Recognise `i + n if i < 0 else i`; return (n, i), or (None, None)."""
    found = scope.definition(name, at, block)
    if found is None:
        return None, None
    position, assign = found
    block = inner(assign)
    choice = as_select(unwrap(assign.value))
    if choice is None:
        return None, None
    condition, then, other = choice
    plain = root_of(scope, other, position, block)
    summed = resolve(scope, then, position, block)
    if plain is None or not _is_negative_test(scope, condition, plain, position, block):
        return None, None
    if isinstance(summed, Op) and summed.op == "+" and len(summed.args) == 2:
        for one, added in (summed.args, summed.args[::-1]):
            if root_of(scope, one, position, block) == plain:
                return resolve(scope, added, position, block), Name(plain)
    return None, None


def _is_negative_test(scope: Scope, condition: Expr, name: str, at: int, block: tuple[int, ...]) -> bool:
    test = resolve(scope, condition, at, block)
    if isinstance(test, Call) and test.func.endswith("cast") and test.args:
        test = resolve(scope, test.args[0], at, block)
    if not (isinstance(test, Op) and test.op == "<" and len(test.args) == 2):
        return False
    zero = resolve(scope, test.args[1], at, block)
    return root_of(scope, test.args[0], at, block) == name and isinstance(zero, Num) and zero.value == 0


def _data_parts(expr: Expr) -> Iterator[Expr]:
    """Yield what the value is made of, without the conditions that only choose."""
    choice = as_select(expr)
    if choice is not None:
        yield from choice[1:]
    elif isinstance(expr, Call) and expr.args and same_value(expr):
        # The shape that a value is broadcast to is no part of it.
        yield expr.args[0]
    else:
        yield from children(expr)


def _backward(scope: Scope, start: Expr, at: int, block: tuple[int, ...]) -> tuple[set[int], list[Origin]]:
    """Follow data back to loads, loop variables and parameters."""
    lines: set[int] = set()
    origins: dict[tuple[str, str, str], Origin] = {}
    todo: list[tuple[Expr, int, int, tuple[int, ...]]] = [(start, at, 0, block)]
    seen: set[tuple[str, int]] = set()
    while todo and len(seen) < _MAX_STEPS:
        expr, position, line, around = todo.pop()
        if isinstance(expr, Load):
            pointer = pointer_of(scope, expr.ptr, position, around)
            origins.setdefault(
                ("load", pointer, str(expr.index)),
                Origin("load", pointer, line, Load(pointer, expr.index, expr.mask)),
            )
            continue
        if not isinstance(expr, Name):
            todo.extend((part, position, line, around) for part in _data_parts(expr))
            continue
        definitions = scope.definitions(expr.id, position, around)
        if not definitions:
            kind = _leaf(scope, expr.id, position, around)
            origins.setdefault((kind, expr.id, ""), Origin(kind, expr.id, line))
        for begun, assign in definitions:
            if (expr.id, begun) in seen:
                continue
            seen.add((expr.id, begun))
            lines.add(assign.line)
            if _is_lane(assign.value) or _lane_of(scope, expr.id, (begun, assign)):
                origins.setdefault(("loop", expr.id, ""), Origin("loop", expr.id, assign.line))
            else:
                todo.append((assign.value, begun, assign.line, inner(assign)))
    return lines, sorted(origins.values(), key=lambda o: (o.kind != "load", o.line))


def _leaf(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> str:
    if scope.loop(name, at, block) is not None:
        return "loop"
    if scope.body.param(name) is not None:
        return "param"
    return "type" if "." in name or "::" in name else "unknown"


def _is_lane(expr: Expr) -> bool:
    return any(isinstance(n, Call) and n.func in {"tl.arange", "tl.program_id"} for n in walk(expr))


_INDEX = re.compile(r"^(?:[xyzwr]\d*_?|r\d+_)(?:index|offset|base|block)?\d*$")


def _lane_of(scope: Scope, name: str, found: tuple[int, Assign]) -> bool:
    """Tell a Triton loop variable (`y0 = yindex`, `x1 = xindex // 64`): arithmetic over lane numbers."""
    if not _INDEX.match(name) or any(isinstance(n, Load) for n in walk(found[1].value)):
        return False
    parts = names(found[1].value)
    block = inner(found[1])
    return bool(parts) and all(
        _INDEX.match(p)
        or scope.body.param(p) is not None
        or p.isupper()
        or scope.loop(p, found[0], block) is not None
        for p in parts
    )


def _direct(scope: Scope, start: Expr, at: int, block: tuple[int, ...]) -> Load | None:
    value = resolve(scope, start, at, block)
    if isinstance(value, Load):
        return Load(pointer_of(scope, value.ptr, at, block), value.index, value.mask)
    return None


def _extent(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> Expr | None:
    """Return how far a loop variable runs: the loop's end, or the `numel` behind a Triton index."""
    loop = scope.loop(name, at, block)
    if loop is not None:
        return loop.stop
    prefix = name.removesuffix("index")
    if name.endswith("index") and scope.body.param(prefix + "numel") is not None:
        return _numel(scope, prefix + "numel", at, block)
    found = scope.definition(name, at, block)
    if found is None:
        return None
    value = unwrap(found[1].value)
    if isinstance(value, Name):
        return _extent(scope, value.id, found[0], inner(found[1]))
    match value:
        case Op(op="%", args=(_, right)):
            return right
        case Op(op="//", args=(Name(id=base), right)):
            pass
        case Call(func=func, args=(base_expr, right)) if func.endswith("div_floor_integer"):
            base_expr = unwrap(base_expr)
            if not isinstance(base_expr, Name):
                return None
            base = base_expr.id
        case _:
            return None
    whole = _extent(scope, base, found[0], inner(found[1]))
    return None if whole is None else Op("//", (whole, unwrap(right)))


def _reach(scope: Scope, load: Load | None, at: int, block: tuple[int, ...]) -> Expr | None:
    if load is None or not is_plain_mask(load.mask):
        return None
    index = unwrap(load.index)
    return _extent(scope, index.id, at, block) if isinstance(index, Name) else None


_LANE_MASK = re.compile(r"^[xyzr]\d*_?mask$")


def is_plain_mask(mask: Expr | None) -> bool:
    """Tell a mask that only switches off lanes beyond the end of a loop (`xmask & ymask`)."""
    return mask is None or all(_LANE_MASK.match(name) for name in names(mask))


def _numel(scope: Scope, name: str, at: int, block: tuple[int, ...]) -> Expr:
    """Return a numel, as the number that the body sets it to when it is static (`xnumel = 16`)."""
    found = scope.definition(name, at, block)
    return found[1].value if found is not None and isinstance(found[1].value, Num) else Name(name)


def _shown(scope: Scope, expr: Expr, at: int, block: tuple[int, ...], depth: int = 0) -> Expr:
    """Put definitions into an expression as far as it stays short."""
    if depth > 6:
        return expr
    match expr:
        case Name(id=name):
            found = scope.definition(name, at, block)
            if found is None or found[0] >= at or not name.startswith("tmp"):
                return expr
            return _shown(scope, unwrap(found[1].value), found[0], inner(found[1]), depth + 1)
        case Op(op=op, args=args):
            return Op(op, tuple(_shown(scope, a, at, block, depth + 1) for a in args))
        case Call() if as_select(expr) is not None:
            condition, then, other = as_select(expr) or (expr, expr, expr)
            return Op("?:", tuple(_shown(scope, a, at, block, depth + 1) for a in (condition, then, other)))
        case Call(args=args) if same_value(expr) and args:
            return _shown(scope, args[0], at, block, depth + 1)
        case Call(args=args):
            return replace(expr, args=tuple(_shown(scope, a, at, block, depth + 1) for a in args))
        case _:
            return expr


def value_loads(body: Body, ptr: str) -> set[str]:
    """Return the pointer parameters that the values stored through `ptr` are made from."""
    scope = Scope(body)
    found: set[str] = set()
    for position, statement in enumerate(body.statements):
        if (
            isinstance(statement, Store)
            and pointer_of(scope, statement.ptr, position, statement.scope) == ptr
        ):
            _, origins = _backward(scope, statement.value, position, statement.scope)
            found.update(o.name for o in origins if o.kind == "load")
    return found
