"""Text of a shape expression to its tree: sympy's spelling and Python's give the same one.

Format: `grammars/shape_expr.lark`. The tree is built while parsing, so no text's depth costs recursion, and a tree deeper
than any that torch prints is refused, so that what walks trees may recurse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.parse.shape import LONGEST
from aoti_logs.parse.sizes.shape_tree import (
    Call,
    Compare,
    Expr,
    Items,
    Literal,
    Logic,
    Number,
    Op,
    Source,
    Symbol,
    operands,
)

if TYPE_CHECKING:
    from lark import Token

_DEEPEST = 100
_LONGEST_NUMBER = 400  # digits
_COMPARES = {"Eq": "==", "Ne": "!=", "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">="}
_OPERATORS = {
    "FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%", "PowByNatural": "**", "LShift": "<<", "RShift": ">>",
}  # fmt: skip
_LOGIC = {"And": "and", "Or": "or"}
_FUNCTIONS = {
    "max": "Max", "torch.sym_max": "Max", "min": "Min", "torch.sym_min": "Min", "math.floor": "floor",
    "FloorToInt": "floor", "math.ceil": "ceil", "ceiling": "ceil", "CeilToInt": "ceil", "math.trunc": "trunc",
    "TruncToInt": "trunc", "RoundToInt": "round", "Abs": "abs", "torch.sym_float": "float", "ToFloat": "float",
    "math.sqrt": "sqrt", "torch._sym_sqrt": "sqrt", "OpaqueUnaryFn_sqrt": "sqrt",
}  # fmt: skip
_BRACKET = re.compile(r"[()\[\]]")
_LITERALS = {"True", "False", "None", "int_oo", "oo", "zoo", "nan"}
_CONSTANTS = {"math.inf": "oo", "math.nan": "nan"}
_MODULES = {"math", "torch"}


@lru_cache(maxsize=16384)
def parse_shape_expr(text: str) -> Expr | None:
    """Return the tree of a shape expression, or None for text that is none; nothing raises.

    Other Python expressions have a tree as well where they are made of the same parts: `len(L['d']) == 1`.
    """
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    if len(text) > LONGEST or _depth(text) > _DEEPEST:
        return None
    try:
        found: Any = parser("shape_expr", transformer=_builder()).parse(text)
    except (LarkError, _RefusedError):
        return None
    return found if _is_shallow(found) else None


class _RefusedError(Exception):
    """A number of hundreds of digits, or an expression that is too deep."""


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "([" else -1
        deepest = max(deepest, depth)
    return deepest


def _is_shallow(expr: Expr) -> bool:
    todo = [(expr, 0)]
    while todo:
        node, depth = todo.pop()
        if depth > _DEEPEST:
            return False
        todo.extend((one, depth + 1) for one in operands(node))
    return True


@lru_cache(maxsize=1)
def _builder() -> object:
    """Return the transformer; one object, because a parser is kept for each."""
    from lark import Transformer

    return type("_Builder", (Transformer,), {name: staticmethod(rule) for name, rule in _RULES.items()})()


def _conditional(children: list[Any]) -> Expr:
    then, condition, otherwise = children
    return then if condition is None else Call("Where", (condition, then, otherwise))


def _joined(op: str) -> Callable[[list[Any]], Expr]:
    return lambda children: Logic(op, tuple(children))


def _compare(children: list[Any]) -> Expr:
    return Compare(tuple(map(str, children[1::2])), tuple(children[::2]))


def _shift(children: list[Any]) -> Expr:
    left: Expr = children[0]
    for op, right in zip(children[1::2], children[2::2], strict=True):
        left = Op(str(op), (left, right))
    return left


def _sum(children: list[Any]) -> Expr:
    first, rest = children[0], zip(children[1::2], children[2::2], strict=True)
    return Op("+", (first, *(_negative(one) if op == "-" else one for op, one in rest)))


def _negative(operand: Expr) -> Expr:
    return Number(-operand.value) if isinstance(operand, Number) else Op("-", (operand,))


def _term(children: list[Any]) -> Expr:
    factors = [children[0]]
    for op, right in zip(children[1::2], children[2::2], strict=True):
        if op == "*":
            factors.append(right)
        else:
            left = factors[0] if len(factors) == 1 else Op("*", tuple(factors))
            factors = [Op(str(op), (left, right))]
    return factors[0] if len(factors) == 1 else Op("*", tuple(factors))


def _signed(children: list[Any]) -> Expr:
    sign, operand = children
    return _negative(operand) if sign == "-" else Op("+", (operand,))


def _power(children: list[Any]) -> Expr:
    base, exponent = children
    return base if exponent is None else Op("**", (base, exponent))


def _name(children: list[Token]) -> Expr:
    name = str(children[0])
    return Literal(name) if name in _LITERALS else Symbol(name)


def _number(children: list[Token]) -> Expr:
    text = children[0].replace("_", "")
    if len(text) > _LONGEST_NUMBER:
        raise _RefusedError
    value = int(text) if text.isdigit() else float(text)
    if not math.isfinite(value):
        raise _RefusedError
    return Number(value)


def _listed(children: list[Any]) -> tuple[tuple[Expr, ...], bool]:
    """Return the items, and whether a comma stands behind the last."""
    *several, comma = children
    return tuple(several), comma is not None


def _group(children: list[Any]) -> Expr:
    listed: tuple[tuple[Expr, ...], bool] | None = children[0]
    if listed is None:
        return Items("()", ())
    several, comma = listed
    return several[0] if len(several) == 1 and not comma else Items("()", several)


def _postfix(children: list[Any]) -> Expr:
    """Tell a function's call, a constant and a range from a Dynamo source."""
    atom, *trailers = children
    if not isinstance(atom, Symbol):
        inner = _text(atom)
        root = inner if isinstance(atom, Source | Literal) else f"({inner})"
        return Source(root + "".join(map(_behind, trailers)))
    path, last = trailers[:-1], trailers[-1]
    if isinstance(last, _CallOf) and (not path or (atom.name in _MODULES and _is_path(path))):
        return _call(atom.name + "".join(map(_behind, path)), last.operands)
    if (
        atom.name == "VR"
        and not path
        and isinstance(last, _ItemOf)
        and all(len(key) == 1 for key in last.keys)
    ):
        return Call("VR", tuple(key[0] for key in last.keys))
    text = atom.name + "".join(map(_behind, trailers))
    return Literal(_CONSTANTS[text]) if text in _CONSTANTS else Source(text)


def _is_path(trailers: list[_Trailer]) -> bool:
    return all(isinstance(trailer, _Attribute) for trailer in trailers)


def _call(name: str, given: tuple[Expr, ...]) -> Expr:
    if len(given) == 2 and name in _COMPARES:
        return Compare((_COMPARES[name],), given)
    if len(given) == 2 and name in _OPERATORS:
        return Op(_OPERATORS[name], given)
    if len(given) > 1 and name in _LOGIC:
        return Logic(_LOGIC[name], given)
    if len(given) == 1 and name == "Not":
        return Logic("not", given)
    if len(given) == 1 and name == "Identity":
        return given[0]
    return Call(_FUNCTIONS.get(name, name), given)


class _Attribute(NamedTuple):
    name: str


class _CallOf(NamedTuple):
    operands: tuple[Expr, ...]


class _ItemOf(NamedTuple):
    keys: tuple[tuple[Expr, ...], ...]


_Trailer = _Attribute | _CallOf | _ItemOf


def _behind(trailer: _Trailer) -> str:
    """Return a trailer as text."""
    match trailer:
        case _Attribute(name=name):
            return f".{name}"
        case _CallOf(operands=given):
            return f"({', '.join(map(_text, given))})"
        case _ItemOf(keys=keys):
            return f"[{', '.join(':'.join(map(_text, key)) for key in keys)}]"


def _text(expr: Expr) -> str:
    if not _is_shallow(expr):
        raise _RefusedError
    return str(expr)


_RULES: dict[str, Callable[[list[Any]], Any]] = {
    "start": lambda children: children[0],
    "conditional": _conditional,
    "or_": _joined("or"),
    "bit_or": _joined("or"),
    "and_": _joined("and"),
    "bit_and": _joined("and"),
    "negation": _joined("not"),
    "compare": _compare,
    "shift": _shift,
    "sum": _sum,
    "term": _term,
    "signed": _signed,
    "power": _power,
    "postfix": _postfix,
    "name": _name,
    "number": _number,
    "string": lambda children: Literal(str(children[0])),
    "group": _group,
    "bracketed": lambda children: Items("[]", children[0][0] if children[0] else ()),
    "attribute": lambda children: _Attribute(str(children[0])),
    "item": lambda children: _ItemOf(tuple(children)),
    "call": lambda children: _CallOf(children[0][0] if children[0] else ()),
    "key": tuple,
    "list": _listed,
}
