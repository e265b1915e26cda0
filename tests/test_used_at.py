"""The user's own line, where a graph names a line of torch only."""

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.names.used_at import used_at
from aoti_logs.parse.facts import GraphNode
from aoti_logs.parse.graphs.graph import read_graph
from aoti_logs.sources.source import Kind, Place, Source

_SPARSE = "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/sparse.py"
# torch 2.11, fixtures/gpu_position_beyond_table, cut
_GRAPH = f"""class GraphModule(torch.nn.Module):
    def forward(self, tokens: "i64[s23]", weight: "f32[10, 4]", table: "f32[10, 4]"):
        # File: {_SPARSE}:189 in forward, code: return F.embedding(
        embedding: "f32[s23, 4]" = torch.ops.aten.embedding.default(weight, tokens);  weight = None
        embedding_1: "f32[s23, 4]" = torch.ops.aten.embedding.default(table, tokens);  table = tokens = None
        # File: {_SPARSE}:190 in forward, code: input,
        clone: "f32[s23, 4]" = torch.ops.aten.clone.default(embedding_1);  embedding_1 = None
        # File: /srv/demo/models.py:112 in forward, code: return self.tokens(tokens) + self.positions(where)
        add: "f32[s23, 4]" = torch.ops.aten.add.Tensor(embedding, clone);  embedding = clone = None
        return (add,)
"""


def _nodes(text: str = _GRAPH) -> tuple[GraphNode, ...]:
    return read_graph(Source("graph.txt", Kind.GRAPH, text.encode)).nodes


def test_the_line_that_reads_the_result_is_named():
    nodes = _nodes()
    found = used_at(nodes, nodes[0])
    assert found is not None
    assert (found.name, found.file, found.line) == ("add", "/srv/demo/models.py", 112)


def test_a_result_is_followed_through_other_lines_of_a_library():
    nodes = _nodes()
    found = used_at(nodes, nodes[1])
    assert found is not None
    assert found.name == "add"


def test_a_result_that_only_a_library_reads_has_no_line():
    nodes = _nodes(_GRAPH.replace("/srv/demo/models.py", _SPARSE))
    assert used_at(nodes, nodes[0]) is None


def test_a_line_that_reads_something_else_is_not_named():
    nodes = _nodes(_GRAPH.replace("Tensor(embedding, clone)", "Tensor(clone, clone)"))
    assert used_at(nodes, nodes[0]) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.lists(st.integers(0, 5), max_size=3), st.booleans()), max_size=12
    )
)
def test_what_is_named_comes_later_and_is_no_library(drawn):
    place = Place("graph.txt", 1, 1)
    nodes = [
        GraphNode(
            f"n{name}",
            "op",
            tuple(f"n{a}" for a in args),
            _SPARSE if lib else "/srv/a.py",
            1,
            None,
            None,
            place,
        )
        for name, args, lib in drawn
    ]
    for at, node in enumerate(nodes):
        found = used_at(nodes, node)
        assert found is None or (found.file == "/srv/a.py" and any(found is n for n in nodes[at + 1 :]))
