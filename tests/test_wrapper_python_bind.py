"""Calls of Python wrappers bound: grids, streams, constants, multi-kernels, kernels of other languages."""

import pytest

from aoti_logs.code.model import Backend
from tests.python_wrapper_text import KERNELS, output_code, wrapper


def test_streams_are_those_of_the_call_or_of_the_block_around_it():
    launches = wrapper(
        "with torch.cuda._DeviceGuard(0):\n"
        "    torch.cuda.set_device(0)\n"
        "    stream0 = get_raw_stream(0)\n"
        "    triton_poi_fused_add_0.run(arg0_1, buf0, 1, 64, stream=stream0)\n"
        "    with torch.cuda.stream(stream1):\n"
        "        raw_stream = get_raw_stream(0)\n"
        "        triton_poi_fused_add_0.run(buf0, buf1, 1, 64, stream=raw_stream)\n"
        "        extern_kernels.mm(buf0, buf1, out=buf2)\n"
        "    extern_kernels.mm(buf0, buf1, out=buf3)"
    ).launches
    assert [launch.stream for launch in launches] == ["stream0", "stream1", "stream1", None]


@pytest.mark.parametrize(
    ("given", "grid"),
    [
        ("grid=grid(64)", ("grid(64)",)),
        ("grid=(4, s70, 1)", ("4", "s70", "1")),
        ("grid=grid_wrapper_for_add_0", ("1 + s70 // 64", "1", "1")),
    ],
)
def test_grids_of_older_torch(given, grid):
    functions = "def grid_wrapper_for_add_0(meta):\n    return (1 + (s70 // 64), 1, 1)\n\n"
    code = wrapper(
        f"triton_poi_fused_add_0.run(arg0_1, buf0, 1, 64, {given}, stream=stream0)", functions=functions
    )
    assert code.launches[0].grid == grid


USER = """\
add_0 = async_compile.triton('add_0', '''
@triton_heuristics.user_autotune(
    configs=[{'num_warps': 4, 'BLOCK': 64}],
    inductor_meta={'grid_type': 'FixedGrid', 'fixed_grid': ['_grid_0', '_grid_1', '_grid_2'], 'extra_launcher_args': ['_grid_0', '_grid_1', '_grid_2'], 'kernel_name': 'add_0'},
    triton_meta={'signature': {'x_ptr': '*fp32', 'n': 'i32', 'FLAG': 'constexpr', 'BLOCK': 'constexpr'}},
)
@triton.jit
def add(x_ptr, n, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    pass
''', device_str='cuda')

"""


@pytest.mark.parametrize(
    ("call", "bound", "grid"),
    [
        ("arg0_1, 64, 8, 1, 1", {"x_ptr": "arg0_1", "n": "64"}, ("8", "1", "1")),
        ("arg0_1, 64, True, 8, 1, 1", {"x_ptr": "arg0_1", "n": "64", "FLAG": "True"}, ("8", "1", "1")),
        ("arg0_1, 64, *mm_grid(64, meta0)", {"x_ptr": "arg0_1", "n": "64"}, ("mm_grid(64, meta0)",)),
    ],
)
def test_a_users_kernel_with_its_grid_behind_the_arguments(call, bound, grid):
    (launch,) = wrapper(f"add_0.run({call}, stream=stream0)", functions=USER).launches
    assert {a.param: a.text for a in launch.arguments if a.param} == bound
    assert (launch.grid, launch.stream, launch.unbound) == (grid, "stream0", None)


def test_keywords_are_bound_by_name():
    text = USER.replace(", 'extra_launcher_args': ['_grid_0', '_grid_1', '_grid_2']", "")
    (launch,) = wrapper(
        "add_0.run(n=64, x_ptr=arg0_1, BLOCK=16, grid=grid(64), stream=stream0)", functions=text
    ).launches
    assert {a.param: a.text for a in launch.arguments if a.param} == {
        "n": "64", "x_ptr": "arg0_1", "BLOCK": "16",
    }  # fmt: skip
    assert launch.unbound is None


@pytest.mark.parametrize(
    "call",
    [
        "triton_poi_fused_add_0.run(arg0_1, buf0, 64, stream=stream0)",
        "triton_poi_fused_add_0.run(arg0_1, buf0, 1, 64, 8, stream=stream0)",
        "triton_poi_fused_add_0.run(arg0_1, buf0, 1, 64, other=1, stream=stream0)",
        "cpp_fused_mul_1(arg0_1, buf0)",
        "cpp_fused_mul_1(arg0_1, buf0, 4, 5)",
    ],
)
def test_numbers_that_do_not_fit_bind_nothing(call):
    (launch,) = wrapper(call).launches
    assert [a.param for a in launch.arguments if a.param] == [] and launch.unbound


def test_a_kernel_that_is_not_in_the_text_is_known_to_be_one():
    launches = wrapper(
        "triton_red_fused_sum_7.run(arg0_1, 64, stream=stream0)", "cpp_fused_sin_9(arg0_1)"
    ).launches
    assert [(launch.kernel, launch.backend, launch.unbound) for launch in launches] == [
        ("triton_red_fused_sum_7", Backend.TRITON, "the kernel is not defined in this text"),
        ("cpp_fused_sin_9", Backend.CPP, "the kernel is not defined in this text"),
    ]
    assert all(a.param is None for launch in launches for a in launch.arguments)


def test_a_scalar_tensor_is_the_input_behind_item():
    (launch,) = wrapper("triton_poi_fused_add_0.run(arg0_1.item(), buf0, 1, 64, stream=stream0)").launches
    assert (launch.arguments[0].name, launch.arguments[0].param) == ("arg0_1", "in_ptr0")


MULTI = """\
arg_index = {
    0: [slice(0, 2, None), slice(4, 5, None)],
    1: [slice(0, 2, None), slice(5, 6, None)],
}
multi_kernel_0 = async_compile.multi_kernel('multi_kernel_0', [
    first,
    second,
], arg_index=arg_index)
"""
SMALL = """\
NAME = async_compile.triton('NAME', '''
@triton.jit
def NAME(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    pass
''', device_str='cuda')
"""


def test_a_multi_kernel_passes_each_of_its_kernels_its_own_arguments():
    functions = SMALL.replace("NAME", "first") + SMALL.replace("NAME", "second") + MULTI
    code = wrapper("multi_kernel_0.run(arg0_1, buf0, 7, 8, 64, 65, stream=stream0)", functions=functions)
    for name, count in (("first", "64"), ("second", "65")):
        (launch,) = code.launches_of(name)
        assert {a.param: a.text for a in launch.arguments if a.param} == {
            "in_ptr0": "arg0_1", "out_ptr0": "buf0", "xnumel": count,
        }  # fmt: skip
    assert code.launches[0].unbound is not None


def test_functions_inside_a_kernels_text_are_not_the_models():
    inside = KERNELS.replace(
        "    pass\n", "    pass\n\n\ndef get_args():\n    return 1\n\n\ndef call(args):\n    foo(args)\n"
    )
    code = output_code(
        inside + "\ndef call(args):\n    arg0_1, = args\n    extern_kernels.mm(arg0_1, arg0_1, out=buf0)\n"
    )
    assert [launch.kernel for launch in code.launches] == ["extern_kernels.mm"]


@pytest.mark.parametrize("head", ["def get_args():", "def benchmark_compiled_module(times=10, repeat=10):"])
def test_hints_are_the_numbers_that_the_benchmark_passes(head):
    examples = (
        f"\n{head}\n    arg0_1 = 5\n    arg1_1 = rand_strided((5, 8), (8, 1))\n    other = 7\n\n\nx = 1\n"
    )
    assert wrapper("return ()\n").hints == {}
    code = output_code(KERNELS + "\ndef call(args):\n    arg0_1, arg1_1 = args\n    return ()\n" + examples)
    assert code.hints == {"arg0_1": 5}


METAL = """\
mps_lib_0 = compile_mps_shader('''
    kernel void generated_kernel(
        device float* out_ptr0,
        constant float* in_ptr0,
        constant long& ks0,
        uint xindex [[thread_position_in_grid]]
    ) {
    }
''')

"""


def test_a_metal_kernel_has_its_threads_for_a_grid():
    (launch,) = wrapper(
        "mps_lib_0.generated_kernel(buf0, arg0_1, s70, threads=[s70])", functions=METAL
    ).launches
    assert [(a.param, a.text) for a in launch.arguments] == [
        ("out_ptr0", "buf0"), ("in_ptr0", "arg0_1"), ("ks0", "s70"), (None, "[s70]"),
    ]  # fmt: skip
    assert (launch.grid, launch.unbound) == (("s70",), None)


def test_a_cutlass_kernel_takes_its_stream_as_an_argument():
    functions = (
        "cuda_fused_0 = async_compile.cuda(r'''\n"
        "PT_EXPORT int cuda_fused_0(const half* X, half* Y, const int M, size_t* workspace_size, cudaStream_t stream) {\n"
        "}\n''', 'so', aot_compile=False)\n\n"
    )
    (launch,) = wrapper(
        "cuda_fused_0.cuda_fused_0(c_void_p(arg0_1.data_ptr()), c_void_p(buf0.data_ptr()), 64, None, c_void_p(stream0))",
        functions=functions,
    ).launches
    assert [(a.param, a.name) for a in launch.arguments[:2]] == [("X", "arg0_1"), ("Y", "buf0")]
    assert (launch.stream, launch.unbound) == ("stream0", None)


def test_a_pallas_kernel_is_called_as_its_entry_says():
    functions = (
        "pallas_fused_add_0 = async_compile.pallas('pallas_fused_add_0', r'''\n"
        "def pallas_fused_add_0_main(in_ptr0, out_ptr0, stream=None):\n    pass\n''')\n\n"
    )
    code = wrapper(
        "pallas_fused_add_0.run(arg0_1, buf0)",
        "pallas_fused_add_0.run(buf1, arg0_1, buf0)",
        functions=functions,
    )
    first, second = code.launches
    assert [(a.param, a.name) for a in first.arguments] == [("in_ptr0", "arg0_1"), ("out_ptr0", "buf0")]
    assert (first.backend, second.unbound is None) == (Backend.OTHER, False)
