"""One answer a size symbol: where it is measured, what else is assumed to be the same, its limits and who tests them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from aoti_logs.code.expr import names as names_in
from aoti_logs.code.model import CheckKind
from aoti_logs.code.sizes.definition import Sort, definition_text, measured_extent, sort_of, symbols_of
from aoti_logs.code.sizes.limits import contradictions, limits_of_check, limits_of_dim
from aoti_logs.parse.sizes.origin import input_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.code.model import InputCheck, Launch, Size
    from aoti_logs.code.sizes.evidence import Limit, SizeEvidence
    from aoti_logs.code.sizes.example_inputs import Example
    from aoti_logs.code.sizes.input_dims import InputDim
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Confidence
    from aoti_logs.parse.facts import Symbol
    from aoti_logs.sources.source import Place

_LONGEST_CHAIN = 50


@dataclass(frozen=True)
class Hint:
    """The example's value when the model was compiled, and where it stands."""

    value: int
    place: Place


@dataclass(frozen=True)
class SymbolFacts:
    """Everything that the code and the records at hand say of one symbol."""

    symbol: str
    sort: Sort
    definition: str | None
    """Where it gets its value (`definition_text`); None where the wrapper does not define it."""
    defined: Size | None
    root: str
    """The symbol or scalar input that it is another name of; itself where it is none."""
    aliases: tuple[str, ...]
    """All other symbols of the same value in this wrapper."""
    measured: Size | None
    """The first statement that reads it (or what it is solved from) off a tensor; None for scalars and data."""
    extent: str | None
    """What the measured dimension is in terms of the symbol: `s7`, `2*s7 + 1`."""
    scalar: str | None
    """The input that carries it as a number."""
    dims: tuple[InputDim, ...]
    """Dimensions of inputs in whose extent it stands, the measured one among them."""
    made_by: Launch | None
    """The call whose result an unbacked symbol is read from."""
    user_name: str | None
    """`lengths.size()[0]`: what the user calls what is measured."""
    strength: Confidence | None
    announced: tuple[Symbol, ...]
    hint: Hint | None
    limits: tuple[Limit, ...]
    asserts: tuple[InputCheck, ...]
    contradictions: tuple[str, ...]

    @property
    def unmeasured(self) -> tuple[InputDim, ...]:
        """Dimensions that are taken to be what the symbol says, but that the code never reads."""
        return tuple(d for d in self.dims if d.measured is None)

    @property
    def unchecked(self) -> tuple[InputDim, ...]:
        """Those of them that nothing ever compares with it."""
        return tuple(d for d in self.unmeasured if d.compared is None)


class Symbols:
    """The symbols of one wrapper.

    Args:
        view: the wrapper with its names.
        evidence: what records say of its sizes, if any are at hand.
        examples: the example inputs that it carries.
    """

    def __init__(self, view: ModelView, evidence: SizeEvidence | None, examples: dict[str, Example]) -> None:
        self._view = view
        self._evidence = evidence
        self._examples = examples
        self._known: dict[str, SymbolFacts] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All symbols that the wrapper defines, then those that only stand in sizes of its inputs."""
        defined = [s for s in self._view.sizes if sort_of(s) is not Sort.VARIABLE]
        return tuple(dict.fromkeys([*defined, *(s for d in self._view.input_dims for s in d.symbols)]))

    def __getitem__(self, symbol: str) -> SymbolFacts:
        """Return what is known of a symbol; of one that nothing mentions, that nothing is known."""
        if symbol not in self._known:
            self._known[symbol] = self._facts(symbol)
        return self._known[symbol]

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """The other names by root."""
        found: dict[str, list[str]] = {}
        for name in self._view.sizes:
            root = self.root(name)
            if root != name:
                found.setdefault(root, []).append(name)
        return found

    def root(self, symbol: str) -> str:
        """Return what a symbol is another name of in the end."""
        sizes = self._view.sizes
        seen: list[str] = []
        while symbol in sizes and symbol not in seen and len(seen) < _LONGEST_CHAIN:
            seen.append(symbol)
            alias = sizes[symbol].alias_of
            if alias is None:
                return symbol
            symbol = alias
        return seen[0] if symbol in seen else symbol

    def same(self, symbol: str) -> tuple[str, ...]:
        """Return all names of a symbol's value, its root first."""
        root = self.root(symbol)
        return tuple(dict.fromkeys([root, symbol, *self._aliases.get(root, ())]))

    def _facts(self, symbol: str) -> SymbolFacts:
        view = self._view
        defined = view.sizes.get(symbol)
        same = self.same(symbol)
        root = view.sizes.get(same[0])
        inputs = view.inputs
        scalar = next((s for s in same if s in inputs), None)
        read = self._read(root)
        measured = read if read is not None and read.dim is not None else None
        extent = None
        if measured is not None and root is not None:
            extent = symbol if measured is root else measured_extent(root.value, symbol)
        dims = _of_any(same, self._dims)
        asserts = _of_any(same, self._asserts)
        announced = self._announced(same)
        name, strength = self._user_name(read, scalar, announced)
        limits = self._limits(same, dims, asserts)
        unbacked = sort_of(symbol) is Sort.UNBACKED
        return SymbolFacts(
            symbol=symbol,
            sort=sort_of(symbol),
            definition=None if defined is None else self.definition(defined),
            defined=defined,
            root=same[0],
            aliases=tuple(s for s in same if s != symbol and sort_of(s) is not Sort.VARIABLE),
            measured=measured,
            extent=extent,
            scalar=scalar,
            dims=dims,
            made_by=self._maker(read),
            user_name=name,
            strength=strength,
            announced=announced,
            hint=None if unbacked else self._hint(measured if extent == symbol else None, scalar, announced),
            limits=limits,
            asserts=asserts,
            contradictions=contradictions(same, limits),
        )

    def definition(self, size: Size) -> str:
        """Return where a symbol gets its value, past variables that the generated code only needs on the way."""
        sizes = self._view.sizes
        for _ in range(_LONGEST_CHAIN):
            alias = size.alias_of
            if alias is None or alias not in sizes or sort_of(alias) is not Sort.VARIABLE:
                break
            size = sizes[alias]
        return definition_text(size, self._view.inputs)

    def _read(self, root: Size | None) -> Size | None:
        """Return the statement that reads a symbol off a tensor: its own, or that of the variable it is solved from."""
        if root is None or root.tensor is not None:
            return root
        sizes = self._view.sizes
        known = [n for n in names_in(root.value) if n in sizes] if root.value is not None else []
        if len(known) != 1 or sort_of(known[0]) is not Sort.VARIABLE:
            return None
        return sizes[known[0]] if sizes[known[0]].tensor is not None else None

    def _maker(self, read: Size | None) -> Launch | None:
        if read is None or read.tensor is None or read.tensor in self._view.inputs:
            return None
        return self._view.producer(read.tensor, read.at)

    @cached_property
    def _dims(self) -> dict[str, list[tuple[int, InputDim]]]:
        """Dimensions of inputs, with their numbers, by the symbols in them."""
        return _by_symbol((d.symbols, d) for d in self._view.input_dims)

    @cached_property
    def _asserts(self) -> dict[str, list[tuple[int, InputCheck]]]:
        """Assertions in the code by the symbols in them."""
        told = (c for c in self._view.wrapper.checks if c.kind is CheckKind.RUNTIME_ASSERT)
        return _by_symbol((symbols_of(c.expected), c) for c in told)

    def _announced(self, same: tuple[str, ...]) -> tuple[Symbol, ...]:
        if self._evidence is None:
            return ()
        return tuple(s for name in same for s in self._evidence.announcements(name))

    def _user_name(
        self, read: Size | None, scalar: str | None, announced: tuple[Symbol, ...]
    ) -> tuple[str | None, Confidence | None]:
        names = self._view.names
        if read is not None and read.tensor in names:
            known = names[read.tensor]
            what = "stride" if read.stride else "size"
            measure = "item()" if read.dim is None else f"{what}()[{read.dim}]"
            return f"{known.name}.{measure}", known.strength
        if scalar is None or scalar not in names:
            return None, None
        told = {_origin(s.origin) or s.origin for s in announced}
        return (told.pop() if len(told) == 1 else names[scalar].name), names[scalar].strength

    def _hint(self, measured: Size | None, scalar: str | None, announced: tuple[Symbol, ...]) -> Hint | None:
        told = {s.hint: s.place for s in announced if s.hint is not None}
        if told:
            return Hint(*told.popitem()) if len(told) == 1 else None
        place = self._view.wrapper.source.place
        if scalar is not None:
            example = self._examples.get(scalar)
            return Hint(example.value, place(example.line)) if example and example.value is not None else None
        example = self._examples.get(measured.tensor or "") if measured is not None else None
        if measured is None or measured.dim is None or example is None:
            return None
        sizes = (example.stride if measured.stride else example.shape) or ()
        return Hint(sizes[measured.dim], place(example.line)) if measured.dim < len(sizes) else None

    def _limits(
        self, same: tuple[str, ...], dims: tuple[InputDim, ...], asserts: tuple[InputCheck, ...]
    ) -> tuple[Limit, ...]:
        place = self._view.wrapper.source.place
        found: list[Limit] = []
        if self._evidence is not None:
            extents = dict.fromkeys([*same, *(d.extent for d in dims if d.extent)])
            found += [limit for extent in extents for limit in self._evidence.limits(extent)]
        found += [limit for d in dims for limit in limits_of_dim(d, place)]
        found += [limit for c in asserts for limit in limits_of_check(c, same, place)]
        # Torch writes an assertion again in other words.
        distinct = {
            (f.extent, f.told_by, f.lower, f.upper, f.told_by == "check_input" and f.text): f
            for f in reversed(found)
        }
        return tuple(reversed(distinct.values()))


T = TypeVar("T")


def _by_symbol(items: Iterable[tuple[Iterable[str], T]]) -> dict[str, list[tuple[int, T]]]:
    found: dict[str, list[tuple[int, T]]] = {}
    for number, (symbols, item) in enumerate(items):
        for symbol in symbols:
            found.setdefault(symbol, []).append((number, item))
    return found


def _of_any(names: Iterable[str], by_symbol: dict[str, list[tuple[int, T]]]) -> tuple[T, ...]:
    """Return what stands under any of some names, in order."""
    found = {number: item for name in names for number, item in by_symbol.get(name, ())}
    return tuple(item for _, item in sorted(found.items(), key=lambda f: f[0]))


def _origin(text: str) -> str | None:
    """Return `lengths.size()[0]` of a Dynamo source `L['lengths'].size()[0]`."""
    found = input_of(text)
    if found is None:
        return None
    return found.name if found.dim is None else f"{found.name}.{found.kind}()[{found.dim}]"
