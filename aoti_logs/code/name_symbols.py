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
    from aoti_logs.sources.source import Place


def from_symbols(
    wrapper: WrapperInputs, symbols: Sequence[Symbol], graphs: Sequence[Graph]
) -> Iterator[Testimony]:
    """Join `s70 = arg0_1_size[0]` with `create_symbol s70 ... for L['table'].size()[0]`.

    Inputs that share a Dim share one symbol in the end, announced for any of them: such a symbol
    names no input. Where no graph of that compile shows who uses it, the name is only likely.
    """
    holders = _holders(graphs)
    numbers = {i.name for i in wrapper.inputs}
    groups: dict[tuple[int, str | None], list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        if not symbol.duck:
            groups[id(symbol.source), symbol.compile_id].append(symbol)
    for key, announced in groups.items():
        known = holders.get(key)
        by_name: dict[str, list[Symbol]] = defaultdict(list)
        for symbol in announced:
            by_name[symbol.symbol].append(symbol)
        if not wrapper.symbols or not wrapper.symbols <= by_name.keys():
            continue
        names: dict[str, tuple[str, Place]] = {}
        contradicts = False
        for size in _first(wrapper.sizes):
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
        if names and not contradicts and len({n for n, _ in names.values()}) == len(names):
            first = announced[0]
            why = "create_symbol of the size that the wrapper reads from this input"
            strength = Confidence.PROVEN if known else Confidence.LIKELY
            yield Testimony(names, 2, strength, why, first.source, first.compile_id)


def _holders(graphs: Sequence[Graph]) -> dict[tuple[int, str | None], dict[str, set[str]]]:
    """Return which inputs have a symbol among their sizes, by compile."""
    holders: dict[tuple[int, str | None], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for graph in graphs:
        inside: dict[str, set[str]] = defaultdict(set)
        for placeholder in graph.placeholders:
            for size in dims(placeholder.annotation) or ():
                inside[size].add(placeholder.name)
        table = holders[compile_of(graph)]
        for symbol, names in inside.items():
            # Graphs of one compile name inputs differently: the one with most of them counts.
            table[symbol] = max(table[symbol], names, key=len)
    return holders


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


def from_order(
    wrapper: WrapperInputs, source_names: Sequence[SourceName], symbols: Sequence[Symbol]
) -> Iterator[Testimony]:
    """Order of `describe_source` records, when there are as many as the wrapper has tensors."""
    announced: dict[tuple[int, str | None], set[str]] = defaultdict(set)
    for symbol in symbols:
        announced[id(symbol.source), symbol.compile_id].add(symbol.symbol)
    groups: dict[tuple[int, str | None], dict[str, SourceName]] = defaultdict(dict)
    for name in source_names:
        groups[id(name.source), name.compile_id].setdefault(name.origin, name)
    for key, group in groups.items():
        if not wrapper.symbols <= announced[key]:
            continue
        held = [(n, input_of(n.origin)) for n in group.values()]
        every = [(n, o) for n, o in held if o is not None]
        local = [(n, o) for n, o in every if o.holder not in {"parameter", "buffer"}]
        for chosen in (local, every):
            if len(chosen) == len(wrapper.tensors):
                pairs = zip(wrapper.tensors, chosen, strict=True)
                names = {i.name: (o.name, n.place) for i, (n, o) in pairs}
                first = chosen[0][0]
                why = "order of describe_source"
                yield Testimony(names, 3, Confidence.LIKELY, why, first.source, first.compile_id)
                break
