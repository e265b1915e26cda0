"""The value of a shape expression when sizes are put in, with Python's and torch's meaning of each operator."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence

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
)

Value = int | float | bool

_LARGEST = 4096  # bits of an integer; sizes have 64
_EXACT = 2**53  # every integer up to here is a float
_COMPARES: dict[str, Callable[[Value, Value], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_LITERALS: dict[str, Value] = {"True": True, "False": False, "int_oo": math.inf, "oo": math.inf}


def evaluate(expr: Expr, values: Mapping[str, int]) -> int | bool | None:
    """Return the value of an expression, None where something in it is unknown or it is no integer and no truth.

    Args:
        expr: the expression.
        values: integers by symbol (`s77`), by local name (`n`) or by Dynamo source (`L['x'].size()[0]`).
    """
    try:
        found = _value(expr, values)
    except (ArithmeticError, ValueError, TypeError, RecursionError):
        return None
    return None if isinstance(found, float) else found


def _value(expr: Expr, values: Mapping[str, int]) -> Value | None:
    match expr:
        case Number(value=value):
            return value
        case Symbol(name=name) | Source(text=name):
            return values.get(name)
        case Literal(text=text):
            return _LITERALS.get(text)
        case Logic(op=op, operands=operands):
            return _logic(op, [_truth(_value(one, values)) for one in operands])
        case Compare(ops=ops, operands=operands):
            return _chain(ops, [_value(one, values) for one in operands])
        case Call(name="Where", operands=(condition, then, otherwise)):
            chosen = _truth(_value(condition, values))
            return None if chosen is None else _value(then if chosen else otherwise, values)
        case Call(name="Piecewise", operands=cases):
            return _piecewise(cases, values)
        case Op(op=op, operands=operands):
            given = _known(operands, values)
            return None if given is None else _bounded(_operate(op, given))
        case Call(name=name, operands=operands):
            given = _known(operands, values)
            return None if given is None or name not in _FUNCTIONS else _bounded(_FUNCTIONS[name](*given))
        case Items():
            return None


def _known(operands: Sequence[Expr], values: Mapping[str, int]) -> list[Value] | None:
    found = [_value(one, values) for one in operands]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def _truth(value: Value | None) -> bool | None:
    return value if isinstance(value, bool) else None


def _bounded(value: Value) -> Value:
    if isinstance(value, int):
        if value.bit_length() > _LARGEST:
            raise OverflowError
    elif math.isnan(value):
        raise ValueError
    return value


def _logic(op: str, found: list[bool | None]) -> bool | None:
    if op == "not":
        return None if found[0] is None else not found[0]
    decisive = op == "or"
    if decisive in found:
        return decisive
    return None if None in found else not decisive


def _chain(ops: Sequence[str], found: list[Value | None]) -> bool | None:
    unknown = False
    for op, left, right in zip(ops, found, found[1:], strict=False):
        if left is None or right is None or op not in _COMPARES:
            unknown = True
        elif not _COMPARES[op](left, right):
            return False
    return None if unknown else True


def _piecewise(cases: Sequence[Expr], values: Mapping[str, int]) -> Value | None:
    for case in cases:
        if not isinstance(case, Items) or len(case.operands) != 2:
            return None
        chosen = _truth(_value(case.operands[1], values))
        if chosen is None:
            return None
        if chosen:
            return _value(case.operands[0], values)
    return None


def _operate(op: str, given: list[Value]) -> Value:
    if len(given) == 1:
        return -given[0] if op == "-" else +given[0]
    if op == "+":
        return sum(given[1:], given[0])
    if op == "*":
        return _product(given)
    left, right = given
    match op:
        case "//":
            return left // right
        case "%":
            return left % right
        case "/":
            return _divide(left, right)
        case "**":
            return _power(left, right)
        case "<<":
            return _shift(left, right)
        case ">>":
            return _integer(left) >> _integer(right)
    raise ValueError(op)


def _product(given: list[Value]) -> Value:
    product = given[0]
    for one in given[1:]:
        product = _bounded(product * one)
    return product


def _divide(left: Value, right: Value) -> Value:
    """Divide exactly where the result is an integer; refuse where sympy's exact and Python's quotient may differ."""
    if isinstance(left, int) and isinstance(right, int):
        if max(abs(left), abs(right)) > _EXACT:
            raise OverflowError
        if right and left % right == 0:
            return left // right
    return left / right


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, int) and isinstance(exponent, int):
        if abs(exponent) * base.bit_length() > _LARGEST:
            raise OverflowError
        return _divide(1, base**-exponent) if exponent < 0 else base**exponent
    found: float | complex = float(base) ** float(exponent)
    if isinstance(found, complex):
        raise ValueError  # a negative base under a fraction: no size is complex
    return found


def _shift(left: Value, right: Value) -> int:
    if _integer(right) > _LARGEST:
        raise OverflowError
    return _integer(left) << _integer(right)


def _integer(value: Value) -> int:
    if isinstance(value, float):
        raise TypeError
    return value


def _modular(base: Value, divisor: Value, modulus: Value) -> Value:
    return base // divisor % modulus


def _whole(rule: Callable[[float], int]) -> Callable[[Value], int]:
    return lambda value: value if isinstance(value, int) else rule(value)


def _round(value: Value, digits: Value = 0) -> Value:
    if not isinstance(digits, int) or abs(digits) > 300:
        raise ValueError
    return round(value, digits) if digits else round(value)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "Max": lambda *several: max(several),
    "Min": lambda *several: min(several),
    "abs": abs,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _round,
    "float": float,
    "int": _whole(math.trunc),
    "bool": bool,
    "sqrt": math.sqrt,
    "IntTrueDiv": lambda left, right: left / right,
    "FloatTrueDiv": lambda left, right: left / right,
    "TrueDiv": lambda left, right: left / right,
    "FloatPow": lambda base, exponent: _power(float(base), float(exponent)),
    "CeilDiv": lambda left, right: -(-left // right),
    "ModularIndexing": _modular,
}
