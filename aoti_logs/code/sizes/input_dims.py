"""Every dimension of a wrapper's inputs: what it is, where it is measured, and what is tested about it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.code.sizes.definition import measured_extent, plain, symbols_of
from aoti_logs.code.sizes.evidence import Enforced
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aoti_logs.code.model import InputCheck, ModelInput, Size
    from aoti_logs.code.names.input_names import InputName

_PARTS = re.compile(r"[{(]([^{}()]*(?:\([^()]*\)[^{}()]*)*)[})]")
_NUMBER = re.compile(r"-?\d{1,30}")
_LARGEST_RANK = 64


@dataclass(frozen=True)
class InputDim:
    """A dimension of an input.

    `extent` is what it is in the model's symbols (`s28`, `2*s7 + 1`) or the number that it must be, None where
    nothing tells; `told_by` says who tells it: `assert_size_stride`, `check_input`, `measured` (a symbol is set to
    it), `solved` (a symbol is computed from it) or `graph` (a graph or signature that names the inputs).
    """

    input: ModelInput
    dim: int
    extent: str | None
    told_by: str | None
    measured: Size | None
    """The definition that reads it, if one does."""
    compared: InputCheck | None
    """The assertion that compares it with `extent`, if there is one."""
    checks: Mapping[CheckKind, InputCheck]
    """Comparisons of this dimension with numbers: `min`, `max`, `equal`, `stride`."""

    @property
    def lower(self) -> int | None:
        """The smallest size that the input check lets through."""
        return _number(self.checks.get(CheckKind.MIN))

    @property
    def upper(self) -> int | None:
        """The largest size that the input check lets through."""
        return _number(self.checks.get(CheckKind.MAX))

    @property
    def expected(self) -> int | None:
        """The only size that a check lets through, where it is a number."""
        found = _number(self.checks.get(CheckKind.EQUAL))
        if found is None and self.compared is not None and self.extent is not None:
            return int(self.extent) if _NUMBER.fullmatch(self.extent) else None
        return found

    @property
    def stride(self) -> int | None:
        """The only stride that the input check lets through, where it is a number."""
        return _number(self.checks.get(CheckKind.STRIDE))

    @property
    def compiled_range(self) -> tuple[int | None, int | None] | None:
        """Smallest and largest size that the input check lets through; None where it tests neither."""
        return None if self.lower is None and self.upper is None else (self.lower, self.upper)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols in its extent."""
        return () if self.extent is None else symbols_of(self.extent)

    @property
    def enforced(self) -> Enforced:
        """When something tests this size."""
        tests = [c for k, c in self.checks.items() if k is not CheckKind.STRIDE]
        return enforced_by(*tests, *([self.compared] if self.compared is not None else []))


def enforced_by(*checks: InputCheck) -> Enforced:
    """Return when at least one of some checks is made."""
    if not checks:
        return Enforced.NEVER
    return Enforced.GATED if all(c.gated for c in checks) else Enforced.ALWAYS


def _number(check: InputCheck | None) -> int | None:
    return int(check.expected) if check is not None and _NUMBER.fullmatch(check.expected) else None


@lru_cache(maxsize=4096)
def asserted(expected: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return sizes and strides of `assert_size_stride`, `{s28, 3L}, {3L, 1L}` or `(s28, 3), (3, 1)`."""
    parts = [m[1] for m in _PARTS.finditer(expected)]
    if len(parts) != 2:
        return None
    sizes, strides = (_split(part) for part in parts)
    return (sizes, strides) if len(sizes) == len(strides) else None


def _split(text: str) -> tuple[str, ...]:
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return tuple(plain(one) for one in found if one.strip())


class _Told:
    """What the wrapper says of its inputs, by name."""

    def __init__(self, sizes: Sequence[Size], checks: Sequence[InputCheck], known: frozenset[str]) -> None:
        self.layout: dict[str, tuple[InputCheck, tuple[str, ...]]] = {}
        self.checks: dict[str, dict[int, dict[CheckKind, InputCheck]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self.measured: dict[str, dict[int, Size]] = defaultdict(dict)
        self.solved: dict[str, Size] = {}
        for check in checks:
            if check.tensor not in known:
                continue
            if check.kind is CheckKind.SIZE_STRIDE:
                parts = asserted(check.expected)
                if parts is not None:
                    self.layout.setdefault(check.tensor, (check, parts[0]))
            elif check.dim is not None and 0 <= check.dim < _LARGEST_RANK:
                self.checks[check.tensor][check.dim].setdefault(check.kind, check)
        for size in sizes:
            if size.tensor in known and size.dim is not None and not size.stride and size.dim < _LARGEST_RANK:
                self.measured[size.tensor].setdefault(size.dim, size)
            elif size.value is not None and size.tensor is None:
                for name in re.findall(r"\b\w+_size_\d+\b", size.text):
                    self.solved.setdefault(name, size)

    def rank(self, name: str) -> int:
        """Return how many dimensions the wrapper speaks of."""
        dims = [*self.checks[name], *self.measured[name]]
        return max(dims, default=-1) + 1


def input_dims(
    inputs: Sequence[ModelInput],
    sizes: Sequence[Size],
    checks: Sequence[InputCheck],
    names: Mapping[str, InputName],
) -> tuple[InputDim, ...]:
    """Return all dimensions of the inputs that are tensors, by index of the input and dimension.

    Args:
        inputs: the wrapper's inputs.
        sizes: its size definitions.
        checks: its checks.
        names: the user's names, with what their witnesses print of the sizes.
    """
    told = _Told(sizes, checks, frozenset(i.name for i in inputs))
    found = []
    for entry in inputs:
        if entry.scalar:
            continue
        name = entry.name
        witness = names.get(name)
        # A witness that only may be about this model says nothing of how its sizes hang together.
        proven = witness is not None and witness.strength is Confidence.PROVEN
        printed = witness.measures if witness is not None and proven else None
        rank = told.rank(name)
        layout = told.layout.get(name)
        if layout is not None and len(layout[1]) >= rank:
            rank = len(layout[1])
        else:
            layout = None
        if printed is not None and len(printed) < rank:
            printed = None
        elif printed is not None:
            rank = max(rank, len(printed))
        for dim in range(rank):
            own = told.checks[name][dim]
            measured = told.measured[name].get(dim)
            extent, by = _extent(told, dim, measured, layout, own.get(CheckKind.EQUAL))
            if extent is None and printed is not None and dim < len(printed):
                extent, by = plain(printed[dim]), "graph"
            found.append(
                InputDim(entry, dim, extent, by, measured, None if layout is None else layout[0], dict(own))
            )
    return tuple(found)


def _extent(
    told: _Told,
    dim: int,
    measured: Size | None,
    layout: tuple[InputCheck, tuple[str, ...]] | None,
    equal: InputCheck | None,
) -> tuple[str | None, str | None]:
    if layout is not None:
        return layout[1][dim], "assert_size_stride"
    if equal is not None:
        return equal.expected, "check_input"
    if measured is None:
        return None, None
    if symbols_of(measured.symbol):
        return measured.symbol, "measured"
    solved = told.solved.get(measured.symbol)
    extent = None if solved is None else measured_extent(solved.value, solved.symbol)
    return (extent, "solved") if extent is not None else (None, None)
