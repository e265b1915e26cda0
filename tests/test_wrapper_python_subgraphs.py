"""Subgraphs, loops and partitions of Python wrappers: each call has launches of its own, and results are connected."""

from aoti_logs.code.wrapper_python.subgraphs import MOST_LINES
from tests.python_wrapper_text import output_code, wrapper

REGION = """\
def repeated_subgraph0(args):
    repeated_subgraph0_arg0_1, repeated_subgraph0_arg1_1 = args
    args.clear()
    s77 = repeated_subgraph0_arg0_1
    repeated_subgraph0_buf0 = empty_strided_cpu((s77, ), (1, ), torch.float32)
    # Topologically Sorted Source Nodes: [mm], Original ATen: [aten.mm]
    cpp_fused_mul_1(repeated_subgraph0_arg1_1, repeated_subgraph0_buf0, 2*s77)
    return (repeated_subgraph0_buf0, )

"""
TWICE = (
    "s77 = arg0_1",
    "s12 = arg1_1_size[0]",
    "buf0 = [None] * 1",
    "# subgraph: repeated_subgraph0",
    "repeated_subgraph0_args = [s77, arg1_1]",
    "buf0 = repeated_subgraph0(repeated_subgraph0_args)",
    "buf1 = buf0[0]",
    "buf2 = [None] * 1",
    "repeated_subgraph0_args = [s12, reinterpret_tensor(buf1, (4, ), (1, ), 8)]",
    "buf2 = repeated_subgraph0(repeated_subgraph0_args)",
    "buf3 = buf2[0]",
)


def aliases(code):
    return [(b.name, b.alias_of, b.at) for b in code.buffers if b.alias_of is not None]


def test_a_subgraph_called_twice_is_launched_twice():
    code = wrapper("arg1_1_size = arg1_1.size()", *TWICE, functions=REGION)
    assert [(c.index, c.kernel, c.subgraph) for c in code.launches] == [
        (0, "cpp_fused_mul_1", "repeated_subgraph0"),
        (1, "cpp_fused_mul_1", "repeated_subgraph0"),
    ]
    assert code.unread == ()


def test_each_call_connects_its_own_arguments_and_results():
    code = wrapper("arg1_1_size = arg1_1.size()", *TWICE, functions=REGION)
    assert aliases(code) == [
        ("repeated_subgraph0_arg1_1", "arg1_1", 0),
        ("buf0[0]", "repeated_subgraph0_buf0", 1),
        ("buf1", "buf0[0]", 1),
        ("repeated_subgraph0_arg1_1", "buf1", 1),
        ("buf2[0]", "repeated_subgraph0_buf0", 2),
        ("buf3", "buf2[0]", 2),
    ]
    assert [b.offset for b in code.buffers if b.view] == ["8"]


def test_a_symbol_of_a_subgraph_is_the_callers_in_each_call():
    code = wrapper("arg1_1_size = arg1_1.size()", *TWICE, functions=REGION)
    sizes = [c.arguments[2] for c in code.launches]
    assert [(a.text, a.name, str(a.value)) for a in sizes] == [
        ("2*s77", "s77", "2 * s77"),
        ("2*s77", "s12", "2 * s12"),
    ]


COND = """\
def true_graph_0(args):
    true_graph_0_arg0_1, = args
    args.clear()
    cpp_fused_mul_1(true_graph_0_arg0_1, true_graph_0_buf0, 4)
    return (true_graph_0_buf0, )

def false_graph_0(args):
    false_graph_0_arg0_1, = args
    args.clear()
    return (false_graph_0_arg0_1, )

"""


def test_branches_are_kept_apart_and_give_one_result():
    code = wrapper(
        "# Topologically Sorted Source Nodes: [cond], Original ATen: []",
        "buf1 = [None] * 1",
        "if buf0.item():\n"
        "    # subgraph: true_graph_0\n"
        "    true_graph_0_args = [arg1_1,]\n"
        "    del arg1_1\n"
        "    buf1 = true_graph_0(true_graph_0_args)\n"
        "else:\n"
        "    # subgraph: false_graph_0\n"
        "    false_graph_0_args = [arg1_1,]\n"
        "    buf1 = false_graph_0(false_graph_0_args)",
        "buf2 = buf1[0]",
        "extern_kernels.mm(buf2, buf2, out=buf3)",
        functions=COND,
    )
    assert [(c.kernel, c.branch, c.subgraph, c.source_nodes) for c in code.launches] == [
        ("cpp_fused_mul_1", ("if buf0.item()",), "true_graph_0", ()),
        ("extern_kernels.mm", (), None, ()),
    ]
    assert [(b.name, b.alias_of, b.branch) for b in code.buffers] == [
        ("true_graph_0_arg0_1", "arg1_1", ("if buf0.item()",)),
        ("buf1[0]", "true_graph_0_buf0", ("if buf0.item()",)),
        ("false_graph_0_arg0_1", "arg1_1", ("else of if buf0.item()",)),
        ("buf1[0]", "false_graph_0_arg0_1", ("else of if buf0.item()",)),
        ("buf2", "buf1[0]", ()),
    ]
    assert [(r.name, r.branch) for r in code.releases] == [("arg1_1", ("if buf0.item()",))]
    assert code.unread == ()


def test_the_state_of_a_loop_is_carried_from_turn_to_turn():
    functions = COND.replace("true_graph_0", "body").replace("false_graph_0", "cond")
    code = wrapper(
        "buf0 = [None] * 1",
        "buf0[0] = arg1_1",
        "cond_args = [buf0[0],]",
        "(buf0_cond_result,) = cond(cond_args)",
        "should_loop = buf0_cond_result",
        "if not should_loop:\n    buf0[0] = arg1_1.clone()",
        "while should_loop:\n"
        "    body_args = [buf0[0],]\n"
        "    (buf0[0],) = body(body_args)\n"
        "    cond_args = [buf0[0],]\n"
        "    (buf0_cond_result,) = cond(cond_args)\n"
        "    should_loop = buf0_cond_result",
        functions=functions,
    )
    assert [(c.kernel, c.branch, c.outputs) for c in code.launches] == [
        ("Tensor.clone", ("if not should_loop",), ("buf0[0]",)),
        ("cpp_fused_mul_1", ("while should_loop",), ()),
    ]
    assert [a for a in aliases(code) if a[0] in {"buf0[0]", "body_arg0_1"}] == [
        ("buf0[0]", "arg1_1", 0),
        ("body_arg0_1", "buf0[0]", 1),
        ("buf0[0]", "body_buf0", 2),
    ]
    assert code.unread == ()


def test_stacked_states_of_a_loop():
    code = wrapper(
        "buf0 = [None] * 1",
        "buf0.extend([[] for _ in range(1)])",
        "buf0[0] = buf1.unsqueeze(0).clone()",
        "buf0[1].append(buf0[0])",
        "# Stack outputs after loop completion",
        "if len(buf0[1]) > 0:\n    buf0[0] = torch.stack(buf0[1], dim=0)",
    )
    assert [(c.kernel, c.arguments[0].name, c.outputs) for c in code.launches] == [
        ("Tensor.clone", "buf1", ("buf0[0]",)),
        ("torch.stack", "buf0[1]", ("buf0[0]",)),
    ]
    assert code.unread == ()


def test_torch_before_2_7_wrote_the_subgraphs_inline():
    # codegen_subgraph_by_inlining and codegen_while_loop of torch/_inductor/codegen/wrapper.py, torch 2.4 to 2.6
    code = wrapper(
        "buf0 = [None] * 1",
        "buf0[0] = arg1_1",
        "while True:\n"
        "    # subgraph: while_loop_cond_graph_0\n"
        "    while_loop_cond_graph_0_arg0_1 = buf0[0]\n"
        "    cpp_fused_mul_1(while_loop_cond_graph_0_arg0_1, while_loop_cond_graph_0_buf0, 4)\n"
        "    buf0_cond_result = while_loop_cond_graph_0_buf0\n"
        "    if not buf0_cond_result.item(): break\n"
        "    # subgraph: while_loop_body_graph_0\n"
        "    while_loop_body_graph_0_arg0_1 = buf0[0]\n"
        "    extern_kernels.mm(while_loop_body_graph_0_arg0_1, arg1_1, out=while_loop_body_graph_0_buf0)\n"
        "    buf0[0] = while_loop_body_graph_0_buf0",
        "extern_kernels.mm(arg1_1, arg1_1, out=buf5)",
    )
    assert [(c.branch, c.subgraph) for c in code.launches] == [
        (("while True",), "while_loop_cond_graph_0"),
        (("while True",), "while_loop_body_graph_0"),
        ((), None),
    ]
    assert code.unread == ()


def test_numbers_that_differ_connect_nothing_and_are_said():
    code = wrapper(
        "true_graph_0_args = [arg0_1, arg1_1]",
        "(buf1, buf2) = true_graph_0(true_graph_0_args)",
        functions=COND,
    )
    assert aliases(code) == []
    assert [text for _, text in code.unread] == [
        "true_graph_0_arg0_1, = args",
        "1 values are returned to 2 names: not connected",
        "def false_graph_0(args): is not called here",
        "false_graph_0_arg0_1, = args",
    ]


def test_a_function_that_calls_itself_is_not_followed():
    functions = (
        "def true_graph_0(args):\n    arg2_1, = args\n    buf1 = true_graph_0(args)\n    return (buf1, )\n\n"
    )
    code = wrapper(
        "true_graph_0_args = [arg0_1,]", "(buf1,) = true_graph_0(true_graph_0_args)", functions=functions
    )
    assert [text for _, text in code.unread] == ["buf1 = true_graph_0(args)"]


def test_calls_that_double_at_every_level_end():
    levels = 40
    functions = "".join(
        f"def g{i}(args):\n    a{i}, = args\n    x_args = [a{i},]\n"
        + (f"    (b{i},) = g{i + 1}(x_args)\n" * 2 if i < levels - 2 else "    foo.bar(a)\n")
        + f"    return (a{i}, )\n\n"
        for i in range(levels - 1)
    )
    code = wrapper("x_args = [arg0_1,]", "(buf1,) = g0(x_args)", functions=functions)
    assert 0 < len(code.launches) < MOST_LINES
    assert "(b37,) = g38(x_args)" in {text for _, text in code.unread}


def test_a_partition_keeps_the_names_of_its_caller():
    functions = (
        "def partition_0(args):\n    buf0, arg1_1 = args\n    args.clear()\n"
        "    extern_kernels.mm(buf0, arg1_1, out=buf4)\n    return (buf4, )\n\n"
    )
    code = wrapper(
        "partition0_args = [buf0, arg1_1]",
        "del buf0",
        "(buf4,) = self.partitions[0](partition0_args)",
        "del partition0_args",
        functions=functions,
    )
    assert [(c.kernel, c.subgraph) for c in code.launches] == [("extern_kernels.mm", None)]
    assert (code.buffers, [r.name for r in code.releases], code.unread) == ((), ["buf0"], ())


def test_without_call_nothing_is_an_input():
    text = wrapper(functions=REGION).source.text
    code = output_code(text[: text.index("def call(")])
    assert (code.inputs, code.outputs) == ((), ())
    assert [c.subgraph for c in code.launches] == ["repeated_subgraph0"]
    assert code.unread[0][1] == "def repeated_subgraph0(args): is not called here"
