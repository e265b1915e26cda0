"""Every statement that a Python wrapper can hold is read: what it calls, makes, measures, checks."""

import pytest

from aoti_logs.code.model import ArgumentKind, CheckKind
from tests.python_wrapper_text import wrapper


def calls(*statements: str):
    code = wrapper(*statements)
    assert code.unread == ()
    return [(launch.kernel, launch.outputs) for launch in code.launches]


# The texts are those of torch/_inductor/codegen/wrapper.py, ir.py, simd.py and codegen/debug_utils.py, torch 2.4 to 2.13.
CALLS = {
    "extern_kernels.mm(arg0_1, arg1_1, out=buf0)": ("extern_kernels.mm", ("buf0",)),
    "extern_kernels.mm(arg0_1, arg1_1, out=reinterpret_tensor(buf0, (4, ), (1, ), 0))": (
        "extern_kernels.mm",
        ("buf0",),
    ),
    "buf1 = torch.ops.aten.sort.stable(arg0_1, stable=False, dim=1, descending=False)": (
        "torch.ops.aten.sort.stable",
        ("buf1",),
    ),
    "aten.index_put_(buf0, [None, arg1_1], buf2, True)": ("aten.index_put_", ("buf0",)),
    "aten.scatter_reduce_.two(buf0,0,arg1_1,buf2, reduce='sum', include_self=True)": (
        "aten.scatter_reduce_.two",
        ("buf0",),
    ),
    "torch.ops._c10d_functional.all_reduce_.default(buf0, 'avg', '0')": (
        "torch.ops._c10d_functional.all_reduce_.default",
        ("buf0",),
    ),
    "torch.ops._c10d_functional.wait_tensor.default(buf0)": (
        "torch.ops._c10d_functional.wait_tensor.default",
        (),
    ),
    "buf7 = torch.ops.aten.topk.values(arg0_1, 3, out0=buf0, out1=buf1)": (
        "torch.ops.aten.topk.values",
        ("buf7", "buf0", "buf1"),
    ),
    "inductor_ops.resize_storage_bytes_(arg0_1, 64)": ("inductor_ops.resize_storage_bytes_", ("arg0_1",)),
    "aten.bernoulli_.float(buf0, 0.5)": ("aten.bernoulli_.float", ("buf0",)),
    "buf1.copy_(arg0_1, False)": ("Tensor.copy_", ("buf1",)),
    "workspace_0.zero_()": ("Tensor.zero_", ("workspace_0",)),
    "buf3 = torch.ops.aten.view_as_complex.default(buf2).clone()": (
        "torch.ops.aten.view_as_complex.default",
        ("buf3",),
    ),
    "buf0 = workspace_0[0 * (8) * (4) : (0 + 1) * (8) * (4)].view(8, 4).sum(dim=0).view([4]).to(torch.float16)": (
        "Tensor.sum",
        ("buf0",),
    ),
    "buf9 = torch.ops.higher_order.run_with_rng_state(fwd_rng_state_0, torch.ops.aten.rand.default, [4])": (
        "torch.ops.higher_order.run_with_rng_state",
        ("buf9",),
    ),
    "torch.ops.streams.wait_event.default(1, 2)": ("torch.ops.streams.wait_event.default", ()),
}


@pytest.mark.parametrize("line", CALLS)
def test_a_call_says_what_it_calls_and_writes(line):
    assert calls(line) == [CALLS[line]]


NOTHING = [
    "torch.cuda.set_device(0)",
    "torch.cuda.synchronize()",
    "stream0 = get_raw_stream(0)",
    "default_stream = torch.cuda.current_stream()",
    "stream1 = get_external_object_by_index(2)",
    "_d2h_event_buf0 = torch.Event()\n_d2h_event_buf0.record()\n_d2h_event_buf0.synchronize()",
    "run_intermediate_hooks('mm', buf0)",
    '_print_debugging_tensor_value_info("inductor: before_launch - extern_kernels.mm - arg0_1", arg0_1)',
    "torch.save(arg0_1, '/srv/demo/tmp/jit_inductor/before_launch_extern_kernels.mm_arg0_1.pt')",
    "start_graph()",
    "end_graph(None)",
    "training_annotation = nvtx._device_range_start('inference')\nnvtx._device_range_end(training_annotation)",
    "check_memory_step(allocated=['buf0'], freed=[], is_final_step=True)",
    "track_tensor(buf0, 'buf0')",
    "assert not arg0_1.isnan().any().item()",
    "print('moo {} {}'.format(1, 2))",
    "buf5 = None",
    "return_vars = (buf2, )\nfor var in return_vars:\n    if isinstance(var, torch.Tensor):\n        assert not var.isnan().any().item()",
    "for kernel in globals().values():\n    if isinstance(kernel, triton_heuristics.CachingAutotuner):\n        kernel.cuda_kernel_saved = False",
    "from torch.profiler import record_function",
    "# buffer buf4 (op: buf3) is assumed to be not aligned\npass",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_has_no_meaning_for_the_model_is_no_launch(text):
    code = wrapper(text)
    assert (code.launches, code.unread, code.buffers, code.sizes) == ((), (), (), ())


def test_what_no_form_fits_is_kept_as_unread():
    code = wrapper("buf0[arg0_1] = 1", "lambda: 1", "buf1: int = 2", "x += 1", "self.partitions[3](a)")
    assert [text for _, text in code.unread] == [
        "buf0[arg0_1] = 1", "lambda: 1", "buf1: int = 2", "x += 1", "self.partitions[3](a)",
    ]  # fmt: skip
    assert code.launches == ()


BUFFERS = {
    "buf0 = empty_strided_cuda((s70, 16), (16, 1), torch.float32)": (
        ("s70", "16"), ("16", "1"), "float32", "cuda", None, False, None,
    ),
    "buf0 = empty_strided_cpu_pinned((4, ), (1, ), torch.int64)": (
        ("4",), ("1",), "int64", "cpu", None, False, None,
    ),
    "buf0 = empty_strided((4, ), (1, ), device='mps', dtype=torch.float32)": (
        ("4",), ("1",), "float32", "mps", None, False, None,
    ),
    "buf0 = tracked_empty_strided((4, ), (1, ), dtype=torch.float32, device='cuda', name='buf0')": (
        ("4",), ("1",), "float32", "cuda", None, False, None,
    ),
    "buf0 = empty_strided_p2p((4, ), (1, ), torch.float32, torch.device(\"cuda:0\"), group_name=\"0\", alloc_id=7)": (
        ("4",), ("1",), "float32", "cuda", None, False, None,
    ),
    "buf0 = empty_strided_cuda((8, 16), (16, 1), torch.float32).as_strided((7, 15), (16, 1))": (
        ("7", "15"), ("16", "1"), "float32", "cuda", None, False, None,
    ),
    "buf0 = reinterpret_tensor(buf1, (4, 8), (8, 1), 32); del buf1  # reuse": (
        ("4", "8"), ("8", "1"), None, None, "buf1", True, "32",
    ),
    "buf0 = aten.view.dtype(reinterpret_tensor(buf1, (4, ), (1, ), 2), torch.int32)": (
        ("4",), ("1",), "int32", None, "buf1", True, "2",
    ),
    "buf0 = alloc_from_pool(pool1, 6400, torch.float32, (40, ), (1, ))": (
        ("40",), ("1",), "float32", None, "pool1", True, "6400",
    ),
    "buf0 = buf1; del buf1  # reuse": (None, None, None, None, "buf1", False, None),
    "tma_descriptor_0 = triton.tools.tensor_descriptor.TensorDescriptor.from_tensor(buf1, [64, 64])": (
        None, None, None, None, "buf1", True, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", BUFFERS)
def test_memory_has_shape_and_origin(line):
    code = wrapper(line)
    (b,) = code.buffers
    assert (b.shape, b.stride, b.dtype, b.device, b.alias_of, b.view, b.offset) == BUFFERS[line]
    assert code.unread == () and code.launches == ()


SIZES = {
    "s70 = arg0_1": ("s70", None, None, "arg0_1", False),
    "u0 = buf3.item()": ("u0", "buf3", None, None, True),
    "u0 = 1 if buf3.item() else 0": ("u0", "buf3", None, None, True),
    "u0 = buf6.size(0)": ("u0", "buf6", 0, None, True),
    "u0 = buf6[1].stride(2)": ("u0", "buf6", 2, None, True),
    "u0 = buf6.size(0).__floordiv__(4)": ("u0", "buf6", None, None, True),
    "u1 = 4 + 8 * (u0 + 20 if u0 < 0 else u0)": ("u1", None, None, None, True),
    "u1 = max(0, u1_end - u1_start)": ("u1", None, None, None, True),
    "triton_poi_fused_add_0_xnumel = 16*s70": ("triton_poi_fused_add_0_xnumel", None, None, None, False),
    "ps0 = 1 + (s70 // 4)": ("ps0", None, None, None, False),
}


@pytest.mark.parametrize("line", SIZES)
def test_sizes_say_where_they_come_from(line):
    code = wrapper(line)
    (s,) = code.sizes
    assert (s.symbol, s.tensor, s.dim, s.alias_of, s.unbacked) == SIZES[line]
    assert code.unread == () and code.launches == ()


def test_computed_sizes_are_expressions():
    sizes = wrapper("s70 = arg0_1", "ps0 = 1 + (s70 // 4)").sizes
    assert str(sizes[1].value) == "1 + (s70 // 4)"


def test_divided_item_is_checked():
    code = wrapper(
        "u0_undivided = buf3.item()",
        "assert u0_undivided % 4 == 0, f'{u0_undivided} not divisible by 4'",
        "u0 = u0_undivided // 4",
    )
    assert [s.symbol for s in code.sizes] == ["u0_undivided", "u0"]
    assert [(c.kind, c.expected) for c in code.checks] == [
        (CheckKind.RUNTIME_ASSERT, "u0_undivided % 4 == 0")
    ]


def test_asserts_of_alignment():
    (check,) = wrapper("assert_alignment(buf1, 16, 'torch.ops.cond')").checks
    assert (check.kind, check.tensor, check.expected) == (CheckKind.ALIGNMENT, "buf1", "16")


def test_an_input_that_is_copied_when_misaligned_stays_the_input():
    code = wrapper("arg0_1 = copy_if_misaligned(arg0_1)", "cpp_fused_mul_1(arg0_1, buf0, 4)")
    assert (code.launches[0].arguments[0].kind, code.buffers) == (ArgumentKind.INPUT, ())
