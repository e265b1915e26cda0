"""The inputs of a graph as a user would list them, to be compared with the inputs of a wrapper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.expr import names
from aoti_logs.code.model import CheckKind
from aoti_logs.parse.graphs.graph_head import lifted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aoti_logs.code.model import InputCheck, ModelInput, Size
    from aoti_logs.parse.facts import Graph, Placeholder, Signature

_SHAPE = re.compile(r"(?:\w+\()?[a-z]\w*\[([^\[\]]*)\]")
_SCALAR = re.compile(r"Sym\((.*)\)")
_BACKED = re.compile(r"s\d+")
_SYMBOLS = re.compile(r"\bs\d+\b")
_VARIABLE = re.compile(r"\w+_size_\d+")
_DYNAMO_PARAMETER = re.compile(r"[LG]_\w*?_(?:parameters|buffers)_\w+")


@dataclass(frozen=True)
class UserInput:
    """An input with the user's name, and what `measures` says of it."""

    name: str
    measures: tuple[str, ...] | None
    placeholder: Placeholder


@dataclass(frozen=True)
class Compared:
    """What a wrapper says of its inputs' sizes: (position of the input, dimension, symbol or number)."""

    symbols: tuple[tuple[int, int, str], ...]
    fixed: tuple[tuple[int, int, str], ...]
    solved: tuple[tuple[int, int, str], ...] = ()
    """Where a symbol is computed from the size: the size is an expression of it."""

    @classmethod
    def of(
        cls, inputs: Sequence[ModelInput], sizes: Sequence[Size], checks: Sequence[InputCheck]
    ) -> Compared:
        """Collect it from the wrapper's sizes and checks."""
        position = {i.name: n for n, i in enumerate(inputs)}
        symbols = []
        for size in sizes:
            at = position.get(size.tensor or size.alias_of or "")
            dim = 0 if size.tensor is None else size.dim
            if at is not None and dim is not None and not size.stride and _BACKED.fullmatch(size.symbol):
                symbols.append((at, dim, size.symbol))
        fixed = [
            (at, c.dim, c.expected)
            for c in checks
            if c.kind is CheckKind.EQUAL and c.dim is not None and (at := position.get(c.tensor)) is not None
        ]
        return cls(tuple(symbols), tuple(fixed), tuple(_solved(position, sizes)))


def _solved(position: Mapping[str, int], sizes: Sequence[Size]) -> Iterator[tuple[int, int, str]]:
    """Yield where `arg0_1_size_0 = arg0_1_size[0]` is read and `s7` computed from it alone."""
    read = {
        s.symbol: (position[s.tensor], s.dim)
        for s in sizes
        if s.tensor is not None
        and s.tensor in position
        and s.dim is not None
        and not s.stride
        and _VARIABLE.fullmatch(s.symbol)
    }
    for size in sizes if read else ():
        if size.value is not None and size.tensor is None and _BACKED.fullmatch(size.symbol):
            known = [name for name in names(size.value) if name in read]
            if len(known) == 1:
                at, dim = read[known[0]]
                yield at, dim, size.symbol


@lru_cache(maxsize=1 << 16)
def dims(annotation: str | None) -> tuple[str, ...] | None:
    """Return the sizes in `f32[s70, 8][8, 1]cuda:0` (`s70`, `8`); None when there are none to read."""
    found = _SHAPE.match(annotation or "")
    if found is None:
        return None
    parts, depth, start = [], 0, 0
    text = found[1]
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return tuple([*parts, last] if last else parts)


@lru_cache(maxsize=1 << 16)
def measures(annotation: str | None) -> tuple[str, ...] | None:
    """Return the sizes of a tensor, or the one symbol of a symbolic number (`Sym(s70)`)."""
    scalar = _SCALAR.fullmatch(annotation or "")
    return (scalar[1],) if scalar else dims(annotation)


def is_scalar(placeholder: Placeholder) -> bool:
    """Tell an input that is a symbolic number (`Sym(s70)`), no tensor."""
    return _SCALAR.fullmatch(placeholder.annotation or "") is not None


def listings(graph: Graph, signature: Signature | None) -> Iterator[tuple[UserInput, ...]]:
    """Give the ways to list a graph's inputs: all with a name, then without weights, then without numbers.

    A graph does not say which of them its wrapper kept; the count decides.
    """
    lifted_names = {i.name for i in signature.inputs if i.kind != "USER_INPUT"} if signature else None
    constants = {i.name for i in signature.inputs if i.argument == "constant"} if signature else set()

    def is_weight(placeholder: Placeholder) -> bool:
        if lifted_names is not None:
            return placeholder.name in lifted_names
        return lifted(placeholder.name) or _DYNAMO_PARAMETER.fullmatch(placeholder.name) is not None

    everything = [p for p in graph.placeholders if p.name not in constants]
    own = [p for p in everything if not is_weight(p)]
    for chosen in (
        own,
        [p for p in own if not is_scalar(p)],
        [p for p in own if dims(p.annotation) is not None],
        everything,
        [p for p in everything if not is_scalar(p)],
    ):
        named = [user_input(p) for p in chosen]
        if named and all(n is not None for n in named):
            yield tuple(n for n in named if n is not None)


def user_input(placeholder: Placeholder) -> UserInput | None:
    """Return a graph input with its user's name; numbers may have none, then they keep their own."""
    name = placeholder.user_name or (placeholder.name if is_scalar(placeholder) else None)
    return UserInput(name, measures(placeholder.annotation), placeholder) if name else None


def agrees(shapes: Sequence[tuple[str, ...] | None], compared: Compared) -> bool | None:
    """Compare what graphs print of the inputs (`measures`) with the wrapper's sizes and checks.

    Returns:
        False when a size has another symbol or number there, True when at least one has the same
        symbol and none differs, None when no symbol could be compared.
    """
    seen = None
    for at, dim, symbol in compared.symbols:
        there = _at(shapes, at, dim)
        if there == symbol:
            seen = True
        elif there is not None and (there.isdecimal() or there == "" or _BACKED.fullmatch(there)):
            return False
    for at, dim, symbol in compared.solved:
        there = _at(shapes, at, dim)
        if there is not None and _SYMBOLS.findall(there) == [symbol]:
            seen = True
        elif there is not None and (there.isdecimal() or there == "" or _BACKED.fullmatch(there)):
            return False
    for at, dim, expected in compared.fixed:
        there = _at(shapes, at, dim)
        if there is not None and there != expected and (there.isdecimal() or not there):
            return False
    return seen


def _at(shapes: Sequence[tuple[str, ...] | None], position: int, dim: int) -> str | None:
    """Return a printed size, an empty text for a dimension that the shape lacks, None if not printed."""
    shape = shapes[position] if position < len(shapes) else None
    if shape is None:
        return None
    return shape[dim] if dim < len(shape) else ""
