"""Python wrappers of torch.compile: kernels, launches bound by position, sizes, partitions, C++ inside."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.model import ArgumentKind, Backend, CheckKind
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

CODE = """\
# AOT ID: ['0_inference']
async_compile = AsyncCompile()
_tensor_constant0 = None  # 8d7c1f3e4b5a69788d7c1f3e4b5a69788d7c1f3e4b5a69788d7c1f3e4b5a6978


# kernel path: /tmp/demo/cache/bx/cbxl4zep24s4.py
# Topologically Sorted Source Nodes: [getitem], Original ATen: [aten.index]
triton_poi_fused_index_1 = async_compile.triton('triton_poi_fused_index_1', '''
import triton
import triton.language as tl

@triton_heuristics.pointwise(
    size_hints={'y': 8, 'x': 16},
    triton_meta={'signature': {'in_ptr0': '*i64', 'out_ptr0': '*fp32', 'ks0': 'i64', 'xnumel': 'constexpr', 'XBLOCK': 'constexpr'}, 'constants': {'xnumel': 1}},
)
@triton.jit
def triton_poi_fused_index_1(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    tl.device_assert(((0 <= tmp10) & (tmp10 < ks0)) | ~(ymask), "index out of bounds: 0 <= tmp10 < ks0")
''', device_str='cuda')


cpp_fused_add_0 = async_compile.cpp_pybinding(['const int64_t*', 'float*', 'const int64_t'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const int64_t* in_ptr0,
                       float* out_ptr0,
                       const int64_t ks0)
{
    TORCH_CHECK((0 <= tmp4) & (tmp4 < ks0), "index out of bounds: 0 <= tmp4 < ks0");
}
''')


async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        arg0_1, arg1_1, arg2_1 = args
        args.clear()
        s19 = arg0_1
        assert_size_stride(arg1_1, (s19, ), (1, ), 'input')
        arg2_1_size = arg2_1.size()
        s28 = arg2_1_size[1]
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            buf0 = empty_strided_cuda((s19, 64), (64, 1), torch.float32)
            # Topologically Sorted Source Nodes: [getitem, add], Original ATen: [aten.index]
            # [Provenance debug handles] triton_poi_fused_index_1:7
            stream0 = get_raw_stream(0)
            triton_poi_fused_index_1.run(arg1_1, buf0, s28, 1, stream=stream0)
            partition0_args = [buf0, arg2_1]
            (buf5,) = self.partitions[0](partition0_args)
            del partition0_args
            u0 = buf5.item()
            if not (u0 <= s19):
                raise RuntimeError('u0 <= s19')
            buf6 = torch.ops.aten.cumsum.default(arg2_1, 0)
            aten.scatter_reduce_.two(buf6,0,arg1_1,buf5, reduce='sum', include_self=True)
        return (buf5, reinterpret_tensor(buf6, (4, ), (1, ), 0), None, )

def partition_0(args):
    buf0, arg2_1 = args
    args.clear()
    buf2 = buf0; del buf0  # reuse
    cpp_fused_add_0(arg2_1, reinterpret_tensor(buf2, (64, ), (1, ), 0), 16*s19)
    extern_kernels.mm(reinterpret_tensor(buf2, (16, 64), (1, 16), 0), arg2_1, out=buf4)
    return (buf2, )

runner = Runner(partitions=[partition_0])
call = runner.call

def get_args():
    arg0_1 = 8
    return [arg0_1]

def benchmark_compiled_module(args, times=10, repeat=10):
    fn = lambda: call(list(args))
"""


def output_code(text: str) -> OutputCode:
    return OutputCode(Source("output_code.py", Kind.OUTPUT_CODE, text.encode))


def test_message_leads_to_a_kernel_of_either_backend():
    code = output_code(CODE)
    (triton,) = code.kernels_with("index out of bounds: 0 <= tmp10 < ks0")
    (cpp,) = code.kernels_with("index out of bounds: 0 <= tmp4 < ks0")
    assert (triton.name, triton.backend) == ("triton_poi_fused_index_1", Backend.TRITON)
    assert (cpp.name, cpp.backend) == ("cpp_fused_add_0", Backend.CPP)
    assert triton.path == "/tmp/demo/cache/bx/cbxl4zep24s4.py"
    assert "device_assert" in CODE.split("\n")[triton.asserts[0][0] - 1]
    assert "TORCH_CHECK" in CODE.split("\n")[cpp.asserts[0][0] - 1]


def test_run_is_bound_without_block_sizes():
    (launch,) = output_code(CODE).launches_of("triton_poi_fused_index_1")
    assert [(a.param, a.name) for a in launch.arguments] == [
        ("in_ptr0", "arg1_1"), ("out_ptr0", "buf0"), ("ks0", "s28"), ("xnumel", None), (None, None),
    ]  # fmt: skip
    assert [a.kind for a in launch.arguments][2:] == [
        ArgumentKind.SIZE, ArgumentKind.LITERAL, ArgumentKind.OTHER,
    ]  # fmt: skip
    assert (launch.handle, launch.source_nodes) == (7, ("getitem", "add"))


def test_partition_is_read_where_it_is_called():
    launches = output_code(CODE).launches
    assert [launch.kernel for launch in launches] == [
        "triton_poi_fused_index_1",
        "cpp_fused_add_0",
        "extern_kernels.mm",
        "torch.ops.aten.cumsum.default",
        "aten.scatter_reduce_.two",
    ]
    assert [launch.index for launch in launches] == [0, 1, 2, 3, 4]
    assert launches[2].outputs == ("buf4",) and launches[3].outputs == ("buf6",)
    assert launches[4].outputs == ("buf6",)


def test_view_and_expression_arguments():
    launch = output_code(CODE).launches[1]
    assert launch.arguments[1].name == "buf2"
    assert launch.arguments[2].kind is ArgumentKind.EXPRESSION and launch.arguments[2].name == "s19"


def test_sizes_from_a_scalar_input_a_dimension_and_data():
    code = output_code(CODE)
    sizes = {s.symbol: s for s in code.sizes}
    assert sizes["s19"].alias_of == "arg0_1"
    assert (sizes["s28"].tensor, sizes["s28"].dim) == ("arg2_1", 1)
    assert (sizes["u0"].tensor, sizes["u0"].unbacked) == ("buf5", True)
    assert [(i.index, i.name, i.scalar) for i in code.inputs] == [
        (0, "arg0_1", True), (1, "arg1_1", False), (2, "arg2_1", False),
    ]  # fmt: skip


def test_asserts_of_sizes_and_symbols():
    checks = output_code(CODE).checks
    assert [(c.kind, c.tensor, c.expected) for c in checks] == [
        (CheckKind.SIZE_STRIDE, "arg1_1", "(s19, ), (1, )"),
        (CheckKind.RUNTIME_ASSERT, "", "u0 <= s19"),
    ]
    assert checks[0].input_index == 1 and not checks[0].gated


def test_buffers_outputs_constants_and_devices():
    code = output_code(CODE)
    buffers = {b.name: b for b in code.buffers}
    assert (buffers["buf0"].shape, buffers["buf0"].device) == (("s19", "64"), "cuda")
    assert buffers["buf2"].alias_of == "buf0"
    assert code.outputs == ("buf5", "buf6", "None")
    assert [c.name for c in code.constants] == ["_tensor_constant0"]
    assert "cuda" in code.devices and code.flavour == "jit_python" and code.unread == ()


def test_subgraph_gets_the_sizes_of_its_caller():
    text = CODE.replace("partition0_args = [buf0, arg2_1]", "partition0_args = [buf0, s28]").replace(
        "buf0, arg2_1 = args", "graph_0_arg0_1, graph_0_arg1_1 = args"
    )
    code = output_code(text)
    assert next(s.alias_of for s in code.sizes if s.symbol == "graph_0_arg1_1") == "s28"
    assert next(b.alias_of for b in code.buffers if b.name == "graph_0_arg0_1") == "buf0"


def test_multi_kernel_launch_counts_for_each_of_its_kernels():
    text = CODE.replace(
        "async_compile.wait(globals())",
        "multi_kernel_0 = async_compile.multi_kernel('multi_kernel_0', [\n    triton_poi_fused_index_1,\n])\n\n"
        "async_compile.wait(globals())",
    ).replace("triton_poi_fused_index_1.run(", "multi_kernel_0.run(")
    code = output_code(text)
    (launch,) = code.launches_of("triton_poi_fused_index_1")
    assert next(a.name for a in launch.arguments if a.param == "ks0") == "s28"
    assert len(code.launches_of("multi_kernel_0")) == 1


def test_torn_file_keeps_what_parses_and_records_the_rest():
    torn = CODE[: CODE.index("if not (u0 <= s19)")] + "if not (u0 <="
    code = output_code(torn)
    assert [launch.kernel for launch in code.launches] == ["triton_poi_fused_index_1"]
    assert any("if not (u0 <=" in text for _, text in code.unread)


CPP_INSIDE = '''
cpp_wrapper_src = (
r"""
#include <torch/csrc/inductor/cpp_wrapper/cpu.h>
extern "C"  void  cpp_fused_add_0(const int64_t* in_ptr0, const int64_t ks0);
void inductor_entry_impl(
    AtenTensorHandle*
        input_handles, // borrowed)
    AtenTensorHandle* output_handles
) {
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 2);
    int64_t arg0_1;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(inputs[0], &arg0_1));
    auto arg1_1 = std::move(inputs[1]);
    int64_t s23 = arg0_1;
    assert_size_stride(arg1_1, {s23, }, {1L, }, "input");
    cpp_fused_add_0((const int64_t*)(arg1_1.data_ptr()), s23);
    output_handles[0] = arg1_1.release();
} // inductor_entry_impl
"""
)
kernel_src = (
r"""
extern "C"  void  cpp_fused_add_0(const int64_t* in_ptr0,
                       const int64_t ks0)
{
    TORCH_CHECK((0 <= tmp4) & (tmp4 < ks0), "index out of bounds: 0 <= tmp4 < ks0");
}
"""
)
'''


def test_cpp_in_a_string_keeps_the_lines_of_the_file():
    code = output_code(CPP_INSIDE)
    (kernel,) = code.kernels_with("index out of bounds: 0 <= tmp4 < ks0")
    (launch,) = code.launches_of("cpp_fused_add_0")
    lines = CPP_INSIDE.split("\n")
    assert code.flavour == "jit_cpp"
    assert "TORCH_CHECK" in lines[kernel.source.place(kernel.asserts[0][0]).line - 1]
    assert "cpp_fused_add_0(" in lines[kernel.source.place(launch.line).line - 1]
    assert [(a.param, a.name) for a in launch.arguments] == [("in_ptr0", "arg1_1"), ("ks0", "s23")]
    assert code.inputs[0].scalar and not code.checks[0].gated


@given(st.sampled_from([CODE, CPP_INSIDE]), st.floats(0, 1), st.floats(0, 1))
def test_cut_out_of_the_middle_never_raises(text, start, length):
    at = int(start * len(text))
    assert output_code(text[:at] + text[at + int(length * 200) :]).model is not None


def test_bytes_that_are_not_text_never_raise():
    data = CODE.encode().replace(b"s28", b"\xff\xfe\x00")
    assert OutputCode(Source("x.py", Kind.OUTPUT_CODE, lambda: data)).model is not None


@pytest.mark.corpus
def test_every_fused_launch_of_real_output_code_is_bound(corpus_dir):
    """Every parameter but the block sizes has its argument, and nothing is left unread."""
    missing, unread, launches = [], [], 0
    for path in sorted(corpus_dir.rglob("*.py")):
        data = path.read_bytes()
        if b"AsyncCompile()" not in data:
            continue
        code = OutputCode(Source(str(path), Kind.OUTPUT_CODE, partial(bytes, data)))
        unread += [(path, row) for row in code.unread]
        for launch in code.launches:
            kernel = code.kernel(launch.kernel)
            if kernel is None:
                continue
            launches += 1
            bound = {a.param for a in launch.arguments}
            wanted = {p.name for p in kernel.params if p.dtype != "constexpr" or p.name.endswith("numel")}
            missing += [(path, launch.kernel, name) for name in wanted - bound]
    assert launches > 100 and not missing and not unread
