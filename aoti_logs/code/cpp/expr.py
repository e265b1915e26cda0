"""C++ expressions of generated code, as a tree.

Written by torch/_inductor/codegen/cpp.py and cpp_wrapper_cpu.py, sizes and indices by the CppPrinter of
torch/utils/_sympy/printers.py.
"""

from __future__ import annotations

import re
from functools import lru_cache

from aoti_logs.code.cpp.statement import parse_expression
from aoti_logs.code.cpp.tree import number
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque

_BUILTINS = {
    "bool", "char", "short", "int", "long", "float", "double", "size_t", "std::size_t", "half", "c10::Half",
    "c10::BFloat16", "at::Half", "at::BFloat16", "bfloat16",
} | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}  # fmt: skip
_CASTS = _BUILTINS | {
    "static_cast", "reinterpret_cast", "const_cast", "cast", "c10::convert", "at::vec::convert", "decltype",
    "at::vec::Vectorized", "at::vec::VectorizedN", "at::vec::VecMask", "at::vec::VecMask::from",
    ".cast", ".to",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
_VARIABLE = re.compile(r"[a-z]{1,9}\d{1,9}")
_INTEGER = re.compile(r"\d{1,18}[lL]{0,2}")
_LONGEST = 200_000


@lru_cache(maxsize=16384)
def parse_cpp(text: str) -> Expr:
    """Return a C++ expression as a tree; text that does not fit is one `Opaque`, never an error.

    `a.b(c)` is `Call(".b", (a, c))` and a field `a.b` is `Call(".b", (a,))`; `(T*)x` is
    `Call("cast", (x,), ("T*",))`; `{a, b}` is `Call("{}", (a, b))`; `T<U>::f(x)` is
    `Call("T::f", (x,), ("U",))`; `decltype(a)(x)` is `Call("decltype", (x,), ("a",))`; text in
    quotes stays in its quotes as an `Opaque`; `x[i]` is an `Item` (what is memory and what is a
    local array only the kernel's body knows).
    """
    bare = text.strip()
    # The commonest sizes; for one of them alone the grammar's tables need not be built.
    if _VARIABLE.fullmatch(bare):
        return Name(bare)
    if _INTEGER.fullmatch(bare):
        return number(bare)
    found = parse_expression(bare)
    return opaque(text) if found is None else found


def opaque(text: str) -> Opaque:
    """Return text that is not taken apart, with the names in it."""
    return Opaque(text, tuple(dict.fromkeys(_NAME.findall(text[:_LONGEST]))))


def strip_casts(expr: Expr) -> Expr:
    """Return the expression without what changes only the type or the width of a value: casts,
    `decltype(x)(...)`, vector constructors and broadcasts. A cast that rounds or wraps is taken off
    as well: types are not known here.
    """
    match expr:
        case Call(func=func, args=(one,)) if func in _CASTS:
            return strip_casts(one)
        case Call(func=func, args=args, types=types, keywords=keywords):
            return Call(func, tuple(map(strip_casts, args)), types, keywords)
        case Op(op="-", args=(Num(value=value),)):
            return Num(-value)
        case Op(op=op, args=args):
            return Op(op, tuple(map(strip_casts, args)))
        case Load(ptr=ptr, index=index, mask=mask):
            return Load(ptr, strip_casts(index), None if mask is None else strip_casts(mask))
        case Item(base=base, index=index):
            return Item(strip_casts(base), strip_casts(index))
        case Num() | Name() | Opaque():
            return expr
