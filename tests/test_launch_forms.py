"""Launches of C++ wrappers: grids, streams, subgraphs, values of sizes, in the text that the installed torch writes."""

import pytest

from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.wrapper.argument_text import passed
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.sources.source import Kind, Source


def wrapper(text: str) -> WrapperFile:
    return WrapperFile(Source("model.wrapper.cpp", Kind.WRAPPER_CPP, text.encode))


def entry(*lines: str, before: str = "") -> WrapperFile:
    body = "\n".join(f"    {line}" for line in lines)
    return wrapper(
        f"{before}\nvoid AOTInductorModel::run_impl(\n    int a // x\n) {{\n{body}\n}} // AOTInductorModel::run_impl\n"
    )


# Lines of a wrapper that torch 2.13 wrote of `torch.cond` in `torch.cond` (cpp_wrapper_cpu.py, codegen_conditional).
COND = """\
    bool arg1_1_scalar;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_bool(arg1_1, &arg1_1_scalar));
    if (arg1_1_scalar) {
        // subgraph: true_graph_0
        AtenTensorHandle true_graph_0_arg0_1_handle;
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(arg0_1, &true_graph_0_arg0_1_handle));
        RAIIAtenTensorHandle true_graph_0_arg0_1(true_graph_0_arg0_1_handle);
        cpp_fused_gt_sum_0((const float*)(true_graph_0_arg0_1.data_ptr()), (float*)(true_graph_0_buf0.data_ptr()));
        if (true_graph_0_buf1_scalar) {
            // subgraph: true_graph_0
            AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_sort_stable(true_graph_0_true_graph_0_arg0_1, &var_0, 0L, 0, &true_graph_0_true_graph_0_buf1_handle, &true_graph_0_true_graph_0_buf2_handle));
        } else {
            // subgraph: false_graph_0
            aoti_torch_cpu_scatter_reduce_two_out(buf5, buf5,0,arg0_1,buf6, "sum",1);
        }
    } else {
        // subgraph: false_graph_0
        aoti_torch_index_put_out(buf0, buf0, std::array<AtenTensorHandle, 1>{arg1_1}.cbegin(), 1, arg2_1, 0);
    }
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf1, {6L, 4L}, {4L, 1L}, "torch.ops.cond"); }
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf9, buf1, buf1));
"""


def test_calls_in_conditions_know_their_branch_and_their_subgraph():
    found = [(k.branch, k.subgraph, k.checked) for k in entry(COND).launches]
    first, other = "if (arg1_1_scalar)", "else of if (arg1_1_scalar)"
    second = "if (true_graph_0_buf1_scalar)"
    assert found == [
        ((first,), "true_graph_0", True),
        ((first, second), "true_graph_0_true_graph_0", True),
        ((first, f"else of {second}"), "true_graph_0_false_graph_0", False),
        ((other,), "false_graph_0", False),
        ((), None, True),
    ]


def test_loop_has_a_subgraph_for_its_condition_and_one_for_its_body():
    file = entry(
        "while (1) {",
        "    // subgraph: while_loop_cond_graph_0",
        "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_gt(buf1, buf2));",
        "    if (!buf0_cond_result_scalar) break;",
        "    // subgraph: while_loop_body_graph_0",
        "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf3, buf1, buf2));",
        "}",
    )
    assert [(k.branch, k.subgraph) for k in file.launches] == [
        (("while (1)",), "while_loop_cond_graph_0"),
        (("while (1)",), "while_loop_body_graph_0"),
    ]


def test_element_count_set_twice_has_at_each_launch_the_value_it_had_there():
    before = 'extern "C" void k(float* out_ptr0, const int64_t xnumel);\n'
    file = entry(
        "int64_t k_xnumel = 64L*s23;",
        "k((float*)(buf0.data_ptr()), k_xnumel);",
        "k_xnumel = c10::div_floor_integer(static_cast<int64_t>(s23), static_cast<int64_t>(2L));",
        "k((float*)(buf1.data_ptr()), k_xnumel);",
        before=before,
    )
    assert [passed(k, cpp=True) for k in file.launches] == [["buf0", "64*s23"], ["buf1", "s23 // 2"]]


def test_handle_that_a_call_fills_is_named_by_its_owner():
    file = entry(
        "AtenTensorHandle buf6_handle;",
        "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_cumsum(buf2, 1L, nullptr, &buf6_handle));",
        "RAIIAtenTensorHandle buf6(buf6_handle);",
    )
    assert passed(file.launches[0], cpp=True) == ["buf2", "1", "nullptr", "buf6"]


def test_call_that_no_form_fits_is_told():
    file = entry("auto buf3 = torch_new_runtime_call(buf1, 4L);", "Unheard held(buf1);", "do_it(buf1);")
    assert [text for _, text in file.unread] == [
        "auto buf3 = torch_new_runtime_call(buf1, 4L)",
        "Unheard held(buf1)",
        "do_it(buf1)",
    ]


# Written by CppWrapperGpu of torch 2.5 (`generate_kernel_call` in torch/_inductor/codegen/cpp_wrapper_gpu.py).
OLD_GPU = """\
class AOTInductorModelKernels : public AOTInductorModelKernelsBase {
  public:
    CUfunction triton_poi_fused_add_0{nullptr};
};
void AOTInductorModel::run_impl(
    int a // x
) {
    if (kernels.triton_poi_fused_add_0 == nullptr) {
        kernels.triton_poi_fused_add_0 = loadKernel("/tmp/c/k.cubin", "triton_poi_fused_add_0_0d1d2", 512, this->cubin_dir_);
    }
    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(arg0_1.data_ptr());
    CUdeviceptr var_1 = reinterpret_cast<CUdeviceptr>(buf0.data_ptr());
    auto var_2 = 64L*s0;
    void* kernel_args_var_0[] = {&var_0, &var_1, &var_2};
    Grid triton_poi_fused_add_0_grid_0 = Grid(c10::div_floor_integer((63L + s0), 64L), 1L, 1L);
    if (triton_poi_fused_add_0_grid_0.is_non_zero()) {
        launchKernel(kernels.triton_poi_fused_add_0, triton_poi_fused_add_0_grid_0.grid_x, triton_poi_fused_add_0_grid_0.grid_y, triton_poi_fused_add_0_grid_0.grid_z, 4, 512, kernel_args_var_0, stream);
    }
} // AOTInductorModel::run_impl
"""


def test_torch25_starts_triton_kernels_in_place_and_does_not_tell_their_parameters():
    file = wrapper(OLD_GPU)
    (launch,) = file.launches
    assert launch.backend is Backend.TRITON and launch.branch == () and launch.stream == "stream"
    assert launch.grid == ("c10::div_floor_integer((63L + s0), 64L)", "1L", "1L")
    assert launch.unbound == "its parameters are not known"
    assert passed(launch, cpp=True) == ["arg0_1", "buf0", "64*s0"]
    (started,) = file.launchers
    assert (started.binary, started.symbol, started.num_warps, started.shared_bytes) == (
        "/tmp/c/k.cubin", "triton_poi_fused_add_0_0d1d2", 4, 512,
    )  # fmt: skip
    assert file.unread == ()


def lazy_text(name: str, signature: dict[str, str], types: list[object], meta: dict[str, object]) -> str:
    """Return what the installed torch writes of a kernel that is compiled when it first runs."""
    pytest.importorskip("torch")
    gpu = pytest.importorskip("torch._inductor.codegen.cpp_wrapper_gpu")
    if not hasattr(gpu.DeferredTritonCallWrapper, "generate_lazy"):
        pytest.skip("this torch compiles no kernels lazily")
    from itertools import count
    from types import SimpleNamespace

    pytest.importorskip("torch._inductor.codegen.cuda.device_op_overrides")
    from torch._inductor.codegen.common import get_device_op_overrides
    from torch._inductor.utils import IndentedBuffer
    from torch._inductor.virtualized import V

    written = object.__new__(gpu.CppWrapperGpu)
    written.device, written.device_codegen = "cuda", get_device_op_overrides("cuda")
    written.prefix, written.header, written.arg_var_id = IndentedBuffer(), IndentedBuffer(), count()
    written._lazy_kernel_names, written._included_extra_headers = [], set()
    written.used_cached_dtypes, written.used_cached_devices = set(), set()
    graph = SimpleNamespace(aot_mode=False, is_const_graph=False, device_type="cuda", cpp_wrapper=True)
    with V.set_graph_handler(graph):
        gpu.DeferredTritonCallWrapper(
            f"call_{name}", name, {name: ""}, types, {"signature": signature}, meta
        ).generate_lazy(written)
    return str(written.prefix.getvalue())


def jit(before: str, *lines: str) -> WrapperFile:
    body = "\n".join(f"    {line}" for line in lines)
    return wrapper(
        f"{before}\nvoid inductor_entry_impl(\n    int a // x\n) {{\n{body}\n}} // inductor_entry_impl\n"
    )


def symbolic() -> object:
    return pytest.importorskip("torch._inductor.codegen.wrapper").SymbolicCallArg


def test_kernel_compiled_at_its_first_run_is_bound_and_its_blocks_are_the_runs():
    torch = pytest.importorskip("torch")
    size = symbolic()
    text = lazy_text(
        "triton_poi_fused_add_0",
        {"in_ptr0": "*fp32", "out_ptr0": "*fp32", "ks0": "i64", "xnumel": "i32", "XBLOCK": "constexpr"},
        [torch.float32, torch.float32, size, size],
        {"grid_type": "Grid1D"},
    )
    file = jit(
        text,
        "ensure_triton_kernel_compiles_started();",
        "cudaStream_t stream0;",
        "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(0, (void**)&stream0));",
        "call_triton_poi_fused_add_0(arg0_1, buf0, s0, triton_poi_fused_add_0_xnumel, 0, stream0);",
    )
    (launch,) = file.launches
    assert [a.param for a in launch.arguments] == ["in_ptr0", "out_ptr0", "ks0", "xnumel", None, None]
    assert launch.stream == "stream0" and launch.unbound is None and file.unread == ()
    (started,) = file.launchers
    assert started.num_warps is None and started.skips_empty and len(started.workspaces) == 2
    assert started.passed == ("in_ptr0", "out_ptr0", "ks0", "xnumel")
    assert launch.grid[1:] == ("1", "1") and "triton_poi_fused_add_0_result.xblocks[0]" in launch.grid[0]


def test_grid_that_a_user_chooses_per_configuration_is_not_guessed():
    torch = pytest.importorskip("torch")
    size = symbolic()
    text = lazy_text(
        "scale_0",
        {"in_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        [torch.float32, torch.float32, size, size, size],
        {
            "grid_type": "PrecomputedGrid",
            "declared_constexpr_names": ["BLOCK"],
            "extra_launcher_args": ["_launcher_s0", "_launcher_s1"],
            "precomputed_grids": [
                {"config": {"BLOCK": 64}, "cpp": ["_launcher_s0", "1L", "1L"]},
                {"config": {"BLOCK": 128}, "cpp": ["_launcher_s1", "1L", "1L"]},
            ],
        },
    )
    (launch,) = jit(text, "call_scale_0(arg0_1, buf0, s0, 4L, 2L, 0, stream0);").launches
    assert launch.unbound is None and launch.grid == ()
    assert [(a.param, a.text) for a in launch.arguments if a.kind is not ArgumentKind.OTHER] == [
        ("in_ptr", "arg0_1"), ("out_ptr", "buf0"), ("n", "s0"), (None, "4L"), (None, "2L"),
    ]  # fmt: skip
