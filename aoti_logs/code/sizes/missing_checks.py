"""What nobody tests before an AOTInductor model computes: ranks, equal sizes, divisibility, limits, values from data.

Measured in `torch/_inductor/codegen/cpp_wrapper_cpu.py`: `check_input_N` compares dtype, single sizes, constant strides
and the type of the device; torch 2.13 adds `assert_size_stride` for inputs that a kernel reads. The guards of the
export (`_guards_fn`) are taken out before the compile. torch.compile's wrappers are left out: Dynamo guards them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.code.sizes.definition import Sort, sort_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import ModelInput
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.code.view import ModelView

_SYMBOL = re.compile(r"(?:s|u|zf|zuf|i)\d+")


class Gap(StrEnum):
    """A kind of test that is not there."""

    INPUT = "input"
    """Nothing at all is compared of an input."""
    RANK = "rank"
    """The number of dimensions is not compared; only a constant stride that differs may tell."""
    EQUAL = "equal"
    """A size must be what another input's size says, and nothing compares the two."""
    DIVISIBLE = "divisible"
    """A symbol is computed from a size by a division, and nothing tests the rest."""
    SIZE = "size"
    """A constant size is not compared."""
    LOWER = "lower"
    """No smallest size is compared."""
    UPPER = "upper"
    """No largest size is compared."""
    STRIDE = "stride"
    """A stride is not compared: the code takes the layout for granted."""
    DTYPE = "dtype"
    """The element type is not compared: the bytes are read as the type that the model was compiled for."""
    DEVICE = "device"
    """The type of the device is not compared."""
    UNBACKED = "unbacked"
    """A value that only data knows has no assertion."""


@dataclass(frozen=True)
class MissingCheck:
    """One thing that nobody tests.

    `line` is where the wrapper shows it: the size that is read instead, the input, the value from data.
    """

    gap: Gap
    input: ModelInput | None
    dim: int | None
    symbol: str | None
    expected: str | None
    """What the code takes for granted, where it is known."""
    why: str
    line: int


def missing_checks(view: ModelView) -> tuple[MissingCheck, ...]:
    """Return what nobody tests of an AOTInductor wrapper, input by input; nothing for torch.compile's."""
    if not view.is_aot:
        return ()
    return tuple(_missing(view))


def _missing(view: ModelView) -> Iterator[MissingCheck]:
    by_input: dict[str, list[InputDim]] = {}
    for dim in view.input_dims:
        by_input.setdefault(dim.input.name, []).append(dim)
    kinds: dict[str, set[CheckKind]] = {}
    for check in view.wrapper.checks:
        kinds.setdefault(check.tensor, set()).add(check.kind)
    for entry in view.wrapper.inputs:
        if not entry.scalar:
            yield from _of_input(view, entry, by_input.get(entry.name, []), kinds.get(entry.name, set()))
    yield from _of_data(view)


def _of_input(
    view: ModelView, entry: ModelInput, dims: list[InputDim], kinds: set[CheckKind]
) -> Iterator[MissingCheck]:
    shown = f"`{view.names[entry.name].name}`" if entry.name in view.names else f"input {entry.index}"

    def gap(
        kind: Gap,
        why: str,
        dim: InputDim | None = None,
        symbol: str | None = None,
        expected: str | None = None,
    ) -> MissingCheck:
        line = dim.measured.line if dim is not None and dim.measured is not None else entry.line
        return MissingCheck(kind, entry, None if dim is None else dim.dim, symbol, expected, why, line)

    whole = CheckKind.SIZE_STRIDE in kinds
    if not kinds:
        why = (
            f"this wrapper compares nothing of {shown}: torch before 2.7 writes input checks only on request"
        )
        yield gap(Gap.INPUT, why)
    else:
        if CheckKind.DTYPE not in kinds:
            yield gap(Gap.DTYPE, f"the bytes of {shown} are read as the type that the model was compiled for")
        if CheckKind.DEVICE not in kinds:
            yield gap(Gap.DEVICE, f"{shown} is used where it lies, also on another device than the model's")
        if not whole:
            yield gap(Gap.RANK, f"how many dimensions {shown} has is not compared")
    for dim in dims:
        if whole and dim.compared is not None:
            continue
        yield from (gap(*found) for found in _of_dim(view, shown, dim, checked=bool(kinds)))


_Found = tuple[Gap, str, "InputDim", str | None, str | None]


def _of_dim(view: ModelView, shown: str, dim: InputDim, *, checked: bool) -> Iterator[_Found]:
    where = f"dimension {dim.dim} of {shown}"
    constant = dim.extent is not None and not dim.symbols
    if constant:
        if checked and CheckKind.EQUAL not in dim.checks:
            yield Gap.SIZE, f"{where} is taken to be {dim.extent}", dim, None, dim.extent
    else:
        symbol = dim.symbols[0] if len(dim.symbols) == 1 else None
        if dim.measured is None and (dim.extent is not None or dim.checks.keys() & _SIZES):
            yield Gap.EQUAL, _why_equal(view, where, dim), dim, symbol, dim.extent
        elif dim.measured is not None and dim.extent is not None and dim.extent != dim.measured.symbol:
            factor = re.match(r"(\d+)\*", dim.extent)
            if factor:
                why = f"{where} is taken to be {dim.extent}; a rest of the division by {factor[1]} is dropped"
                yield Gap.DIVISIBLE, why, dim, symbol, dim.extent
        if checked and CheckKind.MIN not in dim.checks:
            yield Gap.LOWER, f"no smallest size of {where} was compiled in", dim, symbol, None
        if checked and CheckKind.MAX not in dim.checks:
            yield Gap.UPPER, f"no largest size of {where} was compiled in", dim, symbol, None
    if checked and CheckKind.STRIDE not in dim.checks:
        yield Gap.STRIDE, f"the code takes the stride of {where} for granted", dim, None, None


_SIZES = {CheckKind.MIN, CheckKind.MAX}


def _why_equal(view: ModelView, where: str, dim: InputDim) -> str:
    if dim.extent is None:
        return (
            f"{where} is never read: it is taken to be what another size says; which one, no evidence tells"
        )
    read = [view.symbol(s).definition for s in dim.symbols]
    if None in read:
        return f"{where} is never read; tracing called it {dim.extent}, which the code does not have"
    return f"{where} is taken to be {dim.extent}, which is read from {', '.join(r for r in read if r)}; nothing compares them"


def _of_data(view: ModelView) -> Iterator[MissingCheck]:
    for name in view.symbols.names:
        size = view.sizes.get(name)
        if size is None or sort_of(name) is not Sort.UNBACKED or size.tensor in view.inputs:
            continue
        facts = view.symbol(name)
        if (
            facts.scalar is None
            and not facts.asserts
            and not any(_SYMBOL.fullmatch(a) for a in facts.aliases)
        ):
            made = f" from {facts.made_by.kernel}" if facts.made_by is not None else ""
            why = f"{name} ({facts.definition}{made}) is used as it comes"
            yield MissingCheck(Gap.UNBACKED, None, None, name, None, why, size.line)
