"""Witnesses of input names: each kind of evidence, and whether it fits a wrapper."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.graph_inputs import UserInput, agrees, dims, is_scalar, listings, measures, user_input
from aoti_logs.explain import Confidence
from aoti_logs.parse.graph_head import mangled
from aoti_logs.parse.origin import input_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.model import ModelInput, Size
    from aoti_logs.parse.facts import Graph, Signature, SourceName, Symbol
    from aoti_logs.sources.source import Place, Source

_BACKED = re.compile(r"s\d+")


@dataclass(frozen=True)
class Testimony:
    """Names by generated name, each with its place, from one witness. Lower `rank` is heard first."""

    names: dict[str, tuple[str, Place]]
    rank: int
    strength: Confidence
    why: str
    source: Source
    compile_id: str | None = None


@dataclass(frozen=True)
class _Wrapper:
    inputs: tuple[ModelInput, ...]
    sizes: tuple[Size, ...]
    aoti: bool

    @property
    def tensors(self) -> tuple[ModelInput, ...]:
        return tuple(i for i in self.inputs if not i.scalar)

    @property
    def symbols(self) -> set[str]:
        return {s.symbol for s in self.sizes if _BACKED.fullmatch(s.symbol)}


def testimonies(
    inputs: Sequence[ModelInput],
    sizes: Sequence[Size],
    aoti: bool,
    graphs: Sequence[Graph],
    signatures: Sequence[Signature],
    symbols: Sequence[Symbol],
    source_names: Sequence[SourceName],
) -> list[Testimony]:
    """Return what every witness that fits the wrapper says."""
    wrapper = _Wrapper(tuple(inputs), tuple(sizes), aoti)
    if not wrapper.inputs:
        return []
    origins = _readable(symbols, source_names)
    return [
        *(_from_signatures(wrapper, graphs, signatures) if aoti else ()),
        *(_from_named_graphs(wrapper, graphs, signatures, origins) if aoti else ()),
        *_from_dynamo(wrapper, graphs, origins),
        *_from_symbols(wrapper, symbols),
        *_from_order(wrapper, source_names),
    ]


def _readable(symbols: Sequence[Symbol], source_names: Sequence[SourceName]) -> dict[str, str]:
    """Return the readable name of each name that Dynamo makes of a source, where only one is known."""
    found: dict[str, set[str]] = defaultdict(set)
    for origin in {s.origin for s in source_names} | {s.origin.partition(".size()")[0] for s in symbols}:
        known = input_of(origin)
        if known is not None:
            found[mangled(origin)].add(known.name)
    return {key: next(iter(names)) for key, names in found.items() if len(names) == 1}


def _proof(agreed: bool | None) -> Confidence | None:
    """Return the strength of a match by order: None when symbols contradict it."""
    if agreed is False:
        return None
    # Without a symbol in common, equal counts are all there is.
    return Confidence.PROVEN if agreed else Confidence.LIKELY


def _from_signatures(
    wrapper: _Wrapper, graphs: Sequence[Graph], signatures: Sequence[Signature]
) -> Iterator[Testimony]:
    shapes = _shapes_by_source(graphs)
    for signature in signatures:
        users = [i for i in signature.inputs if i.kind == "USER_INPUT" and i.argument != "constant"]
        known = shapes.get(id(signature.source), {})
        if len(users) != len(wrapper.inputs):
            # A printed block does not tell constants from tensors; the graph above it does.
            users = [i for i in users if known.get(i.name) is not None]
        if len(users) != len(wrapper.inputs):
            continue
        strength = _proof(agrees([known.get(i.name) for i in users], wrapper.inputs, wrapper.sizes))
        if strength is not None:
            pairs = zip(wrapper.inputs, users, strict=True)
            names = {i.name: (u.name, signature.place) for i, u in pairs}
            why = "order of USER_INPUT in the signature"
            yield Testimony(names, 0, strength, why, signature.source)


def _shapes_by_source(graphs: Sequence[Graph]) -> dict[int, dict[str, tuple[str, ...] | None]]:
    shapes: dict[int, dict[str, tuple[str, ...] | None]] = defaultdict(dict)
    for graph in graphs:
        for placeholder in graph.placeholders:
            shapes[id(graph.source)].setdefault(placeholder.name, measures(placeholder.annotation))
    return shapes


def _from_named_graphs(
    wrapper: _Wrapper,
    graphs: Sequence[Graph],
    signatures: Sequence[Signature],
    origins: dict[str, str],
) -> Iterator[Testimony]:
    """Graphs with the user's names (exported program, before_pre_grad_graph): inputs in the same order."""
    by_source = {id(s.source): s for s in signatures}
    for graph in graphs:
        for listing in listings(graph, by_source.get(id(graph.source))):
            if len(listing) != len(wrapper.inputs):
                continue
            strength = _proof(agrees([u.measures for u in listing], wrapper.inputs, wrapper.sizes))
            if strength is not None:
                pairs = zip(wrapper.inputs, listing, strict=True)
                yield Testimony(
                    {i.name: _named(u, origins) for i, u in pairs},
                    1,
                    strength,
                    f"order of inputs in {graph.stage or 'a graph'}",
                    graph.source,
                    graph.compile_id,
                )
            break


def _named(user: UserInput, origins: dict[str, str]) -> tuple[str, Place]:
    return origins.get(user.placeholder.name, user.name), user.placeholder.place


def _from_dynamo(wrapper: _Wrapper, graphs: Sequence[Graph], origins: dict[str, str]) -> Iterator[Testimony]:
    """Join the wrapper's names to an AOT graph, and its inputs to Dynamo's graph of the same compile."""
    wanted = {i.name for i in wrapper.inputs}
    by_compile: dict[tuple[int, str | None], list[Graph]] = defaultdict(list)
    for graph in graphs:
        if any(p.name.startswith(("L_", "G_")) for p in graph.placeholders):
            by_compile[_compile(graph)].append(graph)
    for graph in graphs:
        by_name = {p.name: p for p in graph.placeholders}
        if not wanted <= by_name.keys():
            continue
        shapes = [measures(by_name[i.name].annotation) for i in wrapper.inputs]
        agreed = agrees(shapes, wrapper.inputs, wrapper.sizes)
        if agreed is False or (agreed is None and wrapper.symbols and any(shapes)):
            continue
        for dynamo in by_compile.get(_compile(graph), ()):
            names = _through(graph, dynamo, wanted, origins)
            if names:
                strength = Confidence.PROVEN if agreed or not wrapper.symbols else Confidence.LIKELY
                why = f"{graph.stage or 'AOT graph'} and {dynamo.stage or 'Dynamo graph'}, input by input"
                yield Testimony(names, 1, strength, why, dynamo.source, dynamo.compile_id)
                break


def _compile(graph: Graph) -> tuple[int, str | None]:
    return id(graph.source.parent or graph.source), graph.compile_id


def _through(
    graph: Graph, dynamo: Graph, wanted: set[str], origins: dict[str, str]
) -> dict[str, tuple[str, Place]]:
    """Name an AOT graph's inputs after Dynamo's; nothing when their shapes contradict."""
    own, theirs = graph.placeholders, dynamo.placeholders
    indexed = [p for p in own if p.aot_index is not None]
    if not indexed and len(own) != len(theirs):
        return {}
    names: dict[str, tuple[str, Place]] = {}
    for position, placeholder in enumerate(own):
        at = placeholder.aot_index if indexed else position
        if at is None or at >= len(theirs):
            continue
        left, right = dims(placeholder.annotation), dims(theirs[at].annotation)
        if left is not None and right is not None and left != right:
            return {}
        user = user_input(theirs[at])
        if (
            placeholder.name in wanted
            and user is not None
            and (theirs[at].user_name or not is_scalar(theirs[at]))
        ):
            names[placeholder.name] = _named(user, origins)
    return names


def _from_symbols(wrapper: _Wrapper, symbols: Sequence[Symbol]) -> Iterator[Testimony]:
    """Join `s70 = arg0_1_size[0]` with `create_symbol s70 ... for L['table'].size()[0]`."""
    numbers = {i.name for i in wrapper.inputs}
    groups: dict[tuple[int, str | None], list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        if not symbol.duck:
            groups[id(symbol.source), symbol.compile_id].append(symbol)
    for announced in groups.values():
        by_name: dict[str, list[Symbol]] = defaultdict(list)
        for symbol in announced:
            by_name[symbol.symbol].append(symbol)
        if not wrapper.symbols or not wrapper.symbols <= by_name.keys():
            continue
        names: dict[str, tuple[str, Place]] = {}
        contradicts = False
        for size in _first(wrapper.sizes):
            told = {(s.input_name, s.dim, s.stride): s for s in by_name.get(size.symbol, ())}
            symbol = next(iter(told.values())) if len(told) == 1 else None
            if symbol is None or symbol.input_name is None:
                continue
            if size.tensor is None and size.alias_of in numbers:
                names[size.alias_of] = _number(symbol), symbol.place
            if size.tensor is None:
                continue
            if (symbol.dim, symbol.stride) != (size.dim, size.stride):
                # The symbol of another input with a shared Dim, or another model's symbol.
                contradicts = contradicts or symbol.dim is None
                continue
            names.setdefault(size.tensor, (symbol.input_name, symbol.place))
        if names and not contradicts and len({n for n, _ in names.values()}) == len(names):
            first = announced[0]
            why = "create_symbol of the size that the wrapper reads from this input"
            yield Testimony(names, 2, Confidence.PROVEN, why, first.source, first.compile_id)


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


def _from_order(wrapper: _Wrapper, source_names: Sequence[SourceName]) -> Iterator[Testimony]:
    """Order of `describe_source` records, when there are as many as the wrapper has tensors."""
    groups: dict[tuple[int, str | None], dict[str, SourceName]] = defaultdict(dict)
    for name in source_names:
        groups[id(name.source), name.compile_id].setdefault(name.origin, name)
    for group in groups.values():
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
