"""Whole-number arithmetic as the language of the code does it.

C++ divides towards zero and gives a remainder the sign of the dividend; Python rounds down. Triton does what C++ does
for blocks and what Python does for numbers that are known when it compiles, so where both differ its result is not
known here. `c10::div_floor_integer` and the helpers of Triton round down in every language.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Expr, Name, Num, Op
from aoti_logs.code.kernel.slice_scope import as_select, same_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEEPEST = 400
_LARGEST_POWER = 64


class Language(StrEnum):
    """Whose rules for `/`, `//` and `%` hold."""

    PYTHON = "python"
    CPP = "cpp"
    TRITON = "triton"


_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "char": 8, "short": 16, "int": 32, "long": 64}
_CASTS = {"cast", "int64_t", "int32_t", "long", "int"}
MINIMUM = {"min", "Min", "minimum", "min_propagate_nan", "clamp_max"}
MAXIMUM = {"max", "Max", "maximum", "max_propagate_nan", "clamp_min"}
_FLOOR = {"div_floor_integer", "FloorDiv", "floordiv", "CleanDiv"}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
COMPARISONS = frozenset(_COMPARE)
ANDS = frozenset({"&", "&&", "and"})
ORS = frozenset({"|", "||", "or"})
NOTS = frozenset({"~", "!", "not"})


def integer(expr: Expr, values: Mapping[str, int], language: Language, depth: int = 0) -> int | None:
    """Return the value of an expression over whole numbers; None when a name or a rule is not known.

    Args:
        expr: the expression, with its definitions put in.
        values: what names stand for.
        language: whose rules hold.
        depth: how deep the recursion is.
    """
    if depth > _DEEPEST:
        return None
    step = depth + 1
    match expr:
        case Num(value=int(value)):
            return value
        case Name(id=name):
            return values.get(name)
        case Op(op="+" | "-" as op, args=(one,)):
            inner = integer(one, values, language, step)
            return inner if inner is None or op == "+" else -inner
        case Op(op="?:") | Call() if (choice := as_select(expr)) is not None:
            holds = truth(choice[0], values, language, step)
            return None if holds is None else integer(choice[1 if holds else 2], values, language, step)
        case Op(op=op, args=(left, right)) if op in {"+", "-", "*", "/", "//", "%", "**", "<<", ">>"}:
            a, b = integer(left, values, language, step), integer(right, values, language, step)
            return None if a is None or b is None else binary(op, a, b, language)
        case Op(op="&" | "|" | "^" as op, args=(left, right)) if not boolean(expr):
            a, b = integer(left, values, language, step), integer(right, values, language, step)
            return None if a is None or b is None else a & b if op == "&" else a | b if op == "|" else a ^ b
        case Op() if boolean(expr):
            holds = truth(expr, values, language, step)
            return None if holds is None else int(holds)
        case Call(args=args):
            given = [integer(a, values, language, step) for a in args]
            known = [g for g in given if g is not None]
            return _call(expr, known) if known and len(known) == len(given) else None
        case _:
            return None


def truth(expr: Expr, values: Mapping[str, int], language: Language, depth: int = 0) -> bool | None:
    """Return whether a condition holds, as `integer` does; one side may settle it though the other is not known."""
    if depth > _DEEPEST:
        return None
    step = depth + 1
    match expr:
        case Op(op=op, args=(one,)) if op in NOTS and boolean(expr):
            inner = truth(one, values, language, step)
            return None if inner is None else not inner
        case Op(op=op, args=(left, right)) if (op in ANDS or op in ORS) and boolean(expr):
            sides = (truth(left, values, language, step), truth(right, values, language, step))
            settled = op in ORS
            if settled in sides:
                return settled
            return None if None in sides else not settled
        case Op(op=op, args=(left, right)) if op in COMPARISONS:
            a, b = integer(left, values, language, step), integer(right, values, language, step)
            return None if a is None or b is None else _COMPARE[op](a, b)
        case Call(args=(one, *_)) if is_condition(expr):
            return truth(one, values, language, step)
        case _:
            value = integer(expr, values, language, step)
            return None if value is None else value != 0


def boolean(expr: Expr, depth: int = 0) -> bool:
    """Tell an expression that is true or false; `&` and `|` of others work on bits."""
    if depth > _DEEPEST:
        return False
    match expr:
        case Op(op="&&" | "||" | "and" | "or" | "!" | "not"):
            return True
        case Op(op=op) if op in COMPARISONS:
            return True
        case Op(op="&" | "|" | "^" | "~", args=args):
            return all(boolean(a, depth + 1) for a in args)
        case Num(value=value):
            return value in {0, 1}
        case Call(args=(one, *_)) if is_condition(expr):
            return expr.func.endswith(("VecMask", "::from")) or boolean(one, depth + 1)
        case _:
            return False


def is_condition(call: Call) -> bool:
    """Tell a call around a condition that changes nothing: a mask of vectors, a cast, a hint."""
    return bool(call.args) and (
        call.func.endswith(("VecMask", "::from")) or call.func in {".cast", ".to", "tl.broadcast_to", "bool"}
    )


def binary(op: str, a: int, b: int, language: Language) -> int | None:
    """Return `a op b`; None for a division by zero and for what differs between the rules of Triton."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "**":
            return a**b if 0 <= b <= _LARGEST_POWER and abs(a) < 2**32 else None
        case "<<" | ">>":
            if not 0 <= b < 64 or abs(a) >= 2**63:
                return None
            return a << b if op == "<<" else a >> b
        case "/" | "//" | "%":
            return _divided(op, a, b, language)
        case _:
            return None


def _divided(op: str, a: int, b: int, language: Language) -> int | None:
    if b == 0 or (op == "/" and language is not Language.CPP and a % b):
        return None
    if op == "//" and language is Language.CPP:
        return a // b  # in the arguments that a Python wrapper passes to a C++ kernel: no C++ is written so
    exact_or_same_sign = a % b == 0 or (a < 0) == (b < 0)
    if exact_or_same_sign or language is Language.CPP:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return a - quotient * b if op == "%" else quotient
    if language is Language.PYTHON:
        return a % b if op == "%" else a // b
    return None


def _call(call: Call, known: list[int]) -> int | None:
    short = call.func.rpartition("::")[2].rpartition(".")[2]
    if len(known) == 2 and short in _FLOOR:
        return known[0] // known[1] if known[1] else None
    if len(known) == 2 and short == "remainder_integer":
        return known[0] % known[1] if known[1] else None
    if len(known) == 3 and short in {"modular_indexing", "ModularIndexing"}:
        return known[0] // known[1] % known[2] if known[1] and known[2] else None
    if len(known) == 2 and short == "cdiv":
        return -(-known[0] // known[1]) if known[1] else None
    if short in MINIMUM and len(known) > 1:
        return min(known)
    if short in MAXIMUM and len(known) > 1:
        return max(known)
    if short == "abs" and len(known) == 1:
        return abs(known[0])
    if converts(call):
        return known[0] if fits(call, known[0]) else None
    return None


def fits(call: Call, value: int) -> bool:
    """Tell whether a conversion keeps a whole number: False for a type that is too small, or that is no integer."""
    kept = limits(call)
    return kept is not None and kept[0] <= value <= kept[1]


def limits(call: Call) -> tuple[int, int] | None:
    """Return the smallest and largest number that a conversion keeps; None when its type is no known integer."""
    if call.func == "decltype" or (not call.types and call.func not in _CASTS):
        return -(2**63), 2**63 - 1
    type_ = call.types[0] if call.types else call.func
    words = type_.rpartition("::")[2].rpartition(".")[2].replace("long long", "long").split()
    names = [w.removesuffix("_t").removeprefix("u") for w in words]
    bits = next((_BITS[n] for n in reversed(names) if n in _BITS), None)
    if bits is None:
        return None
    if words[0] == "unsigned" or any(w.startswith("uint") for w in words):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def converts(call: Call) -> bool:
    """Tell a call that gives back its first argument, perhaps as another type."""
    return bool(call.args) and (
        same_value(call) or call.func in _CASTS or call.func.endswith(("Vectorized", "VectorizedN"))
    )
