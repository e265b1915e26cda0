"""Printed FX graphs, exported programs and provenance: what is read from real excerpts."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.events import LogLine
from aoti_logs.parse.graphs import exported_json
from aoti_logs.parse.graphs.exported_program import ranges_in_text, signatures_in_text
from aoti_logs.parse.graphs.graph import graphs_in_text, read_graph
from aoti_logs.parse.graphs.node_lines import lines_of, lines_of_target
from aoti_logs.parse.logs.torch_logs_code import code_in_messages
from aoti_logs.parse.sizes.symbol import symbol_from_envelope, symbols_in_messages
from aoti_logs.parse.traces.provenance import kernel_origins, node_mapping, split_key
from aoti_logs.sources.source import Kind, Place, Source, Span

# torch 2.11, printed by a script between other lines
NEW = """compiling
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_emb_weight: "f32[10, 4]", ids: "i64[s23]", table: "f32[s70, 4]"):
            # File: /opt/venv/lib/python3.11/site-packages/torch/nn/modules/sparse.py:189 in forward, code: return F.embedding(
            embedding: "f32[s23, 4]" = torch.ops.aten.embedding.default(p_emb_weight, ids);  p_emb_weight = None
    
            # File: /srv/demo/models.py:44 in forward, code: t = table[ids]
            index: "f32[s23, 4]" = torch.ops.aten.index.Tensor(table, [ids]);  table = ids = None
            add: "f32[s23, 4]" = torch.ops.aten.add.Tensor(embedding, index);  embedding = index = None
            return (add,)
    
Graph signature: 
    # inputs
    p_emb_weight: PARAMETER target='emb.weight'
    ids: USER_INPUT
    table: USER_INPUT
    
    # outputs
    add: USER_OUTPUT
    
Range constraints: {s23: VR[0, 4096], s70: VR[2, int_oo]}

done
"""  # noqa: W291, W293 the blanks are torch's

# torch 2.6: one line of signature
OLD = """ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, table: "f32[s0, 8]", idx: "i64[s1]"):
             # File: /srv/demo/scenarios.py:18 in forward, code: return table[idx] * 2.0 + 1.0
            index: "f32[s1, 8]" = torch.ops.aten.index.Tensor(table, [idx]);  table = idx = None
            return (index,)
            
Graph signature: ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='table'), target=None, persistent=None), InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='idx'), target=None, persistent=None)], output_specs=[OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=TensorArgument(name='index'), target=None)])
Range constraints: {s0: VR[0, 1048576], s1: VR[0, 9223372036854775806]}
"""  # noqa: W293 the blanks are torch's

AOT = """class <lambda>(torch.nn.Module):
    def forward(
        self,
        arg0_1: "Sym(s70)",  # PlainAOTInput(idx=0)
        arg1_1: "f32[s70, s44][s44, 1]cuda:0",  # PlainAOTInput(idx=2)
        arg2_1: "f32[8][1]cuda:0",  # ParamAOTInput(target='l.bias')
    ):
        # No stacktrace found for following nodes
        mul: "Sym(2*s70)" = arg0_1 * 2
        # File: /tmp/demo/scenarios.py:18 in forward, code: return table[idx]
        sym_size_int = torch.ops.aten.sym_size.int(arg1_1, 0)
        view: "f32[8]" = arg1_1.view(8);  arg1_1 = None
        getitem = view[0]
        return (
            view,  # PlainAOTOutput(idx=0)
        )
"""

PYTREE = """class <lambda>(torch.nn.Module):
    def forward(self):
        arg1_1: "i64[s23]"; arg3_1: "f32[s70, 4]"; 

        arg1_1, arg3_1, = fx_pytree.tree_flatten_spec([], self._in_spec)
        emb_weight: "f32[10, 4]" = self.emb.weight
        w0: "f32[4]" = getattr(self.mlp, "0").weight
        index: "f32[s33, 4]" = torch.ops.aten.index.Tensor(arg3_1, [arg1_1]);  arg3_1 = arg1_1 = None
        return (index,)
"""  # noqa: W291 the blank is torch's


def source(text: str | bytes, kind: Kind = Kind.LOG, name: str = "run.log") -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source(name, kind, lambda: data)


def test_a_program_inside_a_log_is_read_with_its_lines():
    [graph] = graphs_in_text(source(NEW))
    assert graph.stage == "exported_program"
    assert [(p.name, p.user_name) for p in graph.placeholders] == [
        ("p_emb_weight", None), ("ids", "ids"), ("table", "table")
    ]  # fmt: skip
    index = graph.nodes[1]
    assert (index.name, index.target, index.args) == (
        "index",
        "torch.ops.aten.index.Tensor",
        ("table", "ids"),
    )
    assert (index.file, index.line, index.code) == ("/srv/demo/models.py", 44, "t = table[ids]")
    assert str(index.place) == "run.log:9"
    assert graph.nodes[2].line == 44, "a header holds for the nodes below it"


def test_lines_by_node_and_by_target():
    graphs = graphs_in_text(source(NEW))
    assert [line.code for line in lines_of(graphs, {"index", "nothing"})] == ["t = table[ids]"]
    assert [line.node for line in lines_of_target(graphs, "aten.embedding")] == ["embedding"]
    assert lines_of_target(graphs, "aten.ind") == ()


def test_signature_block_of_new_torch():
    [signature] = signatures_in_text(source(NEW))
    assert [(i.name, i.kind, i.target) for i in signature.inputs] == [
        ("p_emb_weight", "PARAMETER", "emb.weight"), ("ids", "USER_INPUT", None), ("table", "USER_INPUT", None)
    ]  # fmt: skip
    assert signature.user_inputs == ("ids", "table")
    assert signature.place.line == 13


def test_signature_line_of_old_torch():
    [signature] = signatures_in_text(source(OLD))
    assert signature.user_inputs == ("table", "idx")
    assert {i.argument for i in signature.inputs} == {"tensor"}


def test_ranges_with_every_infinity():
    assert [(r.symbol, r.lower, r.upper) for r in ranges_in_text(source(NEW))] == [
        ("s23", 0, 4096), ("s70", 2, None)
    ]  # fmt: skip
    assert [(r.symbol, r.upper) for r in ranges_in_text(source(OLD))] == [("s0", 1048576), ("s1", None)]


def test_aot_graph_names_its_inputs_descriptors():
    graph = read_graph(source(AOT), "aot_inference_graph", "0/0")
    assert (graph.stage, graph.compile_id) == ("aot_inference_graph", "0/0")
    assert [(p.name, p.aot_index, p.user_name) for p in graph.placeholders] == [
        ("arg0_1", 0, None), ("arg1_1", 2, None), ("arg2_1", None, "l.bias")
    ]  # fmt: skip
    assert [graph.place_of(p).line for p in graph.placeholders] == [4, 5, 6]
    assert [(n.name, n.target, n.args) for n in graph.nodes] == [
        ("mul", "*", ("arg0_1",)),
        ("sym_size_int", "torch.ops.aten.sym_size.int", ("arg1_1",)),
        ("view", ".view", ("arg1_1",)),
        ("getitem", "getitem", ("view",)),
    ]
    assert graph.nodes[0].file is None
    assert graph.nodes[1].line == 18


def test_pytree_graph_has_its_inputs_in_the_order_of_unpacking():
    graph = read_graph(source(PYTREE))
    assert [(p.name, p.annotation) for p in graph.placeholders] == [
        ("arg1_1", "i64[s23]"), ("arg3_1", "f32[s70, 4]")
    ]  # fmt: skip
    assert graph.attributes == (("emb_weight", "emb.weight"), ("w0", "mlp.0.weight"))


def test_other_output_inside_a_graph_does_not_end_it():
    torn = NEW.replace("            add:", "W1129 a warning of somebody else\n            add:")
    assert [n.name for n in graphs_in_text(source(torn))[0].nodes] == ["embedding", "index", "add"]


def test_a_line_that_is_no_python_is_read_as_far_as_it_goes():
    text = AOT.replace("arg1_1.view(8)", "view_like(arg1_1, <object at 0x1>)")
    view = next(n for n in read_graph(source(text)).nodes if n.name == "view")
    assert (view.target, view.args) == ("view_like", ("arg1_1",))


@given(st.integers(0, len(NEW)), st.binary(max_size=8))
def test_no_damage_makes_the_readers_raise(at, dirt):
    data = NEW.encode()
    for text in (data[:at] + dirt, data[at:], data[:at] + dirt + data[at:]):
        torn = source(text)
        graphs_in_text(torn)
        signatures_in_text(torn)
        ranges_in_text(torn)
        kernel_origins(torn)
        node_mapping(torn)


def test_hostile_nesting_is_no_recursion():
    deep = "(" * 50_000
    text = f"class <lambda>(torch.nn.Module):\n    def forward(self, x):\n        y = f{deep}\n        z = {'-' * 90_000}x\n"
    assert len(graphs_in_text(source(text))) == 1
    assert kernel_origins(source('{"a":' + "[" * 100_000)) == ()


def test_a_graph_of_one_megabyte_is_read_in_seconds_at_most():
    lines = [
        f"        # File: /srv/m.py:{i} in forward, code: x = y[{i}]\n"
        f'        add_{i}: "f32[s95, 8][8, 1]cuda:0" = torch.ops.aten.add.Tensor(x, x);  x_{i} = None\n'
        for i in range(7000)
    ]
    text = 'class <lambda>(torch.nn.Module):\n    def forward(self, x: "f32[s95, 8]"):\n' + "".join(lines)
    start = time.process_time()
    [graph] = graphs_in_text(source(text))
    assert len(graph.nodes) == 7000
    assert time.process_time() - start < 10


def test_kernel_information_and_trace_artifact():
    stack = 'File "/srv/m.py", line 45, in forward\n    return torch.relu(x)'
    info = {
        "cpp_fused_relu_0:1": {
            "stack_traces": [stack], "post_grad_nodes": ["relu"], "pre_grad_nodes": ["relu_1"], "later": 1
        },
        "at::_ops::sort_stable::call:3": {"stack_traces": []},
    }  # fmt: skip
    first, second = kernel_origins(source(json.dumps(info, indent=4), Kind.KERNEL_INFORMATION))
    assert (first.kernel, first.handle, first.stacks) == ("cpp_fused_relu_0", 1, (stack,))
    assert (first.post_grad_nodes, first.pre_grad_nodes) == (("relu",), ("relu_1",))
    assert (second.kernel, second.handle) == ("at::_ops::sort_stable::call", 3)
    assert (first.place.line, second.place.line) == (2, 14)
    [other] = kernel_origins(source(json.dumps({"k:2": [stack]})))
    assert (other.kernel, other.handle, other.stacks) == ("k", 2, (stack,))


@pytest.mark.parametrize(
    ("key", "parts"),
    [("k", ("k", None)), ("a::b", ("a::b", None)), ("a::b:12", ("a::b", 12)), ("a::7", ("a::7", None)), (":1", (":1", None))],
)  # fmt: skip
def test_keys_are_split_at_the_last_colon_before_a_number(key, parts):
    assert split_key(key) == parts


def test_node_mappings_new_and_old():
    new = node_mapping(
        source('{"preToPost": {"mul": ["mul_2"]}, "cppCodeToPost": {"k:1": ["mul_2"]}, "version": 2.0}')
    )
    assert new is not None
    assert new.pre_to_post == (("mul", ("mul_2",)),)
    assert new.kernel_to_post == (("k:1", ("mul_2",)),)
    kernels = node_mapping(source('{"triton_poi_fused_mul_1": ["mul"]}'))
    assert kernels is not None
    assert kernels.kernel_to_post == (("triton_poi_fused_mul_1", ("mul",)),)
    split = node_mapping(
        source('{"mm_1": [{"name": "mm", "from_node": [{"name": "linear", "from_node": []}]}]}')
    )
    assert split is not None
    assert split.pre_to_post == (("linear", ("mm_1",)),)
    assert node_mapping(source("no json")) is None


def test_a_saved_program_gives_signature_ranges_and_lines():
    program = {
        "graph_module": {
            "graph": {
                "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "ids"}}],
                "nodes": [{
                    "target": "torch.ops.aten.embedding.default",
                    "inputs": [{"arg": {"as_tensor": {"name": "p_w"}}}, {"arg": {"as_tensors": [{"name": "ids"}]}}],
                    "outputs": [{"as_tensor": {"name": "embedding"}}],
                    "metadata": {"stack_trace": 'File "/srv/m.py", line 3, in forward\n    e = self.emb(ids)'},
                }],
                "tensor_values": {"ids": {"sizes": [
                    {"as_expr": {"expr_str": "Symbol('s23', positive=True, integer=True)"}}, {"as_int": 4}
                ]}},
            },
            "signature": {"input_specs": [
                {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "emb.weight"}},
                {"user_input": {"arg": {"as_tensor": {"name": "ids"}}}},
                {"user_input": {"arg": {"as_none": True}}},
            ]},
        },
        "range_constraints": {"s23": {"min_val": 0, "max_val": 4096}},
    }  # fmt: skip
    saved = source(json.dumps(program), Kind.JSON, "model.json")
    [signature] = signatures_in_text(saved)
    assert [(i.name, i.kind, i.target) for i in signature.inputs][:2] == [
        ("p_w", "PARAMETER", "emb.weight"), ("ids", "USER_INPUT", None)
    ]  # fmt: skip
    assert [(r.symbol, r.lower, r.upper) for r in ranges_in_text(saved)] == [("s23", 0, 4096)]
    graph = exported_json.graph(saved)
    assert graph is not None
    assert graph.placeholders[1].annotation == "tensor[s23, 4]"
    assert (graph.nodes[0].args, graph.nodes[0].line) == (("p_w", "ids"), 3)


def message(text: str, first: int = 10, **more: Any) -> LogLine:
    log = source("x\n" * 200)
    lines = tuple(range(first, first + text.count("\n") + 1))
    values: dict[str, Any] = {"compile_id": "0/0", "artifact": None, "rank": None} | more
    return LogLine("V", "12:00", 1, "torch/a.py", 1, text=text, lines=lines, span=Span(log, 0, 1), **values)


def test_code_and_graphs_in_messages_keep_their_lines():
    two = "Output code: \n# AOT ID: ['0_inference']\ndef call(args):\n    pass\nOutput code written to: /a.py"
    graph = f"TRACED GRAPH\n ===== AFTER POST GRAD =====\n /torch/fx/_lazy_graph_module.py {AOT}"
    host = source("x\n" * 200)
    code, printed = code_in_messages(
        [message(two, artifact="output_code"), message(graph, 50), message("Output code written to: /a.py")],
        host,
    )
    assert (code.kind, code.name, code.compile_id) == (Kind.OUTPUT_CODE, "run.log#output_code[0/0]", "0/0")
    assert code.lines[1] == "def call(args):"
    assert code.place(2).line == 12
    assert (printed.kind, printed.label) == (Kind.GRAPH, "AFTER POST GRAD")
    assert read_graph(printed).nodes[0].place.line == 50 + 2 + 8


def test_kinds_of_code_by_content():
    wrapper = "Output wrapper code: \n#include <a.h>\nvoid AOTInductorModel::run_impl(\n"
    kernel = 'Output kernel code:\nextern "C"  void  cpp_fused_add_0(const float* in_ptr0)'
    kinds = [s.kind for s in code_in_messages([message(wrapper), message(kernel)], source("x\n" * 99))]
    assert kinds == [Kind.WRAPPER_CPP, Kind.KERNEL_CPP]
    assert code_in_messages([message("Output code: ")], source("")) == ()


def test_symbols_of_messages_and_of_envelopes():
    text = (
        "create_symbol s70 = 40 for L['table'].size()[0] [2, int_oo] return table[idx]  # a.py:18 in forward (b.py:1 in f)\n"
        "create_symbol s70 duck sized L['y'].size()[1]"
    )
    first, duck = symbols_in_messages([message(text)])
    assert (first.symbol, first.input_name, first.dim, first.hint, first.lower) == ("s70", "table", 0, 40, 2)
    assert (first.user_frame, first.place.line, first.compile_id) == ("a.py:18 in forward", 10, "0/0")
    assert (duck.duck, duck.input_name, duck.place.line) == (True, "y", 11)
    record = {"symbol": "s23", "val": "5", "vr": "[2, 4096]", "source": "L['ids'].size()[0]",
              "user_stack": [{"line": 7, "name": "forward", "filename": 3}]}  # fmt: skip
    symbol = symbol_from_envelope({"create_symbol": record}, Place("t", 1, 1), source(""), None, {3: "/m.py"})
    assert symbol is not None
    assert (symbol.input_name, symbol.upper, symbol.user_frame) == ("ids", 4096, "/m.py:7 in forward")
    assert symbol_from_envelope({"create_symbol": 3}, Place("t", 1, 1), source("")) is None
