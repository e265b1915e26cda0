"""Witnesses of input names: each kind of evidence, and whether it fits a wrapper."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aoti_logs.code.graph_inputs import UserInput, is_scalar, listings, measures, user_input
from aoti_logs.code.name_symbols import from_order, from_symbols
from aoti_logs.code.testimony import Testimony, WrapperInputs, compile_of, proof
from aoti_logs.parse.exported_json import graph as saved_graph
from aoti_logs.parse.graph_head import mangled
from aoti_logs.parse.origin import input_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.model import InputCheck, ModelInput, Size
    from aoti_logs.parse.facts import Graph, Signature, SourceName, Symbol
    from aoti_logs.sources.source import Place


def testimonies(
    inputs: Sequence[ModelInput],
    sizes: Sequence[Size],
    aoti: bool,
    graphs: Sequence[Graph],
    signatures: Sequence[Signature],
    symbols: Sequence[Symbol],
    source_names: Sequence[SourceName],
    checks: Sequence[InputCheck] = (),
) -> list[Testimony]:
    """Return what every witness that fits the wrapper says."""
    wrapper = WrapperInputs(tuple(inputs), tuple(sizes), tuple(checks))
    if not wrapper.inputs:
        return []
    origins = _readable(symbols, source_names)
    programs = programs_of(graphs, signatures) if aoti else []
    return [
        *_from_signatures(wrapper, programs),
        *(_from_named_graphs(wrapper, graphs, programs, origins) if aoti else ()),
        *_from_dynamo(wrapper, graphs, origins),
        *from_symbols(wrapper, symbols, graphs),
        *from_order(wrapper, source_names, symbols),
    ]


def _readable(symbols: Sequence[Symbol], source_names: Sequence[SourceName]) -> dict[str, str]:
    """Return the readable name of each name that Dynamo makes of a source, where only one is known."""
    found: dict[str, set[str]] = defaultdict(set)
    for origin in {s.origin for s in source_names} | {s.origin.partition(".size()")[0] for s in symbols}:
        known = input_of(origin)
        if known is not None:
            found[mangled(origin)].add(known.name)
    return {key: next(iter(names)) for key, names in found.items() if len(names) == 1}


def _from_signatures(
    wrapper: WrapperInputs, programs: Sequence[tuple[Graph | None, Signature]]
) -> Iterator[Testimony]:
    for graph, signature in programs:
        users = [i for i in signature.inputs if i.kind == "USER_INPUT" and i.argument != "constant"]
        known = {p.name: measures(p.annotation) for p in graph.placeholders} if graph else {}
        if len(users) != len(wrapper.inputs):
            # A printed block does not tell constants from tensors; the graph above it does.
            users = [i for i in users if known.get(i.name) is not None]
        if len(users) != len(wrapper.inputs):
            continue
        strength = proof(wrapper, [known.get(i.name) for i in users])
        if strength is not None:
            pairs = zip(wrapper.inputs, users, strict=True)
            names = {i.name: (u.name, signature.place) for i, u in pairs}
            why = "order of USER_INPUT in the signature"
            yield Testimony(names, 0, strength, why, signature.source)


def programs_of(
    graphs: Sequence[Graph], signatures: Sequence[Signature]
) -> list[tuple[Graph | None, Signature]]:
    """Pair each signature with the graph of its program: the last one above it in the same source."""
    pairs: list[tuple[Graph | None, Signature]] = []
    for signature in signatures:
        above = [
            g
            for g in graphs
            if g.source is signature.source
            and g.placeholders
            and g.placeholders[0].place.line <= signature.place.line
        ]
        own = max(above, key=lambda g: g.placeholders[0].place.line, default=None)
        pairs.append((own or saved_graph(signature.source), signature))
    return pairs


def _from_named_graphs(
    wrapper: WrapperInputs,
    graphs: Sequence[Graph],
    programs: Sequence[tuple[Graph | None, Signature]],
    origins: dict[str, str],
) -> Iterator[Testimony]:
    """Graphs with the user's names (exported program, before_pre_grad_graph): inputs in the same order."""
    signatures = {id(graph): signature for graph, signature in programs}
    for graph in graphs:
        for listing in listings(graph, signatures.get(id(graph))):
            if len(listing) != len(wrapper.inputs):
                continue
            strength = proof(wrapper, [u.measures for u in listing])
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


def _from_dynamo(
    wrapper: WrapperInputs, graphs: Sequence[Graph], origins: dict[str, str]
) -> Iterator[Testimony]:
    """Join the wrapper's names to an AOT graph, and its inputs to Dynamo's graph of the same compile."""
    wanted = {i.name for i in wrapper.inputs}
    by_compile: dict[tuple[int, str | None], list[Graph]] = defaultdict(list)
    for graph in graphs:
        if any(p.name.startswith(("L_", "G_")) for p in graph.placeholders):
            by_compile[compile_of(graph)].append(graph)
    for graph in graphs:
        by_name = {p.name: p for p in graph.placeholders}
        if not wanted <= by_name.keys():
            continue
        shapes = [measures(by_name[i.name].annotation) for i in wrapper.inputs]
        strength = proof(wrapper, shapes)
        if strength is None:
            continue
        for dynamo in by_compile.get(compile_of(graph), ()):
            names = _through(graph, dynamo, wanted, origins)
            if names:
                why = f"{graph.stage or 'AOT graph'} and {dynamo.stage or 'Dynamo graph'}, input by input"
                yield Testimony(names, 1, strength, why, dynamo.source, dynamo.compile_id)
                break


def _through(
    graph: Graph, dynamo: Graph, wanted: set[str], origins: dict[str, str]
) -> dict[str, tuple[str, Place]]:
    """Name an AOT graph's inputs after Dynamo's; nothing when their shapes contradict."""
    own, theirs = graph.placeholders, dynamo.placeholders
    indexed = [p for p in own if p.aot_index is not None]
    # Until torch 2.5, AOTAutograd put the weights that it lifted before the inputs of Dynamo's graph.
    weights = len(own) - len(theirs)
    if not indexed and weights < 0:
        return {}
    names: dict[str, tuple[str, Place]] = {}
    for position, placeholder in enumerate(own):
        at = placeholder.aot_index if indexed else position - weights
        if at is None or not 0 <= at < len(theirs):
            continue
        left, right = measures(placeholder.annotation), measures(theirs[at].annotation)
        if left is not None and right is not None and _differ(left, right):
            return {}
        user = user_input(theirs[at])
        if (
            placeholder.name in wanted
            and user is not None
            and (theirs[at].user_name or not is_scalar(theirs[at]))
        ):
            names[placeholder.name] = _named(user, origins)
    return names


def _differ(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Tell shapes that cannot be of one tensor; a symbol may have been replaced between two graphs."""
    pairs = zip(left, right, strict=False)
    return len(left) != len(right) or any(a != b and a.isdecimal() and b.isdecimal() for a, b in pairs)
