"""Expressions in one whole-number variable as linear pieces: `factor * x + offset` on each range of `x`.

Selects, minima and maxima cut the range where their conditions change; so do comparisons, which become the set of
numbers on which they hold. What is not linear (a product with itself, a division, a remainder) has no pieces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.expr import Call, Expr, Name, Op, names
from aoti_logs.code.kernel.arithmetic import (
    ANDS,
    COMPARISONS,
    MAXIMUM,
    MINIMUM,
    NOTS,
    ORS,
    boolean,
    converts,
    integer,
    is_condition,
    limits,
    truth,
)
from aoti_logs.code.kernel.number_sets import NumberSet, common, interval, union, without
from aoti_logs.code.kernel.slice_scope import as_select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aoti_logs.code.kernel.arithmetic import Language

_DEEPEST = 100
_MOST = 64


class Piece(NamedTuple):
    """`factor * x + offset` for x from `low` to `high` (excluded)."""

    low: int
    high: int
    factor: int
    offset: int


class Line:
    """Reads expressions along one variable, all other names being known.

    Args:
        var: the variable.
        low: its smallest value.
        high: the value after its largest.
        values: what the other names stand for.
        language: whose rules of arithmetic hold.
    """

    def __init__(self, var: str, low: int, high: int, values: Mapping[str, int], language: Language) -> None:
        self.var = var
        self.low = low
        self.high = high
        self.values = values
        self.language = language
        self._cut: NumberSet = interval(low, high)

    def pieces(self, expr: Expr, depth: int = 0) -> tuple[Piece, ...] | None:
        """Return the pieces of an expression, together as long as the whole range; None when it has none."""
        if depth > _DEEPEST:
            return None
        if self.var not in names(expr):
            value = integer(expr, self.values, self.language)
            return None if value is None else (Piece(self.low, self.high, 0, value),)
        found = self._pieces(expr, depth + 1)
        return None if found is None or len(found) > _MOST else found

    def _pieces(self, expr: Expr, depth: int) -> tuple[Piece, ...] | None:
        match expr:
            case Name():
                return (Piece(self.low, self.high, 1, 0),)
            case Op(op="-", args=(one,)):
                inner = self.pieces(one, depth)
                return (
                    None
                    if inner is None
                    else tuple(Piece(p.low, p.high, -p.factor, -p.offset) for p in inner)
                )
            case Op(op="+", args=(one,)):
                return self.pieces(one, depth)
            case Op(op="?:") | Call() if (choice := as_select(expr)) is not None:
                return self._select(choice, depth)
            case Op(op="+" | "-" | "*" as op, args=(left, right)):
                return self._both(op, self.pieces(left, depth), self.pieces(right, depth))
            case Op() if boolean(expr):
                return self._counted(self.where(expr, depth))
            case Call(args=(left, right), func=func) if _short(func) in MINIMUM | MAXIMUM:
                smaller = self.where(Op("<", (left, right)), depth)
                least, most = self.pieces(left, depth), self.pieces(right, depth)
                if smaller is None or least is None or most is None:
                    return None
                first = smaller if _short(func) in MINIMUM else without(self._cut, smaller)
                return _merged(_only(least, first), _only(most, without(self._cut, first)))
            case Call(args=(one, *_)) if converts(expr):
                return self._converted(expr, self.pieces(one, depth))
            case _:
                return None

    def _both(
        self, op: str, left: tuple[Piece, ...] | None, right: tuple[Piece, ...] | None
    ) -> tuple[Piece, ...] | None:
        if left is None or right is None:
            return None
        found = []
        for a in left:
            for b in right:
                low, high = max(a.low, b.low), min(a.high, b.high)
                if low >= high:
                    continue
                if op == "*":
                    if a.factor and b.factor:
                        return None
                    factor = a.factor * b.offset + b.factor * a.offset
                    found.append(Piece(low, high, factor, a.offset * b.offset))
                else:
                    sign = 1 if op == "+" else -1
                    found.append(Piece(low, high, a.factor + sign * b.factor, a.offset + sign * b.offset))
        return tuple(sorted(found))

    def _select(self, choice: tuple[Expr, Expr, Expr], depth: int) -> tuple[Piece, ...] | None:
        holds = self.where(choice[0], depth)
        if holds is None:
            return None
        fails = without(self._cut, holds)
        # A side that is never taken need not be understood.
        then = self.pieces(choice[1], depth) if holds else ()
        other = self.pieces(choice[2], depth) if fails else ()
        return None if then is None or other is None else _merged(_only(then, holds), _only(other, fails))

    def _counted(self, holds: NumberSet | None) -> tuple[Piece, ...] | None:
        if holds is None:
            return None
        ones = [Piece(low, high, 0, 1) for low, high in holds]
        zeros = [Piece(low, high, 0, 0) for low, high in without(self._cut, holds)]
        return _merged(tuple(ones), tuple(zeros))

    def _converted(self, call: Call, inner: tuple[Piece, ...] | None) -> tuple[Piece, ...] | None:
        kept = limits(call)
        if inner is None or kept is None:
            return None
        ends = [p.factor * x + p.offset for p in inner for x in (p.low, p.high - 1)]
        return inner if all(kept[0] <= e <= kept[1] for e in ends) else None

    def where(self, expr: Expr, depth: int = 0) -> NumberSet | None:
        """Return the numbers on which a condition holds; None when that cannot be told for all of them."""
        if depth > _DEEPEST:
            return None
        if self.var not in names(expr):
            holds = truth(expr, self.values, self.language)
            return None if holds is None else self._cut if holds else ()
        match expr:
            case Op(op=op, args=(one,)) if op in NOTS and boolean(expr):
                inner = self.where(one, depth + 1)
                return None if inner is None else without(self._cut, inner)
            case Op(op=op, args=(left, right)) if (op in ANDS or op in ORS) and boolean(expr):
                a, b = self.where(left, depth + 1), self.where(right, depth + 1)
                if op in ANDS:
                    return () if a == () or b == () else None if a is None or b is None else common(a, b)
                return self._cut if self._cut in (a, b) else None if a is None or b is None else union(a, b)
            case Op(op=op, args=(left, right)) if op in COMPARISONS:
                return self._compared(
                    op, self._both("-", self.pieces(left, depth), self.pieces(right, depth))
                )
            case Call(args=(one, *_)) if is_condition(expr):
                return self.where(one, depth + 1)
            case _:
                return self._compared("!=", self.pieces(expr, depth + 1))

    def _compared(self, op: str, difference: tuple[Piece, ...] | None) -> NumberSet | None:
        if difference is None:
            return None
        return union(*(_sign(op, p) for p in difference))


def _short(func: str) -> str:
    return func.rpartition("::")[2].rpartition(".")[2]


def _only(pieces: tuple[Piece, ...], numbers: NumberSet) -> tuple[Piece, ...]:
    """Return the pieces on these numbers alone."""
    return tuple(
        Piece(low, high, p.factor, p.offset)
        for p in pieces
        for low, high in common(interval(p.low, p.high), numbers)
    )


def _merged(one: tuple[Piece, ...], other: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return tuple(sorted((*one, *other)))


def _sign(op: str, piece: Piece) -> NumberSet:
    """Return the numbers of a piece on which it compares with 0 as `op` says."""
    whole = interval(piece.low, piece.high)
    if op in {">", ">=", "<="}:
        turned = Piece(piece.low, piece.high, -piece.factor, -piece.offset)
        return (
            _sign("<", turned) if op == ">" else without(whole, _sign("<", piece if op == ">=" else turned))
        )
    if op == "!=":
        return without(whole, _sign("==", piece))
    factor, offset = piece.factor, piece.offset
    if factor == 0:
        holds = offset < 0 if op == "<" else offset == 0
        return whole if holds else ()
    if op == "==":
        at = -offset // factor
        return common(whole, interval(at, at + 1)) if at * factor + offset == 0 else ()
    # factor * x + offset < 0: x is below -offset / factor, or above it for a negative factor.
    if factor > 0:
        return common(whole, interval(piece.low, -(offset // factor)))
    return common(whole, interval(offset // -factor + 1, piece.high))
