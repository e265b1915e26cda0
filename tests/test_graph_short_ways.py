"""The short ways through printed graphs give what reading all of them gives."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.facts import Graph
from aoti_logs.parse.graphs import graph as graph_module
from aoti_logs.parse.graphs.graph import graphs_in_text
from aoti_logs.parse.graphs.graph_frame import usual_frame
from aoti_logs.parse.graphs.graph_head import _plain_head, read_any_head
from aoti_logs.sources.source import Kind, Source

HEAD_PARTS = st.sampled_from(
    [
        "self", "arg0_1", "L_x_", "def", "forward", ': "f32[s70, 8][8, 1]cuda:0"', ":", ' : "Sym(s70)"', ': ""',
        ": torch.Tensor", " : list", " : typing_Optional[torch.Tensor]", ": 'a'", ': "a\\n"', " = None", "=1.5",
        ",", ", ", "\n    ", "\r\n", "  # PlainAOTInput(idx=0)\n", "# a, b):\n", "*args", "**", ")", "):",
        " -> torch.Tensor", "(", ".", '"', "\u00e9",
    ]
)  # fmt: skip
BODY_LINES = st.sampled_from(
    [
        'mul: "f32[8]" = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None',
        'arg1_1: "f32[8]"  # PlainAOTInput(idx=0)',
        'arg1_1: "f32[8]"; arg2_1: "i64[s95]"; ',
        "arg2_1, arg0_1, = fx_pytree.tree_flatten_spec([], self._in_spec)",
        "l_x_ = L_x_",
        'w: "f32[4]" = self.emb.weight',
        "d = device(type = 'cuda:0'); y: \"f32[2]\"",
        "(z): 'f32'",
        "if x: y",
        "x: torch.Tensor",
        "x = lambda: 3;  a = b = None",
        "# File: /a.py:3 in f, code: return x",
        "# No stacktrace found for following nodes",
        "",
        "returned = arg0_1",
        "return (mul,)",
        "return (",
        "class inner(torch.nn.Module):",
        'def forward(self, arg0_1: "f32[8]"):',
        "Graph signature:",
        "buf\tx: 3",
        "caf\u00e9: \"f32\"",
        "\x0cx: 3",
        "x: \"a:b\" = y[0:3]",
    ]
)  # fmt: skip
INDENT = st.sampled_from(["        ", "    ", "", "\t", "            "])


def text_source(text: str) -> Source:
    return Source("run.log", Kind.LOG, text.encode)


def said(graphs: tuple[Graph, ...]) -> list[object]:
    return [(g.stage, g.placeholders, g.first_line, g.nodes, g.attributes, g.compile_id) for g in graphs]


@given(st.lists(HEAD_PARTS, max_size=12))
def test_a_plain_head_says_what_the_grammar_says(parts):
    for end in ("):", ""):
        text = "def forward(" + "".join(parts) + end
        plain = _plain_head(text)
        assert plain is None or plain == read_any_head(text)


def test_the_usual_heads_take_the_short_way():
    heads = [
        "def forward(self):",
        'def forward(self, arg0_1: "f32[8]", L_x_ : torch.Tensor):',
        'def forward(\n    self,\n    arg0_1: "f32[8]",  # PlainAOTInput(idx=0)\n):',
    ]
    assert all(_plain_head(head) == read_any_head(head) for head in heads)


@given(st.lists(st.tuples(INDENT, BODY_LINES), max_size=12), st.booleans())
def test_a_graph_by_its_frame_is_the_graph_read_as_a_whole(lines, crlf):
    head = 'class <lambda>(torch.nn.Module):\n    def forward(self, arg0_1: "f32[8]", L_x_: "i64[3]"):\n'
    text = head + "\n".join(indent + line for indent, line in lines)
    for ending in (
        "",
        "\n        return (mul,)",
        "\n        return (mul,)\nafter\n" + head + "        return ()\n",
    ):
        whole = text + ending
        whole = whole.replace("\n", "\r\n") if crlf else whole
        short = said(graphs_in_text(text_source(whole)))
        with mock.patch.object(graph_module, "usual_frame", lambda *_: None):
            assert short == said(graphs_in_text(text_source(whole)))


@pytest.mark.parametrize(
    "line", ['mul: "f32[8]" = a;  a = None', "l_x_ = L_x_", "# File: /a.py:3 in f, code: x: int"]
)
def test_the_usual_lines_add_no_inputs(line):
    data = f"def forward(self):\n    {line}\n    return (x,)\n".encode()
    frame = usual_frame(data, 0, 0)
    assert frame is not None
    assert frame.lines == ()
    assert frame.end == len(data)


@pytest.mark.parametrize("filler", ["return", ":", " ", "a: ", ";", "\n", "x = 1;", "return\n"])
def test_a_frame_is_looked_for_in_linear_time(filler):
    data = ("def forward(self):\n" + filler * 300_000).encode()
    usual_frame(data, 0, 0)
