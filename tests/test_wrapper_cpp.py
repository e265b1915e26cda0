"""C++ wrappers: from a kernel's parameter to the size and the input behind it, in every version's form."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.kernel.text import cpp_kernels, triton_kernels
from aoti_logs.code.model import ArgumentKind, Backend, CheckKind
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.sources.source import Kind, Source

HEAD = """\
#include <torch/csrc/inductor/aoti_include/cuda.h>
// fixed text of every wrapper: model->run_impl(inputs); "CUDA error: an illegal memory access was encountered"
class AOTInductorModelKernels : public AOTInductorModelKernelsBase {
  public:
    CUfunction triton_poi_fused_embedding_0{nullptr};
};
AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(2, 1, 1, device_str, std::move(cubin_dir), true) {
    inputs_info_[0].name = "arg8_1";
    inputs_info_[1].name = "arg10_1";
    constants_info_[0].name = "emb_weight";
    constants_info_[0].dtype = cached_torch_dtype_float32;
    constants_info_[0].shape = {1000, 64};
    constants_info_[0].original_fqn = "emb.weight";
}
"""
TRITON = """\
template <typename in_ptr0_type_, typename in_ptr1_type_, typename out_ptr0_type_, typename kernels_type_>
static inline void call_triton_poi_fused_embedding_0(
    const in_ptr0_type_& in_ptr0,
    const in_ptr1_type_& in_ptr1,
    const out_ptr0_type_& out_ptr0,
    int64_t ks0,
    int64_t xnumel,
    int32_t device_idx_,
    cudaStream_t stream_,
    kernels_type_& kernels_,
    const std::optional<std::string>& cubin_dir_ = std::nullopt
){
    /*
    async_compile.triton('triton_poi_fused_embedding_0', '''
    import triton
    import triton.language as tl

    @triton.jit
    def _triton_helper_fn_add0(arg0_0, arg1_0):
        return arg0_0 + arg1_0

    @triton_heuristics.pointwise(
        size_hints={'x': 64},
        triton_meta={'signature': {'in_ptr0': '*i64', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'ks0': 'i64', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda')},
    )
    @triton.jit
    def triton_poi_fused_embedding_0(in_ptr0, in_ptr1, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
        tl.device_assert((0 <= tmp4) & (tmp4 < ks0), "index out of bounds: 0 <= tmp4 < ks0")
    ''', device_str='cuda')
    */
    launchKernel(kernels_.triton_poi_fused_embedding_0, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream_);
}
AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg8_1 = ConstantHandle(input_handles[0]);
    int32_t arg8_1_expected_dtype = aoti_torch_dtype_int64();
    if (arg8_1_size[0] < 2) {
    }
    if (arg8_1_size[0] > 65536) {
    }
    if (1 != arg8_1_stride[0]) {
    }
    int32_t arg8_1_expected_device_type = 1;
        << "expected: " << arg8_1_expected_device_type << "1(cuda), "
}
static bool _check_aoti_runtime_check_inputs_env() {
}
"""
RUN = """\
void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles, // array of input AtenTensorHandle; handles
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    __check_inputs_outputs(input_handles, output_handles);
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 2);
    auto arg8_1 = std::move(inputs[0]);
    auto arg10_1 = std::move(inputs[1]);
    [[maybe_unused]] auto& emb_weight = constants_->at(0);
    auto arg8_1_size = arg8_1.sizes();
    int64_t s23 = arg8_1_size[0];
    int64_t s95 = s23;
    inputs.clear();
    const int64_t int_array_0[] = {s23, 64L};
    static constexpr int64_t int_array_1[] = {64L, 1L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cuda, this->device_idx_, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg10_1, {s23, 3L}, {3L, 1L}, "input"); }
    if (!(u0 <= s23)) { throw std::runtime_error("Expected u0 <= s23 but received " + std::to_string(u0)); }
    // Topologically Sorted Source Nodes: [embedding, add], Original ATen: [aten.embedding]
    // [Provenance debug handles] triton_poi_fused_embedding_0:3
    int64_t triton_poi_fused_embedding_0_xnumel = 64L*s23;
    call_triton_poi_fused_embedding_0(arg8_1, emb_weight, buf0, s95, triton_poi_fused_embedding_0_xnumel, this->device_idx_, stream, kernels, this->cubin_dir_);
    arg8_1.reset();
    static constexpr int64_t int_array_4[] = {64L, 128L};
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cuda_mm_out(buf1, buf0, wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(mlp_0_weight, 2, int_array_4, int_array_5, 0L))));
    aoti_torch_cuda_scatter_reduce_two_out(buf5, buf5,0,arg8_1,buf6, "sum",1);
    auto buf9 = std::move(buf0);  // reuse
    output_handles[0] = buf9.release();
} // AOTInductorModel::run_impl
// Compile cmd
// /usr/bin/g++ /tmp/demo/cabc.wrapper.cpp -O1 -o /tmp/demo/cabc.wrapper.o
// Link cmd
// /usr/bin/g++ /tmp/demo/cabc.wrapper.o /tmp/demo/cdef.kernel.o -o x.so
"""
AOTI = HEAD + TRITON + RUN


def wrapper(text: str) -> WrapperFile:
    return WrapperFile(Source("model.wrapper.cpp", Kind.WRAPPER_CPP, text.encode))


def entry(*lines: str, before: str = "") -> WrapperFile:
    body = "\n".join(f"    {line}" for line in lines)
    return wrapper(
        f"{before}\nvoid AOTInductorModel::run_impl(\n    int a // x\n) {{\n{body}\n}} // AOTInductorModel::run_impl\n"
    )


def test_message_leads_to_the_kernel_its_line_and_its_file():
    (kernel,) = wrapper(AOTI).kernels_with("index out of bounds: 0 <= tmp4 < ks0")
    lines = AOTI.split("\n")
    ((line, message),) = kernel.asserts
    assert kernel.backend is Backend.TRITON and message in lines[line - 1]
    assert "async_compile.triton(" in lines[kernel.first_line - 1]


def test_longer_bound_is_another_message():
    assert wrapper(AOTI.replace('ks0")', 'ks01")')).kernels_with("index out of bounds: 0 <= tmp4 < ks0") == ()


def test_parameters_come_in_order_with_types_of_the_signature():
    kernel = wrapper(AOTI).kernel("triton_poi_fused_embedding_0")
    assert kernel is not None
    assert [(p.name, p.dtype) for p in kernel.params] == [
        ("in_ptr0", "*i64"), ("in_ptr1", "*fp32"), ("out_ptr0", "*fp32"), ("ks0", "i64"), ("xnumel", "i32"),
        ("XBLOCK", "constexpr"),
    ]  # fmt: skip


def test_arguments_are_bound_by_position_and_launcher_arguments_to_nothing():
    (launch,) = wrapper(AOTI).launches_of("triton_poi_fused_embedding_0")
    bound = {a.param: (a.name, a.kind) for a in launch.arguments if a.param}
    assert bound["ks0"] == ("s95", ArgumentKind.SIZE)
    assert bound["in_ptr0"] == ("arg8_1", ArgumentKind.INPUT)
    assert bound["in_ptr1"] == ("emb_weight", ArgumentKind.CONSTANT)
    assert bound["out_ptr0"] == ("buf0", ArgumentKind.BUFFER)
    assert [a.kind for a in launch.arguments if a.param is None] == [ArgumentKind.OTHER] * 4


def test_comments_above_a_launch_belong_to_it():
    launch = wrapper(AOTI).launches[0]
    assert (launch.handle, launch.source_nodes) == (3, ("embedding", "add"))


def test_size_of_a_dimension_and_alias_of_it():
    sizes = {s.symbol: s for s in wrapper(AOTI).sizes}
    assert (sizes["s23"].tensor, sizes["s23"].dim) == ("arg8_1", 0)
    assert sizes["s95"].alias_of == "s23"
    assert sizes["triton_poi_fused_embedding_0_xnumel"].value is not None


def test_input_has_its_index_from_the_list_not_from_its_number():
    assert [(i.index, i.name) for i in wrapper(AOTI).inputs] == [(0, "arg8_1"), (1, "arg10_1")]


def test_constant_has_its_module_path():
    (constant,) = wrapper(AOTI).constants
    assert (constant.fqn, constant.dtype, constant.shape) == ("emb.weight", "float32", (1000, 64))


def test_checks_say_what_is_expected_and_that_they_are_gated():
    checks = {(c.kind, c.tensor): c for c in wrapper(AOTI).checks}
    assert checks[CheckKind.MIN, "arg8_1"].expected == "2"
    assert checks[CheckKind.MAX, "arg8_1"].expected == "65536"
    assert checks[CheckKind.DTYPE, "arg8_1"].expected == "int64"
    assert checks[CheckKind.DEVICE, "arg8_1"].expected == "cuda"
    assert checks[CheckKind.SIZE_STRIDE, "arg10_1"].gated
    assert not checks[CheckKind.RUNTIME_ASSERT, ""].gated
    assert checks[CheckKind.RUNTIME_ASSERT, ""].expected == "u0 <= s23"


def test_buffer_has_shape_and_reuse_names_the_old_one():
    buffers = {b.name: b for b in wrapper(AOTI).buffers}
    assert (buffers["buf0"].shape, buffers["buf0"].dtype) == (("s23", "64L"), "float32")
    assert buffers["buf9"].alias_of == "buf0"
    assert wrapper(AOTI).outputs == ("buf9",)


def test_unchecked_shim_call_is_marked():
    checked = {launch.kernel: launch.checked for launch in wrapper(AOTI).launches}
    assert checked.pop("aoti_torch_cuda_scatter_reduce_two_out") is False and all(checked.values())


def test_fixed_text_is_not_model_code():
    file = wrapper(AOTI)
    assert file.unread == () and len(file.launches) == 3
    assert file.flavour == "aoti_cpp" and file.devices == ("cuda",)


def test_commands_name_the_kernel_file():
    assert wrapper(AOTI).kernel_files == ("cdef.kernel.cpp",)


OLD_KERNEL = """
extern "C" void cpp_fused_index_0(const int64_t* in_ptr0,
                       float* out_ptr0,
                       const long ks0)
{
    AOTI_TORCH_CHECK((0 <= tmp7) & (tmp7 < ks0), "index out of bounds: 0 <= tmp7 < ks0");
}
"""


def test_torch24_casts_sizes_and_aten_calls():
    file = entry(
        "auto inputs = alloc_tensors_by_stealing_from_handles(input_handles, 1);",
        "auto arg0_1 = std::move(inputs[0]);",
        "auto L__self___b = *tensor_handle_to_tensor_pointer(constants_->at(0));",
        "auto arg0_1_size = arg0_1.sizes();",
        "auto s0 = arg0_1_size[0];",
        "at::Tensor buf0 = at::detail::empty_strided_cpu({s0, 64L}, {64L, 1L}, at::kFloat);",
        "cpp_fused_index_0((int64_t*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()), s0);",
        "at::addmm_out(buf1, L__self___b, buf0, reinterpret_tensor(arg0_1, {4L}, {1L}, 0L), 1L, 1L);",
        "decltype(auto) buf7 = buf0; buf0.reset();;  // reuse",
        "auto buf11 = at::_ops::cumsum::call(buf7, 0L, std::nullopt);",
        "output_handles[0] = reinterpret_cast<AtenTensorHandle>(new at::Tensor(buf11));",
        before=OLD_KERNEL,
    )
    fused, addmm, cumsum = file.launches
    assert [(a.param, a.name) for a in fused.arguments] == [
        ("in_ptr0", "arg0_1"),
        ("out_ptr0", "buf0"),
        ("ks0", "s0"),
    ]
    assert addmm.outputs == ("buf1",) and addmm.arguments[3].name == "arg0_1"
    assert cumsum.outputs == ("buf11",) and file.outputs == ("buf11",)
    assert next(b for b in file.buffers if b.name == "buf7").alias_of == "buf0"
    assert file.inputs[0].name == "arg0_1" and file.unread == ()


def test_torch24_abi_temporaries_lead_back_to_the_argument():
    file = entry(
        "int64_t* arg8_1_size;",
        "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(arg8_1, &arg8_1_size));",
        "auto s0 = arg8_1_size[0];",
        "auto* var_0 = get_data_ptr_wrapper(arg8_1);",
        "auto* var_1 = get_data_ptr_wrapper(buf0);",
        "cpp_fused_index_0((const int64_t*)(var_0), (float*)(var_1), s0);",
        before=OLD_KERNEL,
    )
    assert [a.name for a in file.launches[0].arguments] == ["arg8_1", "buf0", "s0"]
    assert file.sizes[0].tensor == "arg8_1"


def test_old_gpu_launch_takes_its_arguments_from_the_array():
    file = entry(
        "CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(arg0_1.data_ptr());",
        "auto var_1 = s0;",
        "void* kernel_args_var_0[] = {&var_0, &var_1};",
        "if (triton_poi_fused_0_grid_0.is_non_zero()) {",
        "launchKernel(kernels.triton_poi_fused_0, grid.grid_x, 1, 1, 4, 0, kernel_args_var_0, stream);",
        "}",
    )
    (launch,) = file.launches
    assert launch.kernel == "triton_poi_fused_0"
    assert [a.name for a in launch.arguments] == ["arg0_1", "s0"]


@pytest.mark.parametrize(
    ("lines", "symbol", "fields"),
    [
        (["int64_t s5 = arg0_1_stride[0];"], "s5", {"tensor": "arg0_1", "dim": 0, "stride": True}),
        (["int64_t s7 = c10::div_floor_integer(static_cast<int64_t>(arg0_1_size_0), 2L);"], "s7", {"tensor": None}),
        (["double zf0 = arg3_1;"], "zf0", {"alias_of": "arg3_1"}),
        (["auto u0 = buf2.size(0);"], "u0", {"tensor": "buf2", "dim": 0}),
        (
            ["int64_t u0_raw;", "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(buf0, &u0_raw));", "auto u0 = u0_raw;"],
            "u0",
            {"alias_of": "u0_raw", "unbacked": True},
        ),
    ],
)  # fmt: skip
def test_size_forms(lines, symbol, fields):
    size = next(s for s in entry(*lines).sizes if s.symbol == symbol)
    assert {name: getattr(size, name) for name in fields} == fields


def test_scalar_input_is_unpacked_through_item():
    file = entry(
        "int64_t arg1_1;",
        "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(inputs[1], &arg1_1));",
        "int64_t s23 = arg1_1;",
    )
    assert file.inputs[0].scalar and file.inputs[0].index == 1


def test_stack_of_a_context_guard_ends_with_its_block():
    file = entry(
        "{",
        'KernelContextGuard _ctx("k", R"(',
        'File "m.py", line 45, in forward',
        ')");',
        "aoti_torch_cpu_mm_out(buf0, a, b);",
        "}",
        "aoti_torch_cpu_mm_out(buf1, a, b);",
    )
    first, second = file.launches
    assert first.stack is not None and 'File "m.py", line 45' in first.stack
    assert second.stack is None


def test_custom_op_names_its_operator_arguments_and_results():
    file = entry(
        "RAIIAtenTensorHandle buf2;",
        "{",
        "std::vector<c10::IValue> dispatch_stack_0;",
        "dispatch_stack_0.emplace_back(c10::IValue(*torch::aot_inductor::tensor_handle_to_tensor_pointer(buf0)));",
        'static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("mylib::foo", "");',
        "op.callBoxed(&dispatch_stack_0);",
        "buf2 = torch::aot_inductor::new_tensor_handle(std::move(dispatch_stack_0[0]).toTensor());",
        "}",
    )
    (launch,) = file.launches
    assert (launch.kernel, launch.outputs) == ("mylib::foo", ("buf2",))
    assert [a.name for a in launch.arguments] == ["buf0"]


def test_what_no_form_fits_is_kept():
    assert entry("frobnicate(buf0) << 3;").unread != ()


@given(st.integers(0, len(AOTI)))
def test_torn_file_never_raises(end):
    assert wrapper(AOTI[:end]).model is not None


def test_cpp_kernel_file_leaves_declarations_out():
    text = OLD_KERNEL.replace("{\n    AOTI", ";\n").replace("CHECK", "x") + OLD_KERNEL
    source = Source("k.kernel.cpp", Kind.KERNEL_CPP, text.encode)
    (kernel,) = cpp_kernels(source)
    assert [p.name for p in kernel.params] == ["in_ptr0", "out_ptr0", "ks0"]
    assert kernel.params[0].pointer and kernel.asserts[0][1] == "index out of bounds: 0 <= tmp7 < ks0"


def test_cache_file_gives_the_heuristic_kernel_not_its_helper():
    inner = re.search(r"'''(.*?)'''", TRITON, re.DOTALL)
    assert inner is not None
    (kernel,) = triton_kernels(Source("k.py", Kind.TRITON_KERNEL, inner[1].encode))
    assert kernel.name == "triton_poi_fused_embedding_0" and len(kernel.params) == 6


@pytest.mark.corpus
def test_every_fused_launch_of_real_wrappers_is_bound(corpus_dir):
    """Every parameter of every fused kernel has its argument, and `ks` parameters a size."""
    missing, unread, launches = [], [], 0
    for path in sorted(corpus_dir.rglob("*.cpp")):
        data = path.read_bytes()
        if b"::run_impl(\n" not in data:
            continue
        file = WrapperFile(Source(str(path), Kind.WRAPPER_CPP, partial(bytes, data)))
        unread += [(path, row) for row in file.unread]
        symbols = {s.symbol for s in file.sizes}
        for launch in file.launches:
            kernel = file.kernel(launch.kernel)
            if launch.backend is Backend.EXTERN or kernel is None:
                continue
            launches += 1
            bound = {a.param: a for a in launch.arguments}
            for param in kernel.params:
                if param.dtype == "constexpr" and not param.name.endswith("numel"):
                    continue
                given_ = bound.get(param.name)
                known = given_ is not None and (not param.name.startswith("ks") or given_.name in symbols)
                if not known and (given_ is None or given_.kind is not ArgumentKind.LITERAL):
                    missing.append((path, launch.kernel, param.name))
    assert launches > 100 and not missing and not unread
