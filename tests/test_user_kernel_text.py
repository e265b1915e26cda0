"""Kernels as users write them: comments between parameters, checks over several lines, helpers with constants.

torch keeps a user's source as it is (`define_user_defined_triton_kernel` in `torch/_inductor/codegen/wrapper.py`).
"""

import aoti_logs
from aoti_logs.code.model import ArgumentKind
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

WRAPPER = """
# AOT ID: ['0_inference']
add_kernel_0 = async_compile.triton('add_kernel', '''

import triton
import triton.language as tl

@triton_heuristics.user_autotune(
    configs=[{'num_warps': 4, 'num_stages': 3}],
    inductor_meta={'grid_type': 'FixedGrid', 'fixed_grid': ['_grid_0', '_grid_1', '_grid_2'], 'extra_launcher_args': ['_grid_0', '_grid_1', '_grid_2'], 'kernel_name': 'add_kernel_0'},
    triton_meta={'signature': {'x_ptr': '*fp32', 'y_ptr': '*fp32', 'output_ptr': '*fp32', 'n_elements': 'i32', 'stream': 'i32', 'BLOCK_SIZE': 'constexpr'}, 'constants': {'BLOCK_SIZE': 64}},
    filename=__file__,
    custom_kernel=True,
)
@triton.jit
def add_kernel(x_ptr,  # *Pointer* to first input vector (a, b).
               y_ptr,  # *Pointer* to second input, the user's
               output_ptr,  # it ends with :)
               n_elements,  # size, of the vector
               stream,
               BLOCK_SIZE: tl.constexpr,  # Number of elements each program should process.
               # NOTE: `constexpr` so it can be used as a shape value.
               ):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    # tl.device_assert(offsets < 3, "was tried")
    tl.device_assert(offsets < n_elements // 2, "too many")
    tl.device_assert(
        offsets >= 0,  # it's never negative
        msg="too few",
    )
    tl.store(output_ptr + offsets, helper(tl.load(x_ptr + offsets), n_elements) + tl.load(y_ptr + offsets))

@triton.jit
def helper(x, n_elements: tl.constexpr):
    return x * n_elements
''', device_str='cuda')

def call(args):
    arg0_1, arg1_1, arg2_1 = args
    args.clear()
    s0 = arg0_1
    buf0 = empty_strided_cuda((64, ), (1, ), torch.float32)
    add_kernel_0.run(arg1_1, arg2_1, buf0, s0, 7, 1, 1, 1, stream=stream0)
    return (buf0, )
"""


def wrapper() -> OutputCode:
    return OutputCode(Source("output_code.py", Kind.OUTPUT_CODE, WRAPPER.encode))


def test_comments_between_a_users_parameters_are_no_parameters():
    kernel = wrapper().kernel("add_kernel_0")
    assert kernel is not None
    names = ["x_ptr", "y_ptr", "output_ptr", "n_elements", "stream", "BLOCK_SIZE"]
    assert [p.name for p in kernel.params] == names


def test_a_constant_of_a_helper_is_none_of_the_kernel_and_every_argument_is_bound():
    (launch,) = wrapper().launches
    bound = {a.param: a.text for a in launch.arguments if a.param is not None}
    assert launch.unbound is None
    assert bound == {
        "x_ptr": "arg1_1",
        "y_ptr": "arg2_1",
        "output_ptr": "buf0",
        "n_elements": "s0",
        "stream": "7",
    }
    assert [a.kind for a in launch.arguments if a.param == "stream"] == [ArgumentKind.LITERAL]


def test_a_check_that_divides_or_spans_lines_is_found_and_one_in_a_comment_is_not():
    kernel = wrapper().kernel("add_kernel_0")
    assert kernel is not None
    assert [message for _, message in kernel.asserts] == ["too many", "too few"]


def test_a_kernel_with_a_name_that_is_not_ascii_is_found():
    text = WRAPPER.replace("add_kernel", "сложить")
    (launch,) = OutputCode(Source("output_code.py", Kind.OUTPUT_CODE, text.encode)).launches
    assert (launch.kernel, launch.unbound) == ("сложить_0", None)


def test_what_a_user_calls_out_ptr_and_reads_is_an_input_of_the_launch(tmp_path):
    text = WRAPPER.replace("output_ptr", "out_ptr")
    read = text.replace(
        "tl.store(out_ptr + offsets, ", "tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + "
    )
    for name, source in {"written": text, "read": read}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "output_code.py").write_text(source)
    inputs = {
        name: aoti_logs.load(tmp_path / name).launches["inputs"].to_list() for name in ("written", "read")
    }
    assert inputs == {"written": [["arg1_1", "arg2_1"]], "read": [["arg1_1", "arg2_1", "buf0"]]}
