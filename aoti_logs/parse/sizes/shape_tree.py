"""Shape expressions as a small tree: the same for `Eq(Mod(s77, 2), 0)` and `(L['x'].size()[0] % 2) == 0`.

`str()` of a tree parses to the same tree again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OR, _AND, _NOT, _COMPARE, _BITS, _SHIFT, _SUM, _TERM, _UNARY, _POWER, _ATOM = range(11)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol (`s77`, `u0`, `zf3`), or a local variable's name in a guard (`n`)."""

    name: str

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True, slots=True)
class Source:
    """A Dynamo source, `L['x'].size()[0]`; `parse.origin.input_of` says which input it is."""

    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Number:
    """A number; a minus in front of one is part of it."""

    value: int | float

    def __str__(self) -> str:
        """Return it as Python writes it."""
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class Literal:
    """`True`, `False`, `None`, `int_oo` (no integer is larger), `oo`, `zoo`, `nan`, or a string in its quotes."""

    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True, slots=True)
class Op:
    """An operator: `+` and `*` of two or more operands, `- /  // % ** << >>` of two, `-` and `+` of one.

    A difference is a sum, one of whose operands is `-` of one operand. `//` and `%` round down.
    """

    op: str
    operands: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it in infix form."""
        return _write(self, _OR)


@dataclass(frozen=True, slots=True)
class Call:
    """A function: `Max`, `Min`, `Where` (condition, then, else; also Python's conditional), `Piecewise`, `floor`, `ceil`,
    `trunc`, `round`, `abs`, `float`, `sqrt`, `IntTrueDiv`, ..., `VR` (a range of values), or another one by its name.
    """

    name: str
    operands: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it as a call, a range in brackets."""
        return _write(self, _OR)


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison, or a chain of them: one operator fewer than operands. `Eq(a, b)` is one with `==`."""

    ops: tuple[str, ...]
    operands: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it in infix form."""
        return _write(self, _OR)


@dataclass(frozen=True, slots=True)
class Logic:
    """`and`, `or` of two or more operands, `not` of one; sympy writes them `&`, `|`, `~`."""

    op: str
    operands: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it as Python writes it."""
        return _write(self, _OR)


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple (`brackets` is `()`) or a list (`[]`), as in `Piecewise((s0, s0 > 1), (1, True))`."""

    brackets: str
    operands: tuple[Expr, ...]

    def __str__(self) -> str:
        """Return it in its brackets."""
        return _write(self, _OR)


Expr = Symbol | Source | Number | Literal | Op | Call | Compare | Logic | Items


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct sub-expressions."""
    return expr.operands if isinstance(expr, Op | Call | Compare | Logic | Items) else ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield the expression and everything below it, in the order of its text."""
    todo = [expr]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(operands(node)))


def free_symbols(expr: Expr) -> frozenset[str]:
    """Return the names of the symbols in it."""
    return frozenset(node.name for node in walk(expr) if isinstance(node, Symbol))


def sources(expr: Expr) -> frozenset[str]:
    """Return the Dynamo sources in it."""
    return frozenset(node.text for node in walk(expr) if isinstance(node, Source))


def _write(expr: Expr, least: int) -> str:
    """Return the text, in parentheses where its operator binds less than what stands around it."""
    text, level = _spelled(expr)
    return f"({text})" if level < least else text


def _spelled(expr: Expr) -> tuple[str, int]:
    match expr:
        case Number():
            text = str(expr)
            return text, _UNARY if text.startswith("-") else _ATOM
        case Logic(op="not", operands=(one,)):
            return f"not {_write(one, _NOT)}", _NOT
        case Logic(op=op, operands=several):
            level = _AND if op == "and" else _OR
            return f" {op} ".join(_write(one, level + 1) for one in several), level
        case Compare(ops=ops, operands=several):
            first, *others = (_write(one, _COMPARE + 1) for one in several)
            return first + "".join(f" {op} {one}" for op, one in zip(ops, others, strict=True)), _COMPARE
        case Op(op="+" | "-" as op, operands=(one,)):
            return f"{op}{_write(one, _UNARY)}", _UNARY
        case Op(op="+", operands=(first_operand, *more)):
            return _write(first_operand, _TERM) + "".join(map(_added, more)), _SUM
        case Op(op="**", operands=(base, exponent)):
            return f"{_write(base, _ATOM)}**{_write(exponent, _UNARY)}", _POWER
        case Op(op="<<" | ">>" as op, operands=several):
            return f" {op} ".join(_write(one, _SUM) for one in several), _SHIFT
        case Op(op=op, operands=several):
            sign = "*" if op == "*" else f" {op} "
            return sign.join(_write(one, _UNARY) for one in several), _TERM
        case Call(name=name, operands=several):
            inside = ", ".join(_write(one, _OR) for one in several)
            return f"{name}[{inside}]" if name == "VR" else f"{name}({inside})", _ATOM
        case Items(brackets=brackets, operands=several):
            inside = ", ".join(_write(one, _OR) for one in several)
            comma = "," if brackets == "()" and len(several) == 1 else ""
            return f"{brackets[0]}{inside}{comma}{brackets[1]}", _ATOM
        case _:
            return str(expr), _ATOM


def _added(operand: Expr) -> str:
    match operand:
        case Op(op="-", operands=(one,)):
            return f" - {_write(one, _TERM)}"
        case Number() if (text := str(operand)).startswith("-"):
            return f" - {text[1:]}"
        case _:
            return f" + {_write(operand, _TERM)}"
