"""Which elements of a memory a view shows, and whether two views share some.

A view is written as extents, strides and an offset (`reinterpret_tensor(buf9, (8, s0), (s0, 1), 64)`), often in size
symbols. They are compared for several choices of the symbols, small and huge: what holds for all of them is taken as
told by the code, everything else as not known.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.expr import evaluate, names
from aoti_logs.code.wrapper_cpp.text import as_call, split_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aoti_logs.code.expr import Expr
    from aoti_logs.code.model import Size

_TRIALS = 6
_MOST_CELLS = 1 << 16
"""Of larger views, only the range from the first to the last element is compared."""
_REINTERPRET = re.compile(r"reinterpret_tensor(?:_wrapper)?\(")
_LONGEST = 4000
_LONGEST_CHAIN = 50
_DEEPEST = 8


@dataclass(frozen=True)
class Part:
    """A view: extents, strides and offset in elements of the memory's first, as written. None: not known."""

    shape: tuple[str, ...] | None = None
    stride: tuple[str, ...] | None = None
    offset: str | None = None

    @property
    def known(self) -> bool:
        """True when all three are."""
        return self.shape is not None and self.stride is not None and self.offset is not None


UNKNOWN = Part()
"""Some elements, nobody can tell which."""


def inside(outer: Part | None, inner: Part | None) -> Part | None:
    """Return the part that a view of a view shows; None stands for the whole memory.

    Offsets add up (`_reinterpret_tensor` counts from the older view's offset); extents and strides are those
    of the younger one.
    """
    if outer is None or inner is None:
        return inner if outer is None else outer
    if outer.offset is None or inner.offset is None:
        return UNKNOWN
    if _plain(outer.offset) == "0":
        return inner
    return Part(inner.shape, inner.stride, f"({outer.offset}) + ({inner.offset})")


def written_view(text: str, arrays: Mapping[str, tuple[str, ...]]) -> Part | None:
    """Return the part that an argument shows which is a view in place; None when it is the tensor itself.

    Args:
        text: the argument as written, C++ or Python.
        arrays: `int_array_3` and other arrays of the wrapper -> their elements.
    """
    if len(text) > _LONGEST:
        return UNKNOWN
    found = list(_REINTERPRET.finditer(text))
    if not found:
        return UNKNOWN if "as_strided" in text or ".view(" in text or "[" in text else None
    call = as_call(text[found[0].start() :])
    if call is None or len(found) > 1:
        return UNKNOWN
    arguments = call[1]
    if call[0].endswith("_wrapper") and len(arguments) == 5:
        shape, stride, offset = arguments[2:]
    elif len(arguments) == 4:
        shape, stride, offset = arguments[1:]
    else:
        return UNKNOWN
    return Part(_elements(shape, arrays), _elements(stride, arrays), offset)


def _elements(text: str, arrays: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    if text[:1] in {"{", "("}:
        return split_arguments(text[1:-1])
    return arrays.get(text)


# ------------------------------------------------------------ comparing


@dataclass(frozen=True)
class _Trial:
    """One choice of the symbols."""

    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def count(self) -> int:
        product = 1
        for extent in self.shape:
            product *= extent
        return product

    @property
    def last(self) -> int:
        return self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.stride, strict=True))

    @property
    def dense(self) -> bool:
        """True when it shows every element from the first to the last once."""
        step = 1
        for stride, extent in sorted(zip(self.stride, self.shape, strict=True)):
            if extent == 1:
                continue
            if stride != step:
                return False
            step *= extent
        return True

    def cells(self) -> set[int] | None:
        if self.count > _MOST_CELLS:
            return None
        found = {self.offset}
        for extent, stride in zip(self.shape, self.stride, strict=True):
            found = {at + n * stride for at in found for n in range(extent)}
        return found


class Comparison:
    """Compares views of one wrapper, whose sizes are defined by one another.

    Args:
        sizes: the definitions of its size symbols.
    """

    def __init__(self, sizes: Mapping[str, Size]) -> None:
        self._sizes = sizes
        self._numbers: dict[tuple[str, int], int] = {}
        self._known: dict[Part, tuple[_Trial, ...] | None] = {}

    def disjoint(self, one: Part | None, other: Part | None) -> bool | None:
        """Tell whether two views of one memory share no element; None when the code does not tell."""
        if one is None or other is None:
            return False  # the whole memory holds every part of it
        if one == other and one.known:
            return False
        left, right = self._trials(one), self._trials(other)
        if left is None or right is None:
            return None
        told = {_apart(a, b) for a, b in zip(left, right, strict=True)}
        return told.pop() if len(told) == 1 else None

    def covers(self, one: Part | None, other: Part | None, whole: Part | None) -> bool:
        """Tell whether a view certainly shows every element that another shows.

        Args:
            one: the view.
            other: the other; None for the whole memory.
            whole: the memory's own extents and strides, None when they are not known.
        """
        if one is None or (one == other and one.known):
            return True
        other = whole if other is None else other
        if other is None:
            return False
        left, right = self._trials(one), self._trials(other)
        if left is None or right is None:
            return False
        return all(
            a.dense and (not b.count or (a.offset <= b.offset and b.last <= a.last))
            for a, b in zip(left, right, strict=True)
        )

    def fills(self, extents: Sequence[Expr], given: Mapping[str, Expr], part: Part) -> bool | None:
        """Tell whether as many elements are set as a view shows; None when the code does not tell.

        Args:
            extents: how far the loops run that set them.
            given: parameter of the kernel -> what it was given.
            part: the view.
        """
        shown = self._trials(part)
        if shown is None:
            return None
        told = set()
        for trial, view in enumerate(shown):
            passed = {name: self._value(expr, trial) for name, expr in given.items()}
            known = {name: value for name, value in passed.items() if value is not None}
            product = 1
            for extent in extents:
                number = evaluate(extent, known)
                if number is None:
                    return None
                product *= number
            told.add((product > view.count) - (product < view.count))
        if len(told) != 1:
            return None
        return {0: True, -1: False}.get(told.pop())

    def _trials(self, part: Part) -> tuple[_Trial, ...] | None:
        if part not in self._known:
            self._known[part] = self._try(part)
        return self._known[part]

    def _try(self, part: Part) -> tuple[_Trial, ...] | None:
        if part.shape is None or part.stride is None or part.offset is None:
            return None
        texts = [part.offset, *part.shape, *part.stride]
        expressions = [e for e in map(_expression, texts) if e is not None]
        rank, found = len(part.shape), []
        if len(expressions) != len(texts) or len(part.stride) != rank:
            return None
        for trial in range(_TRIALS):
            numbers = [n for e in expressions if (n := self._value(e, trial)) is not None and n >= 0]
            if len(numbers) != len(texts):
                return None
            found.append(_Trial(numbers[0], tuple(numbers[1 : rank + 1]), tuple(numbers[rank + 1 :])))
        return tuple(found)

    def _value(self, expr: Expr, trial: int) -> int | None:
        return evaluate(expr, {name: self._number(name, trial) for name in names(expr)})

    def _number(self, name: str, trial: int) -> int:
        """Return the number of a symbol in one trial; one that is computed from others has theirs."""
        chain: list[str] = []
        while (name, trial) not in self._numbers:
            chain.append(name)
            size = self._sizes.get(name)
            older = None if size is None else size.alias_of
            if older is not None and older not in chain and len(chain) < _LONGEST_CHAIN:
                name = older
                continue
            number = None
            if size is not None and size.value is not None and len(chain) < _DEEPEST:
                parts = names(size.value) - set(chain)
                number = evaluate(size.value, {n: _drawn(self._base(n), trial) for n in parts})
            self._numbers[name, trial] = _drawn(name, trial) if number is None else number
        number = self._numbers[name, trial]
        self._numbers.update({(n, trial): number for n in chain})
        return number

    def _base(self, name: str) -> str:
        for _ in range(_LONGEST_CHAIN):
            size = self._sizes.get(name)
            if size is None or size.alias_of is None:
                break
            name = size.alias_of
        return name


def _drawn(name: str, trial: int) -> int:
    """Return the number that is tried for a symbol: the same for the same symbol in one trial."""
    drawn = int.from_bytes(hashlib.sha256(f"{trial} {name}".encode()).digest()[:4], "big")
    return 2 + drawn % (5, 11, 97, 1009, 99_991, 5)[trial]


def _apart(one: _Trial, other: _Trial) -> bool | None:
    if not one.count or not other.count or one.last < other.offset or other.last < one.offset:
        return True
    if one.dense and other.dense:
        return False
    mine, theirs = one.cells(), other.cells()
    return None if mine is None or theirs is None else mine.isdisjoint(theirs)


def elements_of(shape: Sequence[str] | None) -> int | None:
    """Return the number of elements when all extents are numbers."""
    count = 1
    for text in shape or ():
        digits = _plain(text)
        if not digits.isdigit() or len(digits) > 18:
            return None
        count *= int(digits)
    return None if shape is None else count


def _plain(text: str) -> str:
    text = text.strip()
    return text[:-1] if re.fullmatch(r"\d{1,18}[lL]", text) else text


@lru_cache(maxsize=8192)
def _expression(text: str) -> Expr | None:
    """Return an extent as an expression, whichever language wrote it."""
    text = _plain(text)
    if "::" not in text and "?" not in text and len(text) < _LONGEST:
        from aoti_logs.code.triton.body import to_expr

        try:
            return to_expr(ast.parse(re.sub(r"(?<=\d)[lL]\b", "", text), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    from aoti_logs.code.wrapper.bind import cpp_value

    return cpp_value(text)
