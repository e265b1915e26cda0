"""Witnesses of input names: each kind of evidence, and whether it fits a wrapper."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.names.graph_inputs import UserInput, is_scalar, listings, measures, user_input
from aoti_logs.code.names.name_symbols import holders
from aoti_logs.code.names.testimony import Testimony, WrapperInputs, compile_of, proof
from aoti_logs.parse.graphs.exported_json import graph as saved_graph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.names.name_symbols import Key, Told
    from aoti_logs.explain import Confidence
    from aoti_logs.parse.facts import Graph, Signature
    from aoti_logs.sources.source import Place

    _Joined = tuple[dict[str, tuple[str, Place]], Confidence, Graph]
_Measures = list[tuple[str, ...] | None]


class Bench:
    """Witnesses of any model, so indexed that a wrapper only meets those that may be about it.

    Each index is built when a wrapper first needs it: a trace holds thousands of compiles, and a
    wrapper's own names most inputs.

    Args:
        graphs: printed graphs.
        signatures: signatures of exported programs.
        told: records.
        spellings: the records that tell how a name that Dynamo made is readable, if not the same.
    """

    def __init__(
        self,
        graphs: Sequence[Graph],
        signatures: Sequence[Signature],
        told: Told,
        spellings: Told | None = None,
    ) -> None:
        self._graphs = graphs
        self._signatures = signatures
        self._told = told
        self._spellings = spellings or told
        self._held: dict[Key, dict[str, set[str]]] = {}

    def testimonies(self, wrapper: WrapperInputs, *, aoti: bool) -> list[Testimony]:
        """Return what every witness that fits the wrapper says."""
        if not wrapper.inputs:
            return []
        return [
            *(self._from_signatures(wrapper) if aoti else ()),
            *(self._from_named_graphs(wrapper) if aoti else ()),
            *self._from_dynamo(wrapper),
            *self._told.sizes.testimonies(wrapper, self._holders),
            *self._told.described.testimonies(wrapper),
        ]

    @cached_property
    def _by_compile(self) -> dict[Key, list[Graph]]:
        found: dict[Key, list[Graph]] = defaultdict(list)
        for graph in self._graphs:
            found[compile_of(graph)].append(graph)
        return dict(found)

    def _holders(self, key: Key) -> dict[str, set[str]]:
        if key not in self._held:
            self._held[key] = holders(self._by_compile.get(key, ()))
        return self._held[key]

    @cached_property
    def _programs(self) -> list[tuple[Graph | None, Signature]]:
        return programs_of(self._graphs, self._signatures)

    # ------------------------------------------------------------ signatures

    @cached_property
    def _signed(self) -> dict[int, list[tuple[Signature, list[str], _Measures]]]:
        """Signatures with the names and sizes of their users' inputs, by the number of them."""
        found: dict[int, list[tuple[Signature, list[str], _Measures]]] = defaultdict(list)
        for graph, signature in self._programs:
            users = [i.name for i in signature.inputs if i.kind == "USER_INPUT" and i.argument != "constant"]
            known = {p.name: measures(p.annotation) for p in graph.placeholders} if graph else {}
            # A printed block does not tell constants from tensors; the graph above it does.
            tensors = [i for i in users if known.get(i) is not None]
            for chosen in {len(tensors): tensors, len(users): users}.values():
                found[len(chosen)].append((signature, chosen, [known.get(i) for i in chosen]))
        return found

    def _from_signatures(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        for signature, users, sizes in self._signed.get(len(wrapper.inputs), ()):
            strength = proof(wrapper, sizes)
            if strength is not None:
                pairs = zip(wrapper.inputs, users, strict=True)
                names = {i.name: (user, signature.place) for i, user in pairs}
                why = "order of USER_INPUT in the signature"
                told = _measured(wrapper, sizes)
                yield Testimony(names, 0, strength, why, signature.source, measures=told)

    # ------------------------------------------------------------ graphs

    @cached_property
    def _listed(self) -> dict[int, list[tuple[Graph, tuple[UserInput, ...], _Measures]]]:
        """Graphs with the user's names, by the number of inputs; of one number the first listing counts."""
        found: dict[int, list[tuple[Graph, tuple[UserInput, ...], _Measures]]] = defaultdict(list)
        signatures = {id(graph): signature for graph, signature in self._programs}
        for graph in self._graphs:
            by_count: dict[int, tuple[UserInput, ...]] = {}
            for listing in listings(graph, signatures.get(id(graph))):
                by_count.setdefault(len(listing), listing)
            for count, listing in by_count.items():
                found[count].append((graph, listing, [u.measures for u in listing]))
        return found

    def _from_named_graphs(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        """Graphs with the user's names (exported program, before_pre_grad_graph): inputs in the same order."""
        for graph, listing, sizes in self._listed.get(len(wrapper.inputs), ()):
            strength = proof(wrapper, sizes)
            if strength is not None:
                pairs = zip(wrapper.inputs, listing, strict=True)
                yield Testimony(
                    {i.name: _named(graph, u, self._spellings.origins) for i, u in pairs},
                    1,
                    strength,
                    f"order of inputs in {graph.stage or 'a graph'}",
                    graph.source,
                    graph.compile_id,
                    _measured(wrapper, sizes),
                )

    @cached_property
    def _of_dynamo(self) -> dict[Key, list[Graph]]:
        """Dynamo's graphs by compile."""
        found: dict[Key, list[Graph]] = defaultdict(list)
        for graph in self._graphs:
            if graph.placeholders.of_dynamo:
                found[compile_of(graph)].append(graph)
        return dict(found)

    @cached_property
    def _alike(self) -> dict[tuple[int, Key], list[int]]:
        """Numbers of the graphs of one compile that share their inputs, where Dynamo's graph is at hand."""
        found: dict[tuple[int, Key], list[int]] = defaultdict(list)
        for number, graph in enumerate(self._graphs):
            compiled = compile_of(graph)
            if compiled in self._of_dynamo:
                found[id(graph.placeholders), compiled].append(number)
        return found

    @cached_property
    def _holding(self) -> dict[str, list[list[int]]]:
        """The same by the names of their inputs."""
        found: dict[str, list[list[int]]] = defaultdict(list)
        for numbers in self._alike.values():
            for name in self._graphs[numbers[0]].placeholders.by_name:
                found[name].append(numbers)
        return found

    def _from_dynamo(self, wrapper: WrapperInputs) -> Iterator[Testimony]:
        """Join the wrapper's names to an AOT graph, and its inputs to Dynamo's graph of the same compile."""
        # A backward graph's `primals_4` is that of the forward graph, which has Dynamo's inputs in order.
        wrapper = wrapper.of_caller
        wanted = {i.name for i in wrapper.inputs}
        if not wanted:
            return
        told: dict[int, _Joined] = {}
        for numbers in min((self._holding.get(name, []) for name in wanted), key=len):
            found = self._joined(wrapper, wanted, self._graphs[numbers[0]])
            if found is not None:
                told.update(dict.fromkeys(numbers, found))
        for number, (names, strength, dynamo) in sorted(told.items(), key=lambda t: t[0]):
            stage = self._graphs[number].stage
            why = f"{stage or 'AOT graph'} and {dynamo.stage or 'Dynamo graph'}, input by input"
            own = self._graphs[number].placeholders.by_name
            told_sizes = _measured(wrapper, [measures(own[i.name].annotation) for i in wrapper.inputs])
            yield Testimony(names, 1, strength, why, dynamo.source, dynamo.compile_id, told_sizes)

    def _joined(self, wrapper: WrapperInputs, wanted: set[str], graph: Graph) -> _Joined | None:
        by_name = graph.placeholders.by_name
        if not wanted <= by_name.keys():
            return None
        strength = proof(wrapper, [measures(by_name[i.name].annotation) for i in wrapper.inputs])
        if strength is None:
            return None
        for dynamo in self._of_dynamo[compile_of(graph)]:
            names = _through(graph, dynamo, wanted, self._spellings.origins)
            if names:
                return names, strength, dynamo
        return None


def programs_of(
    graphs: Sequence[Graph], signatures: Sequence[Signature]
) -> list[tuple[Graph | None, Signature]]:
    """Pair each signature with the graph of its program: the last one above it in the same source."""
    signed = {id(signature.source) for signature in signatures}
    printed: dict[int, list[Graph]] = defaultdict(list)
    for graph in graphs if signed else ():
        if graph.placeholders and id(graph.source) in signed:
            printed[id(graph.source)].append(graph)
    pairs: list[tuple[Graph | None, Signature]] = []
    for signature in signatures:
        above = [
            g
            for g in printed.get(id(signature.source), ())
            if g.place_of(g.placeholders[0]).line <= signature.place.line
        ]
        own = max(above, key=lambda g: g.place_of(g.placeholders[0]).line, default=None)
        pairs.append((own or saved_graph(signature.source), signature))
    return pairs


def _measured(wrapper: WrapperInputs, sizes: _Measures) -> dict[str, tuple[str, ...]]:
    pairs = zip(wrapper.inputs, sizes, strict=True)
    return {i.name: shape for i, shape in pairs if shape is not None}


def _named(graph: Graph, user: UserInput, origins: dict[str, str]) -> tuple[str, Place]:
    return origins.get(user.placeholder.name, user.name), graph.place_of(user.placeholder)


def _through(
    graph: Graph, dynamo: Graph, wanted: set[str], origins: dict[str, str]
) -> dict[str, tuple[str, Place]]:
    """Name an AOT graph's inputs after Dynamo's; nothing when their shapes contradict."""
    own, theirs = graph.placeholders, dynamo.placeholders
    indexed = [p for p in own if p.aot_index is not None]
    # Until torch 2.5, AOTAutograd put the weights that it lifted before the inputs of Dynamo's graph.
    weights = len(own) - len(theirs)
    backward = any(p.name.startswith("tangents_") for p in own)
    if not indexed and (weights < 0 or backward):
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
            names[placeholder.name] = _named(dynamo, user, origins)
    return names


def _differ(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Tell shapes that cannot be of one tensor; a symbol may have been replaced between two graphs."""
    pairs = zip(left, right, strict=False)
    return len(left) != len(right) or any(a != b and a.isdecimal() and b.isdecimal() for a, b in pairs)
