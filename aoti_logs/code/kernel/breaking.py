"""Which elements break a bounds check, where the index is computed from loop variables and sizes alone.

Two exact ways: along the longest variable the index is linear in pieces (`code/kernel/piecewise.py`), whatever its extent;
or all combinations are tried when there are few. What neither can do is said to be not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.code.body import Guard, Loop
from aoti_logs.code.expr import Expr, Num, Op, names
from aoti_logs.code.kernel.arithmetic import ANDS, Language, integer, truth
from aoti_logs.code.kernel.expansion import Expander, Variable
from aoti_logs.code.kernel.number_sets import common, interval, size, without
from aoti_logs.code.kernel.piecewise import Line
from aoti_logs.code.kernel.slice import tested_of
from aoti_logs.code.kernel.slice_scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.code.body import Body, Check
    from aoti_logs.code.kernel.expansion import Expansion

_MOST_TRIED = 50_000
_MOST_LINES = 4_000
_FAR = 2**31
"""Stands for an extent that only a mask ends: an index of this size does not fit the 32 bits of a lane."""


@dataclass(frozen=True)
class Breaking:
    """The elements that break one check for given sizes.

    An element is one value of each variable in `extents`. `known` False: nothing can be said, and `why` tells the
    reason. `exact` False: some condition could not be evaluated, so `count` is the most that there can be, and `why`
    tells the condition. `first` and `last` are elements in the order of the loops; `smallest` and `largest` are the
    index at elements that break the check. `lower` and `bound` are the limits with the sizes put in, where they are
    the same for all elements.
    """

    known: bool
    exact: bool = True
    why: str = ""
    count: int | None = None
    first: dict[str, int] | None = None
    last: dict[str, int] | None = None
    smallest: int | None = None
    largest: int | None = None
    lower: int | None = None
    bound: int | None = None
    extents: tuple[tuple[str, int, int], ...] = ()
    """(variable, first value, value after its last)."""


class _Condition(NamedTuple):
    """Something that must hold for the check to run; `met` tells whether it was understood."""

    expr: Expr
    met: Expansion


class _Result(NamedTuple):
    broken: int
    first: tuple[int, ...] | None
    last: tuple[int, ...] | None
    smallest: int | None
    largest: int | None


def breaking(
    body: Body, check: Check, sizes: Mapping[str, int], language: Language, *, vectors: bool
) -> Breaking:
    """Find the elements that break a check.

    Args:
        body: the kernel's body.
        check: one of its checks.
        sizes: values of the kernel's scalar parameters (`ks0`, `xnumel`), and of constants it was compiled for.
        language: of the kernel.
        vectors: the kernel handles several elements at once.

    Returns:
        What breaks; `known` is False when the index depends on memory or cannot be evaluated.
    """
    scope, at = Scope(body), body.statements.index(check)
    expander = Expander(scope, vectors=vectors)
    tested, met = expander.expand(check.condition, at, check.scope)
    operand, lower, upper = tested_of(check)
    limits = [None if e is None else expander.expand(e, at, check.scope)[0] for e in (lower, upper)]
    found = tuple(None if e is None else integer(e, sizes, language) for e in limits)
    unknown = Breaking(False, False, lower=found[0], bound=found[1])
    missing = met.problems or [f"{s} is not given" for s in sorted(met.sizes) if s not in sizes]
    if missing:
        return replace(unknown, why="; ".join(missing))
    conditions = [_Condition(*expander.expand(part, at, check.scope)) for part in _parts(check.mask)]
    conditions += _guards(body, expander, at, check)
    search = _Search(met.variables, sizes, language)
    search.take(conditions, scope)
    search.loops(body, expander, at, check)
    if search.never:
        return replace(unknown, known=True, exact=True, count=0)
    if not search.ranges():
        return replace(unknown, why=search.why)
    index = expander.expand(operand, at, check.scope)[0] if operand is not None else Num(0)
    result = search.find(tested, index)
    if result is None:
        return replace(unknown, why="there are too many elements to try, and the index is not linear")
    keys = list(search.extents)
    exact = search.exact or not result.broken
    return replace(
        unknown,
        known=True,
        exact=exact,
        why="" if exact else search.why,
        count=result.broken,
        first=dict(zip(keys, result.first, strict=True)) if result.first is not None else None,
        last=dict(zip(keys, result.last, strict=True)) if result.last is not None else None,
        smallest=result.smallest if operand is not None else None,
        largest=result.largest if operand is not None else None,
        extents=tuple((n, low, high) for n, (low, high, _) in search.extents.items()),
    )


def _parts(mask: Expr | None) -> Iterator[Expr]:
    """Yield what a mask is an `and` of."""
    todo = [] if mask is None else [mask]
    while todo:
        part = todo.pop()
        if isinstance(part, Op) and part.op in ANDS and len(part.args) == 2:
            todo.extend(part.args)
        else:
            yield part


def _guards(body: Body, expander: Expander, at: int, check: Check) -> Iterator[_Condition]:
    for position, statement in enumerate(body.statements[:at]):
        if isinstance(statement, Guard) and check.scope[: len(statement.scope)] == statement.scope:
            # The names of a condition are looked up outside of what it guards.
            for part in _parts(statement.condition):
                yield _Condition(*expander.expand(part, position, statement.scope))


class _Search:
    """Variables with their ranges, the conditions on them, and the search itself."""

    def __init__(
        self, variables: Mapping[str, Variable], sizes: Mapping[str, int], language: Language
    ) -> None:
        self.variables = dict(variables)
        self.sizes = sizes
        self.language = language
        self.conditions: list[Expr] = []
        self.extents: dict[str, tuple[int, int, int]] = {}
        self.open: set[str] = set()
        """Lanes of which a block may have more than there are elements."""
        self.never = False
        self.exact = True
        self.why = ""

    def doubt(self, why: str) -> None:
        """Note why the result may be too large."""
        self.exact = False
        self.why = self.why or why

    def take(self, conditions: list[_Condition], scope: Scope) -> None:
        """Take what must hold; what cannot be evaluated is left out, and makes the result inexact."""
        waiting = []
        for condition in conditions:
            unknown = condition.met.problems or [s for s in condition.met.sizes if s not in self.sizes]
            if unknown:
                self.doubt(f"whether {condition.expr} holds is not known")
            else:
                waiting.append(condition)
        # A condition on other variables only decides whether the check runs at all.
        grown = True
        while grown:
            grown = False
            for condition in list(waiting):
                if not condition.met.variables or condition.met.variables.keys() & self.variables.keys():
                    self.variables |= condition.met.variables
                    self.conditions.append(condition.expr)
                    waiting.remove(condition)
                    grown = True
        for condition in waiting:
            self._possible(condition)
        self.open = {v.name for v in self.variables.values() if v.mask and not _always(v.mask, scope)}

    def _possible(self, condition: _Condition) -> None:
        other = _Search(condition.met.variables, self.sizes, self.language)
        other.conditions = [condition.expr]
        # What breaks a test that nothing passes is every element on which the condition holds.
        holds = other.find(Num(0), Num(0)) if other.ranges() else None
        if holds is None:
            self.doubt(f"whether {condition.expr} holds anywhere is not known")
        elif not holds.broken:
            self.never = True

    def loops(self, body: Body, expander: Expander, at: int, check: Check) -> None:
        """Look at the loops around the check that its index does not use: one without rounds never runs it."""
        for loop in body.statements[:at]:
            if not isinstance(loop, Loop) or not loop.var or check.scope[: len(loop.scope)] != loop.scope:
                continue
            if loop.var in self.variables or not loop.scope:
                continue
            ends = [expander.expand(e, at, loop.scope) for e in (loop.start, loop.stop) if e is not None]
            values = [integer(e, self.sizes, self.language) for e, _ in ends]
            if len(values) < 2 or None in values:
                self.doubt(f"whether the loop over {loop.var} runs at all is not known")
            elif (values[0] or 0) >= (values[1] or 0):
                self.never = True

    def ranges(self) -> bool:
        """Evaluate how far the variables run; False when that is not known."""
        for name, variable in sorted(self.variables.items(), key=lambda v: (v[1].line, v[0])):
            start = integer(variable.start, self.sizes, self.language)
            stop = None if variable.stop is None else integer(variable.stop, self.sizes, self.language)
            step = integer(variable.step, self.sizes, self.language)
            if stop is None and variable.kind == "lane" and self._ended(name):
                stop = _FAR
            if start is None or stop is None or step is None or step < 1:
                self.why = f"how far {name} runs is not known"
                return False
            if name in self.open and stop < _FAR and not self._cut(name, stop):
                self.doubt(f"lanes from the end of {name} on run the check as well")
            self.extents[name] = (start, max(start, stop), step)
        return True

    def _cut(self, name: str, stop: int) -> bool:
        """Tell whether a condition switches off all lanes from the end on."""
        beyond = ({**self.sizes, name: stop}, {**self.sizes, name: 2 * stop + _FAR})
        return any(all(truth(c, at, self.language) is False for at in beyond) for c in self.conditions)

    def _ended(self, name: str) -> bool:
        return any(name in names(c) for c in self.conditions)

    def find(self, tested: Expr, index: Expr) -> _Result | None:
        """Return what breaks the test; None when it is not known."""
        found = _Found()
        if any(low >= high for low, high, _ in self.extents.values()):
            return found.result()
        plain = [n for n, (_, _, step) in self.extents.items() if step == 1]
        along = max(plain, key=lambda n: self.extents[n][1] - self.extents[n][0], default=None)
        others = {n: range(*e) for n, e in self.extents.items() if n != along}
        if along is not None and prod(map(len, others.values())) <= _MOST_LINES:
            if self._lines(along, others, tested, index, found):
                return found.result()
            found = _Found()
        whole = {n: range(*e) for n, e in self.extents.items()}
        if prod(map(len, whole.values())) > _MOST_TRIED:
            return None
        return found.result() if self._all(whole, tested, index, found) else None

    def _all(self, ranges: dict[str, range], tested: Expr, index: Expr, found: _Found) -> bool:
        """Try every element."""
        for place in product(*ranges.values()):
            values = {**self.sizes, **dict(zip(ranges, place, strict=True))}
            runs = [truth(c, values, self.language) for c in self.conditions]
            if None in runs:
                return False
            if not all(runs):
                continue
            holds = truth(tested, values, self.language)
            if holds is None:
                return False
            if not holds:
                found.add(place, integer(index, values, self.language))
        return True

    def _lines(self, along: str, others: dict[str, range], tested: Expr, index: Expr, found: _Found) -> bool:
        """Go along one variable for each combination of the others."""
        low, high, _ = self.extents[along]
        at = list(self.extents).index(along)
        for place in product(*others.values()):
            values = {**self.sizes, **dict(zip(others, place, strict=True))}
            line = Line(along, low, high, values, self.language)
            runs = interval(low, high)
            for condition in self.conditions:
                part = line.where(condition)
                if part is None:
                    return False
                runs = common(runs, part)
            holds = line.where(tested)
            pieces = line.pieces(index)
            if holds is None or pieces is None:
                return False
            broken = without(runs, holds)
            if not broken:
                continue
            if broken[-1][1] == _FAR == high:
                return False
            found.count += size(broken)
            for piece in pieces:
                for start, stop in common(broken, interval(piece.low, piece.high)):
                    for value in (start, stop - 1):
                        element = (*place[:at], value, *place[at:])
                        found.see(element, piece.factor * value + piece.offset)
        return True


class _Found:
    def __init__(self) -> None:
        self.count = 0
        self.first: tuple[int, ...] | None = None
        self.last: tuple[int, ...] | None = None
        self.smallest: int | None = None
        self.largest: int | None = None

    def add(self, place: tuple[int, ...], index: int | None) -> None:
        self.count += 1
        self.see(place, index)

    def see(self, place: tuple[int, ...], index: int | None) -> None:
        self.first = place if self.first is None else min(self.first, place)
        self.last = place if self.last is None else max(self.last, place)
        if index is not None:
            self.smallest = index if self.smallest is None else min(self.smallest, index)
            self.largest = index if self.largest is None else max(self.largest, index)

    def result(self) -> _Result:
        return _Result(self.count, self.first, self.last, self.smallest, self.largest)


def _always(mask: str, scope: Scope) -> bool:
    """Tell a mask that is true for all lanes, or is not there: the block fits the extent."""
    found = scope.by_target.get(mask, [])
    return all(isinstance(a.value, Num) and a.value.value == 1 for _, a in found)
