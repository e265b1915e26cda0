"""The Python lines of graph nodes, found by the nodes' names or by what they call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from aoti_logs.parse.facts import Graph, GraphNode
    from aoti_logs.sources.source import Place


class NodeLine(NamedTuple):
    """A Python line as a graph tells it; `place` is where the node stands in the graph's text."""

    file: str
    line: int
    function: str
    code: str
    place: Place
    node: str
    target: str


def lines_of(graphs: Sequence[Graph], names: Collection[str]) -> tuple[NodeLine, ...]:
    """Return the lines of the nodes of these names, each line once, in the graphs' order.

    Names are those of a launch's `Topologically Sorted Source Nodes` or of provenance. Graphs of
    other models may use the same names: give only the graphs of one compile.
    """
    wanted = frozenset(names)
    return _distinct(node for graph in graphs for node in graph.nodes if node.name in wanted)


def lines_of_target(graphs: Sequence[Graph], part: str) -> tuple[NodeLine, ...]:
    """Return the lines of the nodes that call something with `part` in its dotted name (`aten.index`)."""
    dotted = f".{part.strip('.')}."
    return _distinct(node for graph in graphs for node in graph.nodes if dotted in f".{node.target}.")


def _distinct(nodes: Iterator[GraphNode]) -> tuple[NodeLine, ...]:
    found: dict[tuple[str, int, str], NodeLine] = {}
    for node in nodes:
        if node.file is not None and node.line is not None:
            line = NodeLine(
                node.file, node.line, node.function or "", node.code or "", node.place, node.name, node.target
            )
            found.setdefault((node.file, node.line, node.name), line)
    return tuple(found.values())
