"""Where a user's line uses what a node in a library's line made.

`self.emb(ids)` is a node in the line of `torch/nn/modules/sparse.py` that calls `F.embedding`: graphs of
torch 2.9 and later name the innermost line only. The user's own line is then that of a node that reads the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.python.stack_text import is_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.facts import GraphNode

_MOST = 200


def used_at(nodes: Sequence[GraphNode], made: GraphNode) -> GraphNode | None:
    """Return the first node in a line outside of libraries that reads what a node made, if need be through others.

    Args:
        nodes: the nodes of its graph, in order.
        made: a node in a library's line.
    """
    reached = {made.name}
    for node in nodes[_after(nodes, made) :]:
        if len(reached) > _MOST:
            return None
        if reached.isdisjoint(node.args):
            continue
        if node.file and node.line is not None and not is_library(node.file):
            return node
        reached.add(node.name)
    return None


def _after(nodes: Sequence[GraphNode], made: GraphNode) -> int:
    return next((at + 1 for at, node in enumerate(nodes) if node is made), len(nodes))
