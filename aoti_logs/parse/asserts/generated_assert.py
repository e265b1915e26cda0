"""Checks in the Python code that Inductor generates, and what they say when they fail.

Format: `grammars/generated_assert.lark`. In `expected size A==E` the first number is the actual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText

_LONGEST = 8192
_CALLS = ("assert_size_stride(", "assert_alignment(")


@dataclass(frozen=True)
class DimCheck:
    """One dimension of `assert_size_stride`."""

    dim: int
    size_actual: int
    size_expected: int
    stride_actual: int
    stride_expected: int


@dataclass(frozen=True)
class TensorCheck:
    """A tensor that is not what the generated code was made for.

    `dims` are the dimensions that differ, `ndim` the actual number of dimensions where that is wrong, `alignment` the
    bytes it must be aligned to with the actual `storage_offset` and `itemsize`. `buffer`, `sizes` and `strides` are
    those of the statement in the code; sizes that are no numbers are expressions. `op` is the operator that returned
    the tensor, `input` for an input of the model.
    """

    dims: tuple[DimCheck, ...] = ()
    ndim: int | None = None
    alignment: int | None = None
    storage_offset: int | None = None
    itemsize: int | None = None
    op: str | None = None
    buffer: str | None = None
    sizes: tuple[int | str, ...] | None = None
    strides: tuple[int | str, ...] | None = None


@dataclass(frozen=True)
class RuntimeCheck:
    """A promise about data (`torch._check`) that does not hold: the expression or message, and the graph's node."""

    expression: str
    node: str | None


def read_tensor_check(error: ErrorText) -> TensorCheck | None:
    """Read an AssertionError of `assert_size_stride` or `assert_alignment`; None for any other."""
    if (error.exception_type or "").rpartition(".")[2] != "AssertionError":
        return None
    told = _told(error.text or error.message)
    if told is None:
        return None
    code = error.python_frames[-1].code if error.python_frames else None
    call = fields("generated_assert", "call", code[:_LONGEST]) if code and code.startswith(_CALLS) else None
    named = first(call, "NAMED") if call else None
    op = told.op or (named[1:-1] if named else None)
    return TensorCheck(
        told.dims,
        told.ndim,
        told.alignment,
        told.storage_offset,
        told.itemsize,
        op,
        call["BUFFER"][0] if call else None,
        _tuple(first(call, "SIZES")) if call else None,
        _tuple(first(call, "STRIDES")) if call else None,
    )


def _told(text: str) -> TensorCheck | None:
    dims: tuple[DimCheck, ...] = ()
    ndim = alignment = offset = itemsize = None
    op: str | None = None
    for line in text.split("\n")[:12]:
        row = line.strip()[:_LONGEST]
        if row.startswith("expected size ") and (sizes := fields("generated_assert", "sizes", row)):
            columns = ("DIM", "SIZE_ACTUAL", "SIZE_EXPECTED", "STRIDE_ACTUAL", "STRIDE_EXPECTED")
            numbers = zip(*(sizes[c] for c in columns), strict=True)
            dims = tuple(DimCheck(*(int(n[:20]) for n in row_)) for row_ in numbers)
        elif row.startswith("wrong number of dimensions") and (
            found := fields("generated_assert", "dimensions", row)
        ):
            ndim, op = int(found["NDIM"][0][:9]), first(found, "OP") or op
        elif row.startswith("Expect the tensor to be ") and (
            found := fields("generated_assert", "alignment", row)
        ):
            alignment = int(found["ALIGNMENT"][0][:9])
            offset, itemsize = int(found["OFFSET"][0][:20]), int(found["ITEMSIZE"][0][:9])
        elif row.startswith("Error in op: ") and (found := fields("generated_assert", "op", row)):
            op = found["OP"][0]
    if not dims and ndim is None and alignment is None:
        return None
    return TensorCheck(dims, ndim, alignment, offset, itemsize, op)


def _tuple(text: str | None) -> tuple[int | str, ...] | None:
    from aoti_logs.parse.python.repr import plain, read_repr

    value = plain(read_repr(text)) if text else None
    return tuple(v if isinstance(v, int) else str(v) for v in value) if isinstance(value, list) else None


def read_runtime_check(error: ErrorText) -> RuntimeCheck | None:
    """Read the failure of a promise about data; None for any other error.

    Inductor's code raises the message alone (`RuntimeError: u0 <= 4`): then the statement in the generated code
    tells what it is.
    """
    if (error.exception_type or "").rpartition(".")[2] not in {"RuntimeError", "AssertionError"}:
        return None
    found = fields("generated_assert", "runtime", error.message[:_LONGEST])
    if found is not None:
        return RuntimeCheck(found["EXPRESSION"][0], first(found, "NODE"))
    frame = error.python_frames[-1] if error.python_frames else None
    if frame is None or frame.code is None or frame.function != "call":
        return None
    raised = fields("generated_assert", "raise", frame.code[:_LONGEST])
    if raised is None or raised["RAISED"][0][1:-1].replace("\\'", "'") != error.message:
        return None
    return RuntimeCheck(error.message, None)
