"""ATen refused an index of eager code or of an operator that a model calls: the values that its text holds.

Format, each one line, from aten/src/ATen/native (torch 2.4 to 2.13):
`index 9 is out of bounds for dimension 0 with size 3` (TensorAdvancedIndexing.cpp, cpu/ScatterGatherKernel.cpp,
cpu/IndexKernelUtils.h; `index_copy_(): ` may stand before it), `select(): index 9 out of range for tensor of size [3, 4] at
dimension 0` (TensorShape.cpp), `out of range: tried to access index 99 on a tensor of 12 elements.` (take and put),
`Index 0 of input takes value 9 which is not in the valid range [0, 3)` (embedding_bag).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(-?\d{1,19})"
_OF_DIMENSION = re.compile(rf"index {_NUMBER} is out of bounds for dimension {_NUMBER} with size {_NUMBER}")
_OF_SHAPE = re.compile(
    rf"index {_NUMBER} out of range for tensor of size \[([\d, ]{{0,400}})\] at dimension {_NUMBER}"
)
_OF_ELEMENTS = re.compile(rf"tried to access index {_NUMBER} on a tensor of {_NUMBER} elements")
_OF_RANGE = re.compile(rf"takes value {_NUMBER} which is not in the valid range \[0, {_NUMBER}\)")


@dataclass(frozen=True)
class RefusedIndex:
    """An index and the size that it does not fit; `dimension` is None where all elements, or all rows, are counted."""

    index: int
    size: int
    dimension: int | None = None


def refused_index(text: str) -> RefusedIndex | None:
    """Read the values of the first text of that kind, None without one."""
    text = text[:4096]
    found = _OF_DIMENSION.search(text)
    if found is not None:
        index, dimension, size = map(int, found.groups())
        return RefusedIndex(index, size, dimension)
    found = _OF_SHAPE.search(text)
    if found is not None:
        shape = [int(part) for part in found[2].split(",") if part.strip().isdigit()]
        dimension = int(found[3])
        return (
            RefusedIndex(int(found[1]), shape[dimension], dimension) if 0 <= dimension < len(shape) else None
        )
    found = _OF_ELEMENTS.search(text) or _OF_RANGE.search(text)
    return None if found is None else RefusedIndex(int(found[1]), int(found[2]))
