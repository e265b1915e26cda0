"""FX graphs that were printed, at every stage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.graphs.graph_title import stage_of, title_of
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs._run import Run
    from aoti_logs.sources.source import Source

# A node is printed as `name: "f32[8]cpu" = target(...)`; `l_x_ = L_x_` only gives an input another name.
_NODE = re.compile(
    rb"^\t?[ \t]*[A-Za-z_]\w*(?:: \"[^\"\n]*\"| : [\w.\[\], ]{1,200})? = (?![A-Za-z_]\w*\r?$)", re.M
)


class Graphs(dy.Schema):
    """One row a graph of a trace, a log, a debug folder or a package; its text is the source `name`."""

    source = t.source()
    line = dy.Int64(nullable=False, description="Line at which it begins, from 1.")
    compile_id = t.compile_id()
    rank = dy.Int64(nullable=True, description="Rank, where known.")
    stage = dy.String(
        nullable=False,
        description="Entry, artifact or file: `dynamo_output_graph`, `aot_joint_graph`, `inductor_post_grad_graph`; what "
        "a log has is named as the same graph is in a trace.",
    )
    title = dy.String(nullable=True, description="Title above it in a log, `AFTER POST GRAD`.")
    name = dy.String(nullable=False, description="Name of the text, as `sources.name`.")
    inputs = dy.List(dy.String(), nullable=False, description="Names of its inputs in order.")
    annotations = dy.List(
        dy.String(),
        nullable=False,
        description="What is printed of each input, `f32[s77, 16][16, 1]cpu`; null where nothing is.",
    )
    n_nodes = dy.Int64(
        nullable=True,
        description="Nodes, inputs and output not counted; null where the text holds other things too.",
    )
    bytes = dy.Int64(nullable=False, description="Size of the text.")


SCHEMA = Graphs


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    alone: dict[int, int] = {}
    for graph in run.evidence.graphs:
        alone[id(graph.source)] = alone.get(id(graph.source), 0) + 1
    titles = {id(g.source): title_of(g.source) for g in run.evidence.graphs}
    backwards = {(g.source.parent, g.source.compile_id, titles[id(g.source)]) for g in run.evidence.graphs}
    for graph in run.evidence.graphs:
        s = graph.source
        title = titles[id(s)]
        partner = (title or "").replace("Forward", "Backward", 1)
        backward = partner != title and (s.parent, s.compile_id, partner) in backwards
        place = graph.place_of(graph.placeholders[0]) if graph.placeholders else s.place(1)
        yield (
            place.source, place.line, _plain(s.compile or graph.compile_id), s.rank, stage_of(title, backward) or graph.stage,
            title, s.name,
            [p.name for p in graph.placeholders], [p.annotation for p in graph.placeholders],
            _n_nodes(s) if alone[id(s)] == 1 and s.parent is not None else None, s.size,
        )  # fmt: skip


def _n_nodes(source: Source) -> int | None:
    data = bytes(source.data)
    return len(_NODE.findall(data)) if b"def forward(" in data else None


def _plain(compile_id: str | None) -> str | None:
    return None if compile_id is None else compile_id.partition("_")[0]
