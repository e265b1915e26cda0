"""Value printer dumps of every form and version."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_text import CUDA, DUMP, SCALARS, read


def test_tensor_block():
    (dump,) = read(DUMP).dumps
    assert (dump.format, dump.phase, dump.kernel, dump.argument) == (
        "cpp_v2",
        "before_launch",
        "at::_ops::sort_stable::call",
        "buf2",
    )
    assert (dump.dtype, dump.device, dump.shape, dump.stride, dump.numel) == (
        "float32",
        "cpu",
        (2, 2, 2),
        (4, 2, 1),
        8,
    )
    assert dump.min is not None
    assert math.isnan(dump.min)
    assert dump.complete
    assert dump.value is not None
    assert "0.8487     nan" in dump.value


def test_every_byte_of_a_block_is_in_its_record():
    events = read(DUMP)
    assert [(r.kind, r.span.end - r.span.start) for r in events.records] == [("printer", len(DUMP))]


def test_scalars_share_a_line_with_a_literal_backslash_n():
    events = read(SCALARS + DUMP)
    assert [(d.format, d.argument, d.value) for d in events.dumps][:2] == [
        ("cpp_scalar", "s24", "77"),
        ("cpp_scalar", "64L", "64"),
    ]
    assert events.dumps[2].complete
    assert not events.unparsed


def test_assertion_glued_behind_scalars_is_read():
    events = read(SCALARS + CUDA)
    assert len(events.dumps) == 2
    assert events.assertions[0].glued


def test_keys_in_the_order_of_torch_2_5():
    text = (
        "[  before_launch - triton_poi_fused_0 - buf0  ]:\n 0.6331\n[ CUDAFloatType{1} ]\nMin value: 0.6\nMax value: 0.7\n"
        "Device: cuda:0\nSize: [1]\nStride: [1]\nDtype: float\nLayout: Strided\nNumber of elements: 1\nIs contiguous: 1\nRequires grad: 0\n\n"
    )
    (dump,) = read(text).dumps
    assert (dump.dtype, dump.mean, dump.max, dump.complete) == ("float", None, 0.7, True)


def test_empty_tensor_has_no_statistics():
    text = (
        DUMP[: DUMP.index("(1,")]
        + "[ CPUFloatType{0,4} ]\nNumber of elements: 0\nDtype: float32\nDevice: cpu\nSize: [0, 4]\nStride: [4, 1]\nLayout: Strided\nIs contiguous: 1\nRequires grad: 0\n\n"
    )
    (dump,) = read(text).dumps
    assert (dump.shape, dump.min, dump.complete) == ((0, 4), None, True)


@pytest.mark.parametrize("cut", range(60, len(DUMP) - 20, 23))
def test_block_cut_by_a_crash_is_not_complete(cut):
    assert not read(DUMP[:cut]).dumps[0].complete


def test_block_interrupted_by_other_output_is_one_dump():
    lines = DUMP.splitlines(keepends=True)
    events = read("".join([*lines[:10], "loss 0.25 at step 3\n", CUDA, *lines[10:]]))
    (dump,) = events.dumps
    assert dump.complete
    assert [u.span.text for u in events.unparsed] == ["loss 0.25 at step 3\n"]


def test_names_only_mode():
    events = read("[ before_launch: cpp_fused_0 ]\n[ after_launch: cpp_fused_0 ]\n")
    assert [(d.format, d.phase, d.kernel) for d in events.dumps] == [
        ("kernel_names_only", "before_launch", "cpp_fused_0"),
        ("kernel_names_only", "after_launch", "cpp_fused_0"),
    ]


def test_model_inputs_have_no_kernel():
    (dump,) = read("[  aoti_model_inputs - arg0_1  ]:\nNumber of elements: 1\nDtype: long int\n").dumps
    assert (dump.phase, dump.kernel, dump.argument) == ("aoti_model_inputs", None, "arg0_1")


PYTHON = """\
inductor: before_launch - extern_kernels.addmm - arg5_1
Parameter containing:
tensor([ 0.1977,  0.3000, -0.3390, -0.2177], requires_grad=True)
Number of elements:  4
Size:  torch.Size([4])
Dtype:  {}
Mean:  -0.014755740761756897
Min:  -0.3389705419540405
Max:  0.30001139640808105
Std:  0.31118932366371155
inductor: before_launch - extern_kernels.addmm - s3
Value:  7
"""


def test_python_variant():
    tensor, number = read(PYTHON.format("torch.float32")).dumps
    assert (tensor.format, tensor.dtype, tensor.shape, tensor.numel, tensor.complete) == (
        "python",
        "torch.float32",
        (4,),
        4,
        True,
    )
    assert (number.value, number.complete) == ("7", True)


def test_python_variant_of_2_6_prints_the_mean_as_dtype():
    dump = read(PYTHON.format("0.8145427703857422").replace("Mean:  -0.014755740761756897\n", "")).dumps[0]
    assert (dump.dtype, dump.mean) == (None, 0.8145427703857422)


def test_saved_tensors():
    text = "aoti_torch_save_tensor_handle: Saved tensor to /srv/tmp/aoti_torchbefore_launch_aoti_torch_cpu_mm_out_buf0_cpu.pt\n"
    (dump,) = read(text).dumps
    assert (dump.format, dump.phase, dump.kernel, dump.argument) == (
        "save",
        "before_launch",
        "aoti_torch_cpu_mm_out",
        "buf0",
    )


NAMES = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,12}((::|\.)[a-z]\w{0,5}){0,2}", fullmatch=True)
ARGS = st.one_of(NAMES, st.from_regex(r"[a-z_]{1,9}\([a-z0-9]{1,5}\)", fullmatch=True))


@given(st.sampled_from(["before_launch", "after_launch"]), NAMES, ARGS)
def test_any_header_gives_back_its_parts(phase, kernel, argument):
    (dump,) = read(f"[  {phase} - {kernel} - {argument}  ]:\nNumber of elements: 1\n").dumps
    assert (dump.phase, dump.kernel, dump.argument) == (phase, kernel, argument)
