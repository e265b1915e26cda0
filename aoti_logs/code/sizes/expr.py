"""Sizes as generated code writes them, as the expressions that guards have.

`c10::div_floor_integer(static_cast<int64_t>(s0), static_cast<int64_t>(2L))` of a C++ wrapper, `(s0 // 2)` of a Python
wrapper and `s0//2` of a guard give one tree with one text, `s0 // 2`. The C++ is that of CppPrinter in
`torch/utils/_sympy/printers.py`.
"""

from __future__ import annotations

from functools import lru_cache

from aoti_logs.code import expr as generated
from aoti_logs.code.cpp.statement import depth
from aoti_logs.parse.sizes.shape_canonical import canonical
from aoti_logs.parse.sizes.shape_tree import Call, Compare, Expr, Literal, Logic, Number, Op, Source, Symbol

_DEEPEST = 60
_INTEGERS = {"int64_t", "int32_t", "uint32_t", "uint64_t", "long", "int", "size_t", "std::size_t"}
_FLOATS = {"double", "float"}
_CASTS = {"static_cast", "cast", "c10::convert"}
_DIVISIONS = {
    "c10::div_floor_integer", "c10::div_floor_floating", "at::native::div_floor_integer",
    "at::native::div_floor_floating",
}  # fmt: skip
_MODULI = {"c10::div_mod", "at::native::div_mod"}
_EXTREMES = {"std::max": "Max", "std::min": "Min", "max": "Max", "min": "Min", "torch.sym_max": "Max", "torch.sym_min": "Min"}  # fmt: skip
_PLAIN = {"abs", "int", "float", "round", "Where"}
_ROUNDED = {"floor", "ceil", "trunc", "round"}
_NAMES = {
    "lrint": "round", "nearbyint": "round", "sym_float": "float", "_sym_sqrt": "sqrt", "sym_sqrt": "sqrt",
}  # fmt: skip
_LIMITS = {"std::numeric_limits::infinity": "oo", "std::numeric_limits::quiet_NaN": "nan"}
_LITERALS = {"math.inf": "oo", "math.nan": "nan", "True": "True", "False": "False", "None": "None"}
_COMPARES = {"<", "<=", ">", ">=", "==", "!="}
_LOGIC = {"&&": "and", "and": "and", "||": "or", "or": "or"}
_CONDITIONS = {"&": "and", "|": "or"}
_BITS = {"&": "bitwise_and", "|": "bitwise_or"}
_OPERATORS = {"+", "*", "-", "//", "%", "**", "<<", ">>", "^"}


@lru_cache(maxsize=16384)
def size_expr(value: generated.Expr, *, cpp: bool) -> Expr | None:
    """Return the canonical shape expression of what generated code computes, None for what is none.

    Args:
        value: the tree of the code.
        cpp: the code is C++, where `/` of integers cuts off the fraction.
    """
    if depth(value) > _DEEPEST:
        return None
    found = _shape(value, cpp=cpp)
    return None if found is None else canonical(found)


def size_text(value: generated.Expr | None, *, cpp: bool) -> str | None:
    """Return the canonical text of what generated code computes, None for what is no shape expression."""
    found = None if value is None else size_expr(value, cpp=cpp)
    return None if found is None else str(found)


def _shape(value: generated.Expr, *, cpp: bool) -> Expr | None:
    match value:
        case generated.Num(value=number):
            return Number(number)
        case generated.Name(id=name):
            if name in _LITERALS:
                return Literal(_LITERALS[name])
            return Symbol(name) if name.isidentifier() else None
        case generated.Item(base=generated.Name(id=name), index=generated.Num(value=index)):
            return Source(f"{name}[{index}]")
        case generated.Op(op="?:", args=args):
            return _call("Where", args, cpp=cpp)
        case generated.Op(op=op, args=args):
            return _operation(op, args, cpp=cpp)
        case generated.Call():
            return _called(value, cpp=cpp)
        case _:
            return None


def _all(args: tuple[generated.Expr, ...], *, cpp: bool) -> tuple[Expr, ...] | None:
    found = [one for one in (_shape(arg, cpp=cpp) for arg in args) if one is not None]
    return tuple(found) if len(found) == len(args) else None


def _call(name: str, args: tuple[generated.Expr, ...], *, cpp: bool) -> Expr | None:
    given = _all(args, cpp=cpp)
    return Call(name, given) if given else None


def _operation(op: str, args: tuple[generated.Expr, ...], *, cpp: bool) -> Expr | None:
    given = _all(args, cpp=cpp)
    if given is None:
        return None
    if len(given) == 1:
        if op in {"!", "not"}:
            return Logic("not", given)
        return Op(op, given) if op in {"-", "+"} else None
    left, right = given
    if op == "-":
        return Op("+", (left, Op("-", (right,))))
    if op == "/":
        whole = cpp and not (_is_float(left) or _is_float(right))
        return Call("trunc", (Op("/", given),)) if whole else Op("/", given)
    if op in _COMPARES:
        return Compare((op,), given)
    if op in _LOGIC:
        return Logic(_LOGIC[op], given)
    if op in _BITS:
        if all(isinstance(one, Compare | Logic) for one in given):
            return Logic(_CONDITIONS[op], given)
        return Call(_BITS[op], given)
    return Op(op, given) if op in _OPERATORS else None


def _is_float(expr: Expr) -> bool:
    """Tell whether C++ computes an operand in floating point."""
    match expr:
        case Number(value=value):
            return isinstance(value, float)
        case Op(op="/"):
            return True
        case Op(operands=operands):
            return any(map(_is_float, operands))
        case Call(name="Max" | "Min" | "abs", operands=operands):
            return any(map(_is_float, operands))
        case Call(name="Where", operands=(_, *chosen)):
            return any(map(_is_float, chosen))
        case Call(name=name):
            return name not in {"bitwise_and", "bitwise_or", "trunc"}
        case _:
            return False


def _called(call: generated.Call, *, cpp: bool) -> Expr | None:
    func, args = call.func, call.args
    if func in _LIMITS and not args:
        return Literal(_LIMITS[func])
    if func in _CASTS or func in _INTEGERS or func in _FLOATS:
        return _cast(call.types[0] if func in _CASTS and call.types else func, args, cpp=cpp)
    if func in _EXTREMES:
        return _extreme(func, args, cpp=cpp)
    given = _all(args, cpp=cpp)
    if not given:
        return None
    if len(given) == 2 and func in _DIVISIONS:
        return Op("//", given)
    if len(given) == 2 and func in _MODULI:
        return Op("%", given)
    if len(given) == 2 and func == "std::pow":
        return Op("**", given)
    if func.startswith(("std::", "math.", "torch.")) or func in _PLAIN:
        short = func.removeprefix("std::").removeprefix("math.").removeprefix("torch.")
        return (
            Call(_NAMES.get(short, "trunc" if short == "int" else short), given)
            if short.isidentifier()
            else None
        )
    return None


def _cast(to: str, args: tuple[generated.Expr, ...], *, cpp: bool) -> Expr | None:
    inner = _shape(args[0], cpp=cpp) if len(args) == 1 else None
    if inner is None or to not in _INTEGERS | _FLOATS:
        return None
    if to in _FLOATS:
        return inner if isinstance(inner, Number) else Call("float", (inner,))
    if isinstance(inner, Call) and inner.name in _ROUNDED:
        return inner
    return Call("trunc", (inner,)) if _is_float(inner) else inner


def _extreme(func: str, args: tuple[generated.Expr, ...], *, cpp: bool) -> Expr | None:
    """Take `std::max(a, b)` and `std::max<int64_t>({a, b, c})`."""
    if len(args) == 1 and isinstance(args[0], generated.Call) and args[0].func == "{}":
        args = args[0].args
    return _call(_EXTREMES[func], args, cpp=cpp) if len(args) > 1 else None
