"""What records say of inputs: announced size symbols, and sources in the order in which they were described."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.names.graph_inputs import dims
from aoti_logs.code.names.testimony import Testimony, WrapperInputs
from aoti_logs.explain import Confidence
from aoti_logs.parse.graphs.graph_head import mangled
from aoti_logs.parse.sizes.origin import input_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from aoti_logs.code.model import Size
    from aoti_logs.parse.facts import Graph, SourceName, Symbol
    from aoti_logs.parse.sizes.origin import Origin
    from aoti_logs.sources.source import Place

    _Held = dict[str, set[str]]
    """Names of the inputs that have a symbol among their sizes."""

Key = tuple[int, str | None]
"""What graphs and records of one compile have in common (`testimony.compile_of`)."""


class Told:
    """The records of some compiles; each index over them is built when first needed.

    Args:
        symbols: announced size symbols.
        source_names: described inputs.
    """

    def __init__(self, symbols: Sequence[Symbol], source_names: Sequence[SourceName]) -> None:
        self._symbols = symbols
        self._source_names = source_names

    @cached_property
    def sizes(self) -> AnnouncedSizes:
        """Names by announced symbols."""
        return AnnouncedSizes(self._symbols)

    @cached_property
    def described(self) -> DescribedInputs:
        """Names by the order of description."""
        return DescribedInputs(self._source_names, self._symbols)

    @cached_property
    def origins(self) -> dict[str, str]:
        """The readable name of each name that Dynamo makes of a source, where only one is known."""
        found: dict[str, set[str]] = defaultdict(set)
        for origin in {s.origin for s in self._source_names} | {
            s.origin.partition(".size()")[0] for s in self._symbols
        }:
            known = input_of(origin)
            if known is not None:
                found[mangled(origin)].add(known.name)
        return {key: next(iter(names)) for key, names in found.items() if len(names) == 1}


class AnnouncedSizes:
    """Names by the announcement of size symbols.

    Joins `s70 = arg0_1_size[0]` with `create_symbol s70 ... for L['table'].size()[0]`. Inputs that share
    a Dim share one symbol in the end, announced for any of them: such a symbol names no input. Where no
    graph of that compile shows who uses it, the name is only likely.

    Args:
        symbols: announced size symbols, of any compile.
    """

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._groups: dict[Key, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
        for symbol in symbols:
            if not symbol.duck:
                self._groups[id(symbol.source), symbol.compile_id][symbol.symbol].append(symbol)
        self._announcing: dict[str, list[Key]] = defaultdict(list)
        for key, group in self._groups.items():
            for name in group:
                self._announcing[name].append(key)

    def testimonies(self, wrapper: WrapperInputs, held: Callable[[Key], _Held]) -> Iterator[Testimony]:
        """Yield what each compile that announced all of the wrapper's symbols says, in their order.

        Args:
            wrapper: what the wrapper itself says.
            held: which inputs have a symbol among their sizes, in the graphs of a compile (`holders`).
        """
        if not wrapper.symbols:
            return
        numbers = {i.name for i in wrapper.inputs}
        sizes = _first(wrapper.sizes)
        rarest = min(wrapper.symbols, key=lambda s: len(self._announcing.get(s, ())))
        for key in self._announcing.get(rarest, ()):
            if wrapper.symbols <= self._groups[key].keys():
                told = self._told(key, sizes, numbers, held(key), wrapper.given)
                if told is not None:
                    yield told

    def _told(
        self, key: Key, sizes: list[Size], numbers: set[str], known: _Held, given: AbstractSet[str]
    ) -> Testimony | None:
        by_name = self._groups[key]
        names: dict[str, tuple[str, Place]] = {}
        contradicts = False
        for size in sizes:
            told = {(s.input_name, s.dim, s.stride): s for s in by_name.get(size.symbol, ())}
            if len(told) != 1:
                continue
            [symbol] = told.values()
            if symbol.input_name is None:
                continue
            if size.tensor is None and size.alias_of in numbers:
                names[size.alias_of] = _number(symbol), symbol.place
            if (
                size.tensor is None
                or size.tensor not in given
                or (known and len(known.get(size.symbol, ())) > 1)
            ):
                continue
            if (symbol.dim, symbol.stride) != (size.dim, size.stride):
                # The symbol of another input with a shared Dim, or another model's symbol.
                contradicts = contradicts or symbol.dim is None
                continue
            names.setdefault(size.tensor, (symbol.input_name, symbol.place))
        if not names or contradicts or len({n for n, _ in names.values()}) != len(names):
            return None
        first = next(iter(by_name.values()))[0]
        why = "create_symbol of the size that the wrapper reads from this input"
        strength = Confidence.PROVEN if known else Confidence.LIKELY
        return Testimony(names, 2, strength, why, first.source, first.compile_id)


def holders(graphs: Iterable[Graph]) -> dict[str, set[str]]:
    """Return which inputs have a symbol among their sizes, in the graphs of one compile."""
    table: dict[str, set[str]] = {}
    for graph in graphs:
        inside: dict[str, set[str]] = defaultdict(set)
        for placeholder in graph.placeholders:
            for size in dims(placeholder.annotation) or ():
                inside[size].add(placeholder.name)
        for symbol, names in inside.items():
            # Graphs of one compile name inputs differently: the one with most of them counts.
            table[symbol] = max(table.get(symbol, set()), names, key=len)
    return table


def _number(symbol: Symbol) -> str:
    """Return a name for an input that only carries a symbol."""
    if symbol.dim is None:
        return symbol.input_name or symbol.symbol
    return f"{symbol.input_name}.{'stride()' if symbol.stride else 'shape'}[{symbol.dim}]"


def _first(sizes: Sequence[Size]) -> list[Size]:
    firsts: dict[str, Size] = {}
    for size in sizes:
        firsts.setdefault(size.symbol, size)
    return list(firsts.values())


class DescribedInputs:
    """Names by the order of `describe_source` records, when there are as many as the wrapper has tensors.

    Args:
        source_names: described inputs, of any compile.
        symbols: announced size symbols, of any compile.
    """

    def __init__(self, source_names: Sequence[SourceName], symbols: Sequence[Symbol]) -> None:
        self._announced: dict[Key, set[str]] = defaultdict(set)
        for symbol in symbols:
            self._announced[id(symbol.source), symbol.compile_id].add(symbol.symbol)
        groups: dict[Key, dict[str, SourceName]] = defaultdict(dict)
        for name in source_names:
            groups[id(name.source), name.compile_id].setdefault(name.origin, name)
        self._by_count: dict[int, list[tuple[Key, list[tuple[SourceName, Origin]]]]] = defaultdict(list)
        for key, group in groups.items():
            every = [(n, o) for n in group.values() if (o := input_of(n.origin)) is not None]
            local = [(n, o) for n, o in every if o.holder not in {"parameter", "buffer"}]
            for chosen in {len(every): every, len(local): local}.values():
                self._by_count[len(chosen)].append((key, chosen))

    def testimonies(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        """Yield what each compile with as many described inputs says, in their order."""
        if wrapper.backward:
            return
        for key, chosen in self._by_count.get(len(wrapper.tensors), ()):
            if chosen and wrapper.symbols <= self._announced.get(key, set()):
                pairs = zip(wrapper.tensors, chosen, strict=True)
                names = {i.name: (o.name, n.place) for i, (n, o) in pairs}
                first = chosen[0][0]
                why = "order of describe_source"
                yield Testimony(names, 3, Confidence.LIKELY, why, first.source, first.compile_id)
