"""Sets of whole numbers as disjoint half-open ranges in ascending order: `((0, 5), (9, 12))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

NumberSet: TypeAlias = tuple[tuple[int, int], ...]


def interval(low: int, high: int) -> NumberSet:
    """Return the numbers from `low` to `high` (excluded)."""
    return ((low, high),) if low < high else ()


def union(*sets: NumberSet) -> NumberSet:
    """Return the numbers that are in one of the sets."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(r for s in sets for r in s):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def common(one: NumberSet, other: NumberSet) -> NumberSet:
    """Return the numbers that are in both sets."""
    found, n, m = [], 0, 0
    while n < len(one) and m < len(other):
        low, high = max(one[n][0], other[m][0]), min(one[n][1], other[m][1])
        if low < high:
            found.append((low, high))
        if one[n][1] <= other[m][1]:
            n += 1
        else:
            m += 1
    return tuple(found)


def without(one: NumberSet, other: NumberSet) -> NumberSet:
    """Return the numbers of one set that are not in the other."""
    kept = []
    for low, high in one:
        at = low
        for start, stop in other:
            if stop <= at or start >= high:
                continue
            if start > at:
                kept.append((at, start))
            at = max(at, stop)
        if at < high:
            kept.append((at, high))
    return tuple(kept)


def size(numbers: NumberSet) -> int:
    """Return how many numbers there are."""
    return sum(high - low for low, high in numbers)


def of(numbers: Iterable[int]) -> NumberSet:
    """Return single numbers as a set."""
    return union(*(((n, n + 1),) for n in numbers))
