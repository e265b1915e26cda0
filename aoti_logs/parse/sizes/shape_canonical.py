"""One way to write a shape expression, so that `(-1) + 2*s0` of a wrapper and `2*s0 - 1` of a guard are equal.

sympy, Inductor's printers for Python and C++, and torch of several versions order sums and products differently and
spell some functions differently. What they all print of one expression is one tree here, and its `str()` one text.
Nothing is computed that sizes would be needed for, and no expression becomes another one: `2*(s0 // 2)` stays.
"""

from __future__ import annotations

from functools import lru_cache

from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_tree import Call, Compare, Expr, Items, Literal, Logic, Number, Op

_LARGEST_EXPONENT = 64
_MOST_CASES = 32
_EXACT = 2**53  # every integer up to here is a float
_LARGEST_NUMBER = 512  # bits
_FUNCTIONS = {"IntTrueDiv": "/", "FloatTrueDiv": "/", "FloatPow": "**", "BitwiseFn_bitwise_xor": "^"}
_NAMES = {
    "BitwiseFn_bitwise_and": "bitwise_and", "BitwiseFn_bitwise_or": "bitwise_or", "TruncToFloat": "trunc",
}  # fmt: skip
_OPAQUE = "OpaqueUnaryFn_"

Place = tuple[int, str, int, str]

Factors = tuple[tuple[Expr, int], ...]
"""Factors of a product with their exponents, in order."""


@lru_cache(maxsize=16384)
def canonical(expr: Expr) -> Expr:
    """Return the one form of an expression: flat sums and products in one order, numbers together and last in sums.

    Args:
        expr: a tree that is not too deep, as `parse_shape_expr` gives it.
    """
    match expr:
        case Op(op="<<", operands=(Number(value=1), exponent)):
            return canonical(Op("**", (Number(2), exponent)))
        case Op(op="+" | "*" | "-", operands=operands) if expr.op != "-" or len(operands) == 1:
            return _from_terms(_terms(expr))
        case Op(op="**", operands=(_, Number(value=int()))):
            return _from_terms(_terms(expr))
        case Op(op=op, operands=operands):
            return _operation(op, tuple(map(canonical, operands)))
        case Call(name="ModularIndexing", operands=(index, divisor, modulus)):
            inner = index if divisor == Number(1) else Op("//", (index, divisor))
            return Op("%", (canonical(inner), canonical(modulus)))
        case Call(name="Max" | "Min" as name, operands=operands):
            return _extreme(name, operands)
        case Call(name="Piecewise", operands=operands) if (chosen := _piecewise(operands)) is not None:
            return canonical(chosen)
        case Call(name="float", operands=(Call(name="float") as inner,)):
            return canonical(inner)
        case Number(value=float(value)) if value.is_integer() and abs(value) < _EXACT:
            return Number(int(value))
        case Call(name=name, operands=operands):
            given = tuple(map(canonical, operands))
            if name in _FUNCTIONS and len(given) == 2:
                return _operation(_FUNCTIONS[name], given)
            return Call(_NAMES.get(name, name.removeprefix(_OPAQUE)), given)
        case Compare(ops=ops, operands=operands):
            return Compare(ops, tuple(map(canonical, operands)))
        case Logic(op=op, operands=operands):
            return Logic(op, tuple(map(canonical, operands)))
        case Items(brackets=brackets, operands=operands):
            return Items(brackets, tuple(map(canonical, operands)))
        case _:
            return expr


@lru_cache(maxsize=16384)
def canonical_text(text: str) -> str | None:
    """Return the canonical text of an expression in sympy's or Python's notation, None for text that is none."""
    found = parse_shape_expr(text)
    return None if found is None else str(canonical(found))


def _operation(op: str, operands: tuple[Expr, ...]) -> Expr:
    # What Python writes `a / b` and sympy IntTrueDiv(a, b), C++ needs two casts for.
    return Op(op, _without_float(operands) if op == "/" else operands)


def _without_float(operands: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Take the conversion off operands where all but numbers have one."""
    if all(isinstance(one, Number) or (isinstance(one, Call) and one.name == "float") for one in operands):
        return tuple(one.operands[0] if isinstance(one, Call) else one for one in operands)
    return operands


def _piecewise(cases: tuple[Expr, ...]) -> Expr | None:
    """Return the choices as `Where`, which is what code has; None where no case is for all that is left."""
    found: Expr | None = None
    if len(cases) > _MOST_CASES:
        return None
    for case in reversed(cases):
        match case:
            case Items(operands=(value, Literal(text="True"))) if found is None:
                found = value
            case Items(operands=(value, condition)) if found is not None:
                found = Call("Where", (condition, value, found))
            case _:
                return None
    return found


def _extreme(name: str, operands: tuple[Expr, ...]) -> Expr:
    several: list[Expr] = []
    todo = list(operands)
    while todo:
        one = todo.pop()
        if isinstance(one, Call) and one.name == name:
            todo += one.operands
        else:
            several.append(canonical(one))
    several = sorted(dict.fromkeys(_without_float(tuple(several))), key=_order)
    return several[0] if len(several) == 1 else Call(name, tuple(several))


def _terms(expr: Expr) -> dict[Factors, int]:
    """Return the products of a sum with the integer before each; those that cancel are gone."""
    found: dict[Factors, int] = {}
    todo: list[tuple[Expr, int]] = [(expr, 1)]
    while todo:
        one, sign = todo.pop()
        match one:
            case Op(op="+", operands=operands):
                todo.extend((inner, sign) for inner in operands)
            case Op(op="-", operands=(inner,)):
                todo.append((inner, -sign))
            case _:
                number, factors = _product(one)
                if abs(number) == 1 and len(factors) == 1 and _is_sum(*factors[0]):
                    todo.append((factors[0][0], sign * number))
                    continue
                found[factors] = found.get(factors, 0) + number * sign
    return {factors: number for factors, number in found.items() if number}


def _is_sum(factor: Expr, power: int) -> bool:
    return power == 1 and isinstance(factor, Op) and factor.op == "+" and len(factor.operands) > 1


def _product(expr: Expr) -> tuple[int, Factors]:
    """Return the integer and the other factors of a product; what is no integer is not computed with."""
    number = 1
    powers: dict[Expr, int] = {}
    todo: list[tuple[Expr, int]] = [(expr, 1)]
    while todo:
        one, times = todo.pop()
        match canonical(one) if isinstance(one, Number) else one:
            case Number(value=int(value)) if (
                value.bit_length() * times + number.bit_length() <= _LARGEST_NUMBER
            ):
                number *= value**times
            case Op(op="*", operands=operands):
                todo.extend((inner, times) for inner in operands)
            case Op(op="-", operands=(inner,)):
                number *= (-1) ** times
                todo.append((inner, times))
            case Op(op="+", operands=(inner,)):
                todo.append((inner, times))
            case Op(op="**", operands=(base, Number(value=int(power)))) if (
                0 < power * times <= _LARGEST_EXPONENT
            ):
                todo.append((base, power * times))
            case _:
                inside = _whole(one)
                if inside != one and isinstance(inside, Number | Op):
                    todo.append((inside, times))
                    continue
                powers[inside] = powers.get(inside, 0) + times
    return number, tuple(sorted(powers.items(), key=lambda item: _order(item[0])))


def _whole(expr: Expr) -> Expr:
    """Return the canonical form of what is a factor: a sum in parentheses, a function, a power."""
    match expr:
        case Op(op="**", operands=operands):
            return Op("**", tuple(map(canonical, operands)))
        case _:
            return canonical(expr)


def _from_terms(terms: dict[Factors, int]) -> Expr:
    several = [
        _written(factors, terms[factors]) for factors in sorted(terms, key=lambda f: _place(f, terms[f]))
    ]
    if not several:
        return Number(0)
    return several[0] if len(several) == 1 else Op("+", tuple(several))


def _written(factors: Factors, number: int) -> Expr:
    if not factors:
        return Number(number)
    several = [base if power == 1 else Op("**", (base, Number(power))) for base, power in factors]
    if abs(number) != 1:
        several.insert(0, Number(abs(number)))
    product = several[0] if len(several) == 1 else Op("*", tuple(several))
    return Op("-", (product,)) if number < 0 else product


def _place(factors: Factors, number: int) -> tuple[bool, bool, list[tuple[Place, int]]]:
    """Order terms: what is added, what is taken off, so that a text seldom begins with a minus, and last the number."""
    return not factors, number < 0, [(_order(base), power) for base, power in factors]


def _order(expr: Expr) -> Place:
    """Order factors: numbers, symbols (`s2` before `s10`), all else."""
    text = str(expr)
    letters = text.rstrip("0123456789")
    rank = 0 if isinstance(expr, Number) else 1 if text.isidentifier() else 2
    return rank, letters, len(text) - len(letters), text
