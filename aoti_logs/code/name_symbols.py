"""Names of inputs by the announcement of their size symbols, and by the order of description."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aoti_logs.code.graph_inputs import dims
from aoti_logs.code.testimony import Testimony, WrapperInputs, compile_of
from aoti_logs.explain import Confidence
from aoti_logs.parse.origin import input_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.model import Size
    from aoti_logs.parse.facts import Graph, SourceName, Symbol
    from aoti_logs.parse.origin import Origin
    from aoti_logs.sources.source import Place


_Compile = tuple[int, str | None]


class AnnouncedSizes:
    """Names by the announcement of size symbols.

    Joins `s70 = arg0_1_size[0]` with `create_symbol s70 ... for L['table'].size()[0]`. Inputs that share
    a Dim share one symbol in the end, announced for any of them: such a symbol names no input. Where no
    graph of that compile shows who uses it, the name is only likely.

    Args:
        symbols: announced size symbols, of any compile.
        graphs: graphs of any compile.
    """

    def __init__(self, symbols: Sequence[Symbol], graphs: Sequence[Graph]) -> None:
        self._groups: dict[_Compile, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
        for symbol in symbols:
            if not symbol.duck:
                self._groups[id(symbol.source), symbol.compile_id][symbol.symbol].append(symbol)
        self._announcing: dict[str, list[_Compile]] = defaultdict(list)
        for key, group in self._groups.items():
            for name in group:
                self._announcing[name].append(key)
        self._graphs: dict[_Compile, list[Graph]] = defaultdict(list)
        for graph in graphs:
            self._graphs[compile_of(graph)].append(graph)
        self._held: dict[_Compile, dict[str, set[str]]] = {}

    def testimonies(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        """Yield what each compile that announced all of the wrapper's symbols says, in their order."""
        if not wrapper.symbols:
            return
        numbers = {i.name for i in wrapper.inputs}
        sizes = _first(wrapper.sizes)
        rarest = min(wrapper.symbols, key=lambda s: len(self._announcing.get(s, ())))
        for key in self._announcing.get(rarest, ()):
            if wrapper.symbols <= self._groups[key].keys():
                told = self._told(key, sizes, numbers)
                if told is not None:
                    yield told

    def _told(self, key: _Compile, sizes: list[Size], numbers: set[str]) -> Testimony | None:
        by_name, known = self._groups[key], self._holders(key)
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
            if size.tensor is None or (known and len(known.get(size.symbol, ())) > 1):
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

    def _holders(self, key: _Compile) -> dict[str, set[str]]:
        """Return which inputs have a symbol among their sizes, in the graphs of one compile."""
        if key not in self._held:
            table: dict[str, set[str]] = {}
            for graph in self._graphs.get(key, ()):
                inside: dict[str, set[str]] = defaultdict(set)
                for placeholder in graph.placeholders:
                    for size in dims(placeholder.annotation) or ():
                        inside[size].add(placeholder.name)
                for symbol, names in inside.items():
                    # Graphs of one compile name inputs differently: the one with most of them counts.
                    table[symbol] = max(table.get(symbol, set()), names, key=len)
            self._held[key] = table
        return self._held[key]


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
        self._announced: dict[_Compile, set[str]] = defaultdict(set)
        for symbol in symbols:
            self._announced[id(symbol.source), symbol.compile_id].add(symbol.symbol)
        groups: dict[_Compile, dict[str, SourceName]] = defaultdict(dict)
        for name in source_names:
            groups[id(name.source), name.compile_id].setdefault(name.origin, name)
        self._by_count: dict[int, list[tuple[_Compile, list[tuple[SourceName, Origin]]]]] = defaultdict(list)
        for key, group in groups.items():
            every = [(n, o) for n in group.values() if (o := input_of(n.origin)) is not None]
            local = [(n, o) for n, o in every if o.holder not in {"parameter", "buffer"}]
            for chosen in {len(every): every, len(local): local}.values():
                self._by_count[len(chosen)].append((key, chosen))

    def testimonies(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        """Yield what each compile with as many described inputs says, in their order."""
        for key, chosen in self._by_count.get(len(wrapper.tensors), ()):
            if chosen and wrapper.symbols <= self._announced.get(key, set()):
                pairs = zip(wrapper.tensors, chosen, strict=True)
                names = {i.name: (o.name, n.place) for i, (n, o) in pairs}
                first = chosen[0][0]
                why = "order of describe_source"
                yield Testimony(names, 3, Confidence.LIKELY, why, first.source, first.compile_id)
