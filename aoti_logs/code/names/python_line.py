"""Which line of the user's Python made the failing index operation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.code.names.nearness import by_nearness
from aoti_logs.code.names.used_at import used_at
from aoti_logs.explain import Confidence, weakest
from aoti_logs.parse.python.stack_text import frames_of_stack, is_library

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aoti_logs.code.index.case_parts import Indexed, IndexSource
    from aoti_logs.code.model import Launch
    from aoti_logs.code.names.graph_shelf import GraphShelf
    from aoti_logs.parse.facts import Graph, GraphNode, KernelOrigin
    from aoti_logs.sources.source import Place

_INDEXING = re.compile(
    r"(?:^|[.:_])(?:index|embedding|gather|scatter|index_put|index_add|index_select|index_copy|take|"
    r"masked_select|_unsafe_index|_unsafe_index_put|embedding_bag|slice_scatter|select_scatter|nll_loss\w*|"
    r"one_hot|bincount|getitem)"
)


@dataclass(frozen=True)
class PythonLine:
    """A line of the user's program. `place` is where the evidence says so.

    `used_at` is the node in the user's own code that reads the result, where the line is a library's.
    """

    file: str
    line: int
    function: str
    code: str
    place: Place
    strength: Confidence
    why: str
    used_at: GraphNode | None = None


_Frames = frozenset[tuple[str | None, int | None]]


def python_lines(
    launch: Launch | None,
    kernel: str,
    access: tuple[Sequence[IndexSource], Sequence[Indexed]],
    evidence: tuple[Iterable[KernelOrigin], GraphShelf],
    copies: Sequence[str],
) -> tuple[PythonLine, ...]:
    """Return the lines that the failing access can come from, best first.

    A graph node that indexes the very tensor with the very index decides; else provenance gives
    all lines of the fused kernel, and those that name the tensors come first. Evidence of the
    wrapper's own compile is asked first; what only lies elsewhere never makes more than `likely`.

    Args:
        launch: the launch, for its provenance handle.
        kernel: name of the kernel.
        access: where the index comes from and what it selects from.
        evidence: provenance and graphs at hand, of any model.
        copies: names of the sources that hold the wrapper's text.
    """
    origins, graphs = evidence
    graph, nodes, fit = _nearest_nodes(graphs, access, copies)
    stacks, own_stacks = _nearest_stacks(launch, kernel, origins, copies)
    # A node may name a line of torch's own module; the stack through that line then tells the caller.
    at = {(n.file, n.line) for n in nodes}
    exact = [line for line, frames in stacks if at & frames]
    sure = Confidence.PROVEN if own_stacks else Confidence.LIKELY
    if len(exact) == 1 or len(stacks) == 1:
        # All of the kernel comes from one line; else a node of the graph has to pick the stack.
        cap = sure if len(stacks) == 1 else weakest(sure, fit)
        return (replace(exact[0] if len(exact) == 1 else stacks[0][0], strength=cap),)
    from_graph = _from_nodes(graph, nodes, fit)
    own = [p for p in from_graph if not is_library(p.file)]
    if own:
        return tuple(own)
    if stacks:
        return tuple(_ranked([line for line, _ in stacks], *access))
    return tuple(from_graph)


def _nearest_nodes(
    graphs: GraphShelf, access: tuple[Sequence[IndexSource], Sequence[Indexed]], copies: Sequence[str]
) -> tuple[Graph | None, list[GraphNode], Confidence]:
    for group, own in graphs.by_nearness(copies):
        graph, nodes, fit = _nodes(group, *access)
        if nodes:
            return graph, nodes, fit if own else weakest(fit, Confidence.LIKELY)
    return None, [], Confidence.UNKNOWN


def _nearest_stacks(
    launch: Launch | None, kernel: str, origins: Iterable[KernelOrigin], copies: Sequence[str]
) -> tuple[list[tuple[PythonLine, _Frames]], bool]:
    for group, own in by_nearness(origins, copies):
        stacks = _stacks(launch, kernel, group)
        if stacks:
            return stacks, own
    return [], False


def _words(index: Sequence[IndexSource], indexed: Sequence[Indexed]) -> tuple[set[str], set[str]]:
    """Return the names that graphs use for the indexed tensors and for the index."""
    targets: set[str] = set()
    for item in indexed:
        targets |= _spellings(item.tensor.arg, item.tensor.name)
    sources: set[str] = set()
    for source in index:
        for tensor in (source.tensor, *source.roots):
            if tensor is not None:
                sources |= _spellings(tensor.arg, tensor.name)
    return targets, sources


def _spellings(arg: str, name: str | None) -> set[str]:
    words = {arg}
    if name:
        flat = re.sub(r"\W", "_", name)
        words |= {name, flat, f"p_{flat}", f"b_{flat}", f"c_{flat}", f"L_{flat}_", f"l_{flat}_"}
    return words


def _nodes(
    graphs: Sequence[Graph], index: Sequence[IndexSource], indexed: Sequence[Indexed]
) -> tuple[Graph | None, list[GraphNode], Confidence]:
    """Return the nodes that can be the access, with the graph that tells most, and how well they fit.

    PROVEN only for a node that indexes one of the indexed tensors with something that comes from the
    very index; one of the two alone may be another access.
    """
    targets, sources = _words(index, indexed)
    best: list[GraphNode] = []
    best_graph: Graph | None = None
    fit = Confidence.UNKNOWN
    for graph in graphs:
        placeholders = {p.name for p in graph.placeholders} | {n for n, _ in graph.attributes}
        own = targets & placeholders | {n for n, path in graph.attributes if path in targets}
        own |= {p.name for p in graph.placeholders if p.user_name in targets}
        found = [n for n in graph.nodes if n.file and _INDEXING.search(n.target) and own & set(n.args)]
        both = [n for n in found if _reaches(graph, n, sources)]
        near = [n for n in graph.nodes if _indexes_with(graph, n, sources)]
        chosen, sure = (both, Confidence.PROVEN) if both else (found, Confidence.LIKELY)
        if not chosen:
            chosen, sure = near, Confidence.POSSIBLE
        if chosen and (not best or _better(sure, fit) or (sure is fit and len(chosen) < len(best))):
            best_graph, best, fit = graph, chosen, sure
    return best_graph, best, fit


def _better(one: Confidence, other: Confidence) -> bool:
    return one is not other and weakest(one, other) is other


def _indexes_with(graph: Graph, node: GraphNode, sources: set[str]) -> bool:
    """Tell an indexing node that takes the index directly; the indexed tensor is an intermediate one."""
    if not node.file or not _INDEXING.search(node.target):
        return False
    users = {p.name: p.user_name for p in graph.placeholders}
    return any(a in sources or users.get(a) in sources for a in node.args)


def _reaches(graph: Graph, node: GraphNode, sources: set[str]) -> bool:
    by_name = {n.name: n for n in graph.nodes}
    users = {p.name: p.user_name for p in graph.placeholders}
    todo = list(node.args)
    seen: set[str] = set()
    while todo and len(seen) < 2000:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in sources or users.get(name) in sources:
            return True
        if name in by_name:
            todo.extend(by_name[name].args)
    return False


def _from_nodes(graph: Graph | None, nodes: Sequence[GraphNode], fit: Confidence) -> list[PythonLine]:
    lines: dict[tuple[str, int], PythonLine] = {}
    strength = fit if len({(n.file, n.line) for n in nodes}) == 1 else Confidence.POSSIBLE
    for node in nodes:
        if node.file is None or node.line is None:
            continue
        lines.setdefault(
            (node.file, node.line),
            PythonLine(
                node.file, node.line, node.function or "", node.code or "", node.place, strength,
                f"node {node.name} = {node.target}",
                used_at(graph.nodes, node) if graph is not None and is_library(node.file) else None,
            ),
        )  # fmt: skip
    return list(lines.values())


def _stacks(
    launch: Launch | None, kernel: str, origins: Iterable[KernelOrigin]
) -> list[tuple[PythonLine, _Frames]]:
    """Return the innermost line of the user's own code in each stack, with all frames of the stack."""
    texts = [
        (stack, origin.place)
        for origin in origins
        if origin.kernel == kernel and _same_handle(launch, origin)
        for stack in origin.stacks
    ]
    found: dict[tuple[str, int], tuple[PythonLine, _Frames]] = {}
    for text, place in texts:
        frames = frames_of_stack(text)
        user = [f for f in frames if not is_library(f[0])]
        for file, line, function, code in user[-1:] or frames[-1:]:
            why = f"provenance of {kernel}"
            told = PythonLine(file, line, function, code or "", place, Confidence.POSSIBLE, why)
            known = found.get((file, line))
            through = frozenset((f[0], f[1]) for f in frames) | (known[1] if known else frozenset())
            found[file, line] = (told, through)
    return list(found.values())


def _same_handle(launch: Launch | None, origin: KernelOrigin) -> bool:
    return launch is None or launch.handle is None or origin.handle in {None, launch.handle}


def _ranked(
    lines: list[PythonLine], index: Sequence[IndexSource], indexed: Sequence[Indexed]
) -> list[PythonLine]:
    targets, sources = _words(index, indexed)
    short = {w.rpartition(".")[0].rpartition(".")[2] or w for w in targets if "." in w} | targets
    wanted = {w for w in short | sources if len(w) > 1}

    def score(line: PythonLine) -> int:
        return -sum(bool(re.search(rf"\b{re.escape(w)}\b", line.code)) for w in wanted)

    return sorted(lines, key=score)
