"""What a size symbol is: the text of where it gets its value, and what a measured size is in terms of it."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Name, Num, Op, names
from aoti_logs.parse.sizes.shape_tree import Call as ShapeCall
from aoti_logs.parse.sizes.shape_tree import Op as ShapeOp

if TYPE_CHECKING:
    from collections.abc import Collection

    from aoti_logs.code.expr import Expr
    from aoti_logs.code.model import Size
    from aoti_logs.parse.sizes.shape_tree import Expr as ShapeExpr

_KINDS = re.compile(r"(?P<kind>s|u|zf|zuf|ps|i)\d+")
_LITERAL = re.compile(r"\b(\d+)L{1,2}\b")
_RIGHT = re.compile(r"[^=]*?(?<![=!<>])=(?!=)\s*(.*?)\s*;?\s*", re.DOTALL)
_DEEPEST = 40


class Sort(StrEnum):
    """What a name for a size is.

    Torch's own letters tell it: `s` and `zf` have an example's value behind them, `u`, `zuf` (before torch 2.2
    `i`) are known only when the code runs, `ps` stands for an expression of others.
    """

    BACKED = "backed"
    UNBACKED = "unbacked"
    PRECOMPUTED = "precomputed"
    VARIABLE = "variable"
    """A name that the generated code needs on the way: `arg0_1_size_0`, `u0_raw`, `..._xnumel`."""


_SORTS = {
    "s": Sort.BACKED,
    "zf": Sort.BACKED,
    "u": Sort.UNBACKED,
    "zuf": Sort.UNBACKED,
    "i": Sort.UNBACKED,
    "ps": Sort.PRECOMPUTED,
}


@lru_cache(maxsize=4096)
def sort_of(symbol: str) -> Sort:
    """Return what a name for a size is."""
    found = _KINDS.fullmatch(symbol)
    return _SORTS[found["kind"]] if found else Sort.VARIABLE


def definition_text(size: Size, inputs: Collection[str]) -> str:
    """Return where a symbol gets its value, in one spelling for both languages.

    `arg0_1_size[0]` and `arg0_1_stride[0]` are an input's, `buf2.size(0)` is a buffer's, `buf1.item()` is data,
    `s28` and `arg3_1` are other names; anything else is the expression.

    Args:
        size: the definition.
        inputs: names of the model's inputs.
    """
    if size.tensor is not None and size.dim is not None:
        what = "stride" if size.stride else "size"
        if size.tensor in inputs:
            return f"{size.tensor}_{what}[{size.dim}]"
        return f"{size.tensor}.{what}({size.dim})"
    if size.alias_of is not None:
        return size.alias_of
    if size.value is not None:
        return plain(right_side(size.text) or str(size.value))
    return f"{size.tensor}.item()" if size.tensor is not None else plain(right_side(size.text))


def right_side(text: str) -> str:
    """Return what stands behind the `=` of a statement; empty where there is none."""
    found = _RIGHT.fullmatch(text)
    return found[1] if found else ""


@lru_cache(maxsize=1 << 14)
def plain(text: str) -> str:
    """Return an extent without what only C++ needs: `2L*s28` is `2*s28`."""
    return _LITERAL.sub(r"\1", text.strip())


@lru_cache(maxsize=1 << 14)
def symbols_of(extent: str) -> tuple[str, ...]:
    """Return the symbols in an extent, in their order."""
    return tuple(dict.fromkeys(m[0] for m in re.finditer(r"\b(?:s|u|zf|zuf|ps|i)\d+\b", extent)))


@lru_cache(maxsize=1 << 14)
def canonical(extent: str) -> str:
    """Return an extent in one order of its operands: sympy writes `s44 + 1`, the C++ wrapper `1 + s44`."""
    from aoti_logs.parse.sizes.shape_expr import parse_shape_expr

    tree = parse_shape_expr(plain(extent))
    return plain(extent) if tree is None else str(_ordered(tree))


def _ordered(tree: ShapeExpr) -> ShapeExpr:
    if isinstance(tree, ShapeOp):
        inner = tuple(map(_ordered, tree.operands))
        return ShapeOp(tree.op, tuple(sorted(inner, key=str)) if tree.op in {"+", "*"} else inner)
    if isinstance(tree, ShapeCall):
        return ShapeCall(tree.name, tuple(map(_ordered, tree.operands)))
    return tree


def measured_extent(value: Expr | None, symbol: str) -> str | None:
    """Return what a measured size is in terms of the symbol that was solved for; None where that is not plain.

    Torch solves `2*s7 = arg0_1_size_0` for `s7` and writes `s7 = c10::div_floor_integer(arg0_1_size_0, 2)`
    (`try_solve`); this is the way back. `value` holds one name, the measured one.
    """
    if value is None or len(names(value)) != 1:
        return None
    factor, shift = Fraction(1), Fraction(0)  # the measured size is factor * symbol + shift
    node = value
    for _ in range(_DEEPEST):
        match node:
            case Name():
                return _affine(factor, symbol, shift)
            case Call(func=func, args=(inner, Num(value=int(divisor)))) if _divides(func) and divisor > 0:
                factor, shift, node = factor * divisor, shift * divisor, inner
            case Op(op="*", args=(left, inner)) if (scale := _ratio(left)) is not None and scale > 0:
                factor, shift, node = factor / scale, shift / scale, inner
            case Op(op="+" | "-" as op, args=(inner, right)) if (number := _ratio(right)) is not None:
                shift, node = shift - (number if op == "+" else -number), inner
            case Op(op="+", args=(left, inner)) if (number := _ratio(left)) is not None:
                shift, node = shift - number, inner
            case _:
                return None
    return None


def _divides(func: str) -> bool:
    return func.rpartition("::")[2].rpartition(".")[2] in {"div_floor_integer", "FloorDiv"}


def _ratio(expr: Expr) -> Fraction | None:
    """Return a constant: `2`, `-1`, `1.0/2.0`."""
    match expr:
        case Num(value=value) if math.isfinite(value):
            return Fraction(value)
        case Op(op="-", args=(inner,)):
            found = _ratio(inner)
            return None if found is None else -found
        case Op(op="/", args=(Num(value=float(over)), Num(value=float(under)))) if under and math.isfinite(
            over
        ):
            return Fraction(over) / Fraction(under)
        case _:
            return None


def _affine(factor: Fraction, symbol: str, shift: Fraction) -> str | None:
    if factor.denominator != 1 or shift.denominator != 1:
        return None
    text = symbol if factor == 1 else f"{factor}*{symbol}"
    return text if not shift else f"{text} {'+' if shift > 0 else '-'} {abs(shift)}"
