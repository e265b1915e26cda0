"""The elements of a printed tensor as numbers: ATen's print (C++) and torch's repr (Python).

Formats: `grammars/printer.lark`, rule `elements` (aten/src/ATen/core/Formatting.cpp), and torch/_tensor_str.py.
A line is told by its words, which is quicker than the grammar; a test compares both. Elements are given back
only when there are as many as the tensor has: other output, lost lines and other tensors may stand between.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)$")
_SLICE = re.compile(r"\((?P<index>(?:\d{1,18},){1,64})\.,\.\) *= *$")
_SCALE = re.compile(r"(?P<scale>\d+(?:\.\d*)?(?:e[-+]?\d+)?) \*$")
_COLUMNS = re.compile(r"Columns (?P<first>\d{1,18}) to +(?P<rest>\d.*)$")
_GLUED_SCALE = re.compile(r"(?P<last>\d+?) ?(?P<scale>1e[-+]\d+|0\.0*1|10+|1) \*$")
_TYPE = re.compile(
    r"\[ \w+Type\{[\d,]{0,2000}\}(?: \])?(?:, (?:qscheme|scales?|zero_points?|tangent|axis):.*)?$"
    r"|\[ Tensor \(undefined\) \]$"
)
_AROUND = re.compile(r"(?:indices|values|size):$|\[\d[\d, ]*\]$|\]$|MKLDNN Tensor: ")
_PYTHON_FIRST = (
    "tensor(",
    "Parameter containing:",
    "Buffer containing:",
    "Parameter(",
    "Buffer(",
    "FakeTensor(",
)
_PYTHON_ROW = re.compile(r"[\[\]\d.,()\-+ \tejinfaTrueFlsw]+$")
_PYTHON_END = re.compile(
    r"(?:size|dtype|device|grad_fn|requires_grad|layout|quantization_scheme|scale|zero_point)="
)
_PYTHON_WORDS = {"True": 1.0, "False": 0.0}
_WORD = re.compile(r"[^\s,\[\]()]+")
KEEP = 256
"""So many elements are kept; the C++ printer prints tensors of at most 64, complex ones of 256 a second time."""

Elements = tuple[float, ...]


def is_element_line(text: str) -> bool:
    """Tell a line of a tensor that ATen prints: a row, a slice's head, a scale, columns, the type."""
    first = text.lstrip()[:1]
    if not first or first not in "-+0123456789in([CM]v s":
        return False
    if first in "-+0123456789in":
        return is_row(text) or _SCALE.match(text) is not None or _AROUND.match(text) is not None
    return any(p.match(text) is not None for p in (_SLICE, _COLUMNS, _TYPE, _AROUND))


def is_row(text: str) -> bool:
    """Tell a line of nothing but numbers."""
    words = text.split()
    return bool(words) and all(_NUMBER.match(w) for w in words)


def is_type_line(text: str) -> bool:
    """Tell the line that ends a printed tensor, `[ CPUFloatType{3,4} ]`."""
    return _TYPE.match(text) is not None


def element_values(lines: Sequence[str], shape: Sequence[int] | None, *, integers: bool) -> Elements | None:
    """Return the elements of a printed tensor in the order of its memory indices, rows first.

    Floating values are as exact as they are printed (four digits behind the point).

    Args:
        lines: what was printed from the header to the type line.
        shape: the tensor's size; None where its line was lost, and nothing can be told then.
        integers: the dtype has only integers; digits that the printer dropped are then no value.

    Returns:
        None when elements are missing or foreign lines stand among them, or when digits of an integer were lost.
    """
    if shape is None or math.prod(shape) > KEEP:
        return None
    blocks = _blocks(lines)
    if blocks is None:
        return None
    if len(shape) < 2:
        values = [v for _, _, rows in blocks for row in rows for v in row]
        exact = all(len(row) == 1 for _, _, rows in blocks for row in rows)
        found = values if exact and len(values) == math.prod(shape) else None
    else:
        found = _arranged(blocks, shape)
    if found is None or (integers and any(_rounded(line) for line in lines)):
        return None
    return tuple(found)


def _rounded(line: str) -> bool:
    return "e" in line and not is_type_line(line)


_Block = tuple[tuple[int, ...], int, list[list[float]]]


def _blocks(lines: Sequence[str]) -> list[_Block] | None:
    """Return (slice, first column, rows) of every run of rows; rows are multiplied by their scale."""
    found: list[_Block] = [((), 1, [])]
    scale = 1.0
    for raw in lines:
        text = raw.strip().removeprefix("MKLDNN Tensor: ").strip()
        if not text:
            continue
        if is_type_line(text):
            return found
        head = _SLICE.match(text)
        columns = _COLUMNS.match(text) if head is None else None
        if head is not None:
            index = tuple(int(n) for n in head["index"].rstrip(",").split(","))
            found.append((index, 1, []))
            scale = 1.0
        elif columns is not None:
            first = int(columns["first"])
            found.append((found[-1][0], first, []))
            glued = _GLUED_SCALE.match(columns["rest"])
            scale = float(glued["scale"]) if glued is not None else 1.0
            row = [] if glued is not None else _glued_row(columns["rest"], first)
            if row is None:
                return None
            if row:
                found[-1][2].append(row)
        elif (factor := _SCALE.match(text)) is not None:
            scale = float(factor["scale"])
        elif is_row(text):
            found[-1][2].append([float(word) * scale for word in text.split()])
        else:
            return None
    return None


def _glued_row(rest: str, first: int) -> list[float] | None:
    """Return the row behind `Columns 1 to `: the last column's number is the first column's plus the row's length."""
    words = rest.split()
    for count in (len(words) - 1, len(words)):
        last = str(first + count - 1)
        if count > 0 and words[0].startswith(last):
            row = [w for w in (words[0][len(last) :], *words[1:]) if w]
            if len(row) == count and all(_NUMBER.match(w) for w in row):
                return [float(w) for w in row]
    return None


def _arranged(blocks: list[_Block], shape: Sequence[int]) -> list[float] | None:
    """Put rows into their places; None unless every place is filled exactly once."""
    outer, rows, columns = shape[:-2], shape[-2], shape[-1]
    table: dict[int, float] = {}
    for index, first, lines in blocks:
        if not lines:
            continue
        if len(index) != len(outer) or len(lines) != rows or any(i < 1 for i in index):
            return None
        base = 0
        for at, extent in zip(index, outer, strict=True):
            base = base * extent + at - 1
        for number, row in enumerate(lines):
            for column, value in enumerate(row, first - 1):
                place = (base * rows + number) * columns + column
                if column >= columns or place in table:
                    return None
                table[place] = value
    whole = range(math.prod(shape))
    return [table[n] for n in whole] if table.keys() == set(whole) else None


def begins_python(text: str) -> bool:
    """Tell the first line of torch's repr of a tensor."""
    return text.startswith(_PYTHON_FIRST)


def is_python_line(text: str) -> bool:
    """Tell a further line of torch's repr of a tensor: a row, or what is said about it behind the last row."""
    body = text.strip()
    if body.startswith("tensor(") or _PYTHON_END.match(body):
        return True
    row, _, end = body.partition("], ")
    row, end = (row + "]", end) if end else (body, "")
    return _PYTHON_ROW.match(row) is not None and (
        not end or end[0].isalpha() or _PYTHON_ROW.match(end) is not None
    )


def python_values(lines: Sequence[str], count: int | None) -> Elements | None:
    """Return the elements of torch's repr, None when there are not `count` of them (summarised, cut, complex)."""
    if count is None or count > KEEP:
        return None
    text = " ".join(lines)
    start = text.find("tensor(")
    if start < 0 or "..." in text:
        return None
    body = text[start + len("tensor(") :]
    end = re.search(r"\]\s*(?:,\s*[a-z_]+=|\))", body) if body.lstrip().startswith("[") else None
    body = body[: end.start() + 1] if end is not None else re.split(r",\s*[a-z_]+=|\)", body, maxsplit=1)[0]
    found: list[float] = []
    for word in _WORD.findall(body):
        if word in _PYTHON_WORDS:
            found.append(_PYTHON_WORDS[word])
        elif _NUMBER.match(word) is not None:
            found.append(float(word))
        else:
            return None
    return tuple(found) if len(found) == count else None
