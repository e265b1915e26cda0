"""The launches of a model as a graph, written as Graphviz (DOT) or Mermaid text.

Nodes are inputs, constants, launches and outputs; an edge is the tensor that one hands to the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper.argument_text import only_written
from aoti_logs.render.code_overview import TENSORS
from aoti_logs.render.safe import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import Launch
    from aoti_logs.code.view import ModelView

_LABEL = 60


@dataclass
class LaunchGraph:
    """Nodes by id with (label, shape), and edges (from, to, label); `groups` are branches with their nodes."""

    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], None] = field(default_factory=dict)
    groups: dict[tuple[str, ...], list[str]] = field(default_factory=dict)


def launch_graph(view: ModelView) -> LaunchGraph:
    """Return the graph of a model's launches."""
    graph = LaunchGraph()
    for launch in view.wrapper.launches:
        node = f"k{launch.index}"
        graph.nodes[node] = (f"{launch.index} {launch.kernel}", "kernel")
        if launch.branch:
            graph.groups.setdefault(launch.branch, []).append(node)
        for name in _read(view, launch):
            graph.edges[_origin(view, graph, name, launch.index), node, view.named(name).shown] = None
    end = len(view.wrapper.launches)
    for index, name in enumerate(view.wrapper.outputs):
        node = f"o{index}"
        graph.nodes[node] = (f"output {index}", "output")
        graph.edges[_origin(view, graph, name, end), node, view.named(name).shown] = None
    return graph


def _read(view: ModelView, launch: Launch) -> Iterator[str]:
    """Yield the tensors whose content a launch may read, each once."""
    outputs = {*launch.outputs, *only_written(view, launch)}
    seen: set[str] = set()
    for argument in launch.arguments:
        name = argument.name
        if argument.kind not in TENSORS or name is None or name in seen or name in outputs:
            continue
        seen.add(name)
        yield name


def _origin(view: ModelView, graph: LaunchGraph, name: str, before: int) -> str:
    launch = view.producer(name, before)
    if launch is not None:
        return f"k{launch.index}"
    node = f"t_{name}"
    tensor = view.named(name)
    graph.nodes.setdefault(node, (tensor.shown, str(tensor.kind)))
    return node


def as_dot(graph: LaunchGraph) -> str:
    """Write a graph in the language of Graphviz."""
    lines = ["digraph launches {", "  node [fontname=monospace, fontsize=10];"]
    shapes = {"kernel": "box", "output": "doubleoctagon", "constant": "cylinder"}
    for node, (label, kind) in graph.nodes.items():
        lines.append(
            f"  {_quoted(node)} [label={_quoted(_short(label))}, shape={shapes.get(kind, 'ellipse')}];"
        )
    for number, (branch, nodes) in enumerate(graph.groups.items()):
        inside = " ".join(f"{_quoted(n)};" for n in nodes)
        lines.append(
            f"  subgraph cluster_{number} {{ label={_quoted(_short(' > '.join(branch)))}; {inside} }}"
        )
    for start, end, label in graph.edges:
        lines.append(f"  {_quoted(start)} -> {_quoted(end)} [label={_quoted(_short(label))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = clean(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 3] + "..."


def as_mermaid(graph: LaunchGraph) -> str:
    """Write a graph in the language of Mermaid."""
    numbers = {node: f"n{number}" for number, node in enumerate(graph.nodes)}
    ends = {"kernel": ("[", "]"), "output": ("[[", "]]"), "constant": ("[(", ")]")}
    lines = ["flowchart TD"]
    for node, (label, kind) in graph.nodes.items():
        left, right = ends.get(kind, ("([", "])"))
        lines.append(f"  {numbers[node]}{left}{_mermaid(label)}{right}")
    for number, (branch, nodes) in enumerate(graph.groups.items()):
        lines.append(f"  subgraph g{number}[{_mermaid(' > '.join(branch))}]")
        lines += [f"    {numbers[node]}" for node in nodes]
        lines.append("  end")
    for start, end, label in graph.edges:
        lines.append(f"  {numbers[start]} -->|{_mermaid(label)}| {numbers[end]}")
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    # Entities are how Mermaid quotes what would end a label.
    short = _short(clean(text))
    return '"' + "".join(c if c.isalnum() or c in " _.,:()/-+*=" else f"#{ord(c)};" for c in short) + '"'
