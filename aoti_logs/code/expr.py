"""Expressions of generated code as one small tree, whichever language they were written in.

Triton bodies and symbolic sizes are read with Python's `ast`, C++ kernels and wrappers with
`grammars/cpp_code.lark`; all give these nodes, so that slicing and evaluating is written once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Num:
    """A literal number (`10L`, `1.0`, `true` is 1)."""

    value: int | float

    def __str__(self) -> str:
        """Return it as Python would write it."""
        return str(self.value)


@dataclass(frozen=True)
class Name:
    """A name: `tmp4`, `ks0`, `s70`, `x0`, `tl.int64` (dotted and `::` names stay whole)."""

    id: str

    def __str__(self) -> str:
        """Return the name."""
        return self.id


@dataclass(frozen=True)
class Op:
    """An operator applied to operands.

    `op` is the operator as written (`+ - * / // % ** & | ^ << >> < <= > >= == != && || and or`),
    for one operand `-`, `~`, `!`, `+`, `not`; `?:` is the conditional (condition, then, else).
    """

    op: str
    args: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it in infix form with every nested operation in parentheses."""
        parts = [f"({a})" if isinstance(a, Op) else str(a) for a in self.args]
        if self.op == "?:":
            return f"{parts[0]} ? {parts[1]} : {parts[2]}"
        if len(parts) == 1:
            return f"{self.op} {parts[0]}" if self.op.isalpha() else f"{self.op}{parts[0]}"
        return f" {self.op} ".join(parts)


@dataclass(frozen=True)
class Call:
    """A call. `func` is the callee without template arguments (`c10::div_floor_integer`,
    `tl.where`, `static_cast`); a method call `a.to(b)` is func `.to` with `a` as first argument.

    `types` are template or cast target types as written. A list of Python is func `[]`.
    """

    func: str
    args: tuple[Expr, ...]
    types: tuple[str, ...] = ()
    keywords: tuple[tuple[str, Expr], ...] = ()

    def __str__(self) -> str:
        """Return it as a call."""
        inner = [str(a) for a in self.args] + [f"{k}={v}" for k, v in self.keywords]
        if self.func == "[]":
            return f"[{', '.join(inner)}]"
        types = f"<{', '.join(self.types)}>" if self.types else ""
        return f"{self.func}{types}({', '.join(inner)})"


@dataclass(frozen=True)
class Load:
    """A read from memory: pointer parameter and element index (`in_ptr1[x1 + 16*tmp10]`).

    `mask` is the condition under which it is done (Triton), if any.
    """

    ptr: str
    index: Expr
    mask: Expr | None = None

    def __str__(self) -> str:
        """Return it as an index expression."""
        return f"{self.ptr}[{self.index}]"


@dataclass(frozen=True)
class Item:
    """An element of a local value (`tmp1[x1_inner]`, `buf0_size[1]`)."""

    base: Expr
    index: Expr

    def __str__(self) -> str:
        """Return it as an index expression."""
        return f"{self.base}[{self.index}]"


@dataclass(frozen=True)
class Opaque:
    """Text that the grammar does not take apart; `names` are the identifiers in it."""

    text: str
    names: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        """Return the text."""
        return self.text


Expr = Num | Name | Op | Call | Load | Item | Opaque


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct sub-expressions."""
    match expr:
        case Op(args=args):
            return args
        case Call(args=args, keywords=keywords):
            return args + tuple(v for _, v in keywords)
        case Load(index=index, mask=mask):
            return (index,) if mask is None else (index, mask)
        case Item(base=base, index=index):
            return (base, index)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield the expression and everything below it; safe for any depth."""
    todo = [expr]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(children(node))


def names(expr: Expr) -> set[str]:
    """Return every name that is read in the expression."""
    found: set[str] = set()
    for node in walk(expr):
        if isinstance(node, Name):
            found.add(node.id)
        elif isinstance(node, Opaque):
            found.update(node.names)
    return found


_CASTS = {"static_cast", "int64_t", "int32_t", "long", "int", "c10::convert", "int64", "sympy.Integer"}


def evaluate(expr: Expr, values: Mapping[str, int]) -> int | None:
    """Return the integer value with sizes put in, or None when something is unknown."""
    match expr:
        case Num(value=value):
            return value if isinstance(value, int) else None
        case Name(id=name):
            return values.get(name)
        case Op(op=op, args=(one,)):
            inner = evaluate(one, values)
            return None if inner is None else {"-": -inner, "+": inner}.get(op)
        case Op(op=op, args=(left, right)):
            return _binary(op, evaluate(left, values), evaluate(right, values))
        case Call(func=func, args=args):
            return _call(func, [evaluate(a, values) for a in args])
        case _:
            return None


def _binary(op: str, a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return None
    if op in {"//", "/", "%"}:
        if b == 0:
            return None
        rounded = a % b != 0 and (a < 0) != (b < 0)
        if op == "/":
            # Only C++ divides whole numbers with `/`, and drops the fraction.
            return a // b + rounded
        # C++ and Python differ here, and the text does not tell which it is (`code/kernel/arithmetic.py` is told).
        return None if op == "%" and rounded else a % b if op == "%" else a // b
    if op == "**":
        return a**b if 0 <= b <= 64 and abs(a) < 2**32 else None
    return {"+": a + b, "-": a - b, "*": a * b}.get(op)


def _call(func: str, args: list[int | None]) -> int | None:
    known = [a for a in args if a is not None]
    if len(known) != len(args) or not known:
        return None
    short = func.rpartition("::")[2].rpartition(".")[2]
    if func in _CASTS and len(known) == 1:
        return known[0]
    if short in {"div_floor_integer", "FloorDiv", "floordiv", "CleanDiv"} and len(known) == 2:
        return _binary("//", known[0], known[1])
    if short in {"modular_indexing", "ModularIndexing"} and len(known) == 3:
        return _binary("%", _binary("//", known[0], known[1]), known[2])
    if short in {"max", "Max"}:
        return max(known)
    if short in {"min", "Min"}:
        return min(known)
    return None
