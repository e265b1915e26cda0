"""The FX graphs and signatures at hand, each text read when somebody asks for what it holds."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.names.nearness import by_nearness, compile_of_witness
from aoti_logs.parse.graphs import exported_json
from aoti_logs.parse.graphs.exported_program import signatures_in_text
from aoti_logs.parse.graphs.graph import graphs_in_text, read_graph
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.code.names.nearness import Compile
    from aoti_logs.parse.facts import Graph, Signature
    from aoti_logs.sources.source import Source


class GraphShelf:
    """Graphs, and signatures of exported programs, by the text that holds them.

    Args:
        sources: all sources; texts without graphs are passed over.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.texts = tuple(s for s in sources if s.kind in {Kind.GRAPH, Kind.LOG, Kind.JSON})
        """The texts that may hold some, in order."""
        self._read: dict[int, tuple[Graph, ...]] = {}
        self._signatures: dict[int, tuple[Signature, ...]] = {}

    def of(self, source: Source) -> tuple[Graph, ...]:
        """Return the graphs of one text, read once."""
        if id(source) not in self._read:
            self._read[id(source)] = _graphs(source)
        return self._read[id(source)]

    @cached_property
    def all(self) -> tuple[Graph, ...]:
        """Every graph, in the order of the texts."""
        return tuple(g for s in self.texts for g in self.of(s))

    def signatures_of(self, source: Source) -> tuple[Signature, ...]:
        """Return the signatures in one text, read once."""
        if id(source) not in self._signatures:
            self._signatures[id(source)] = signatures_in_text(source)
        return self._signatures[id(source)]

    @cached_property
    def all_signatures(self) -> tuple[Signature, ...]:
        """Every signature, in the order of the texts."""
        return tuple(s for text in self.texts for s in self.signatures_of(text))

    def of_compiles(self, compiles: Iterable[tuple[Compile, ...]]) -> list[Graph]:
        """Return the graphs that some compiles recorded, those of one tuple in the order of the texts."""
        places: dict[int, None] = {}
        for together in compiles:
            places |= dict.fromkeys(sorted(p for c in together for p in self._by_compile.get(c, ())))
        return [g for place in places for g in self.of(self.texts[place])]

    @cached_property
    def _by_compile(self) -> dict[Compile, list[int]]:
        found: dict[Compile, list[int]] = defaultdict(list)
        for place, source in enumerate(self.texts):
            found[compile_of_witness(source, source.compile_id)].append(place)
        return dict(found)

    def by_nearness(self, copies: Sequence[str]) -> Iterator[tuple[list[Graph], bool]]:
        """Yield the graphs in groups, nearest to a wrapper first, each group read when it is its turn.

        The flag tells whether the group can be about the wrapper.
        """
        for texts, own in by_nearness(map(_Text, self.texts), copies):
            yield [g for t in texts for g in self.of(t.source)], own


class _Text:
    """A text as a witness: what it holds has the compile id of its record."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.compile_id = source.compile_id


def _graphs(source: Source) -> tuple[Graph, ...]:
    if source.kind is Kind.GRAPH:
        return graphs_in_text(source) or (read_graph(source),)
    if source.kind is Kind.LOG:
        return graphs_in_text(source)
    graph = exported_json.graph(source)
    return () if graph is None else (graph,)
