
#include <torch/csrc/inductor/aoti_include/array_ref.h>
// (fixed text left out)
} // extern "C"

extern "C"  void  cpp_fused_cos_0(const float* in_ptr0,
                       float* out_ptr0);
extern "C"  void  cpp_fused_cos_gt_1(const int64_t* in_ptr0,
                       bool* out_ptr0);
extern "C"  void  cpp_fused_add_cos_mul_sin_sub_2(const float* in_ptr0,
                       const int64_t* in_ptr1,
                       float* out_ptr0,
                       int64_t* out_ptr1);
extern "C"  void  cpp_fused_add_3(float* in_out_ptr0);
CACHE_TORCH_DTYPE(float32);
CACHE_TORCH_DTYPE(bool);
CACHE_TORCH_DTYPE(int64);
CACHE_TORCH_DEVICE(cpu);
namespace torch::aot_inductor {
namespace {
class AOTInductorModelKernels : public AOTInductorModelKernelsBase {
  public:
    void* cpp_fused_add_3{nullptr};
    void* cpp_fused_add_cos_mul_sin_sub_2{nullptr};
    void* cpp_fused_cos_0{nullptr};
    void* cpp_fused_cos_gt_1{nullptr};
};
}  // namespace



AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::shared_ptr<std::vector<ConstantHandle>> constants_array,
                                   const std::string& device_str,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(2,
                           2,
                           0,
                           device_str,
                           std::move(cubin_dir),
                           true) {
    inputs_info_[0].name = "arg0_1";
    inputs_info_[1].name = "arg1_1";
    update_constants_map(std::move(constants_map));
    update_constants_array(std::move(constants_array));
    in_spec_ = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
    out_spec_ = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, {"type": null, "context": null, "children_spec": []}]}])";
    outputs_info_[0].name = "output0";
    outputs_info_[1].name = "output1";
    this->kernels_ = std::make_unique<AOTInductorModelKernels>();
}

std::unordered_map<std::string, AtenTensorHandle> AOTInductorModel::const_run_impl(
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor,
    bool initialization
) {

    if (!initialization) {
        std::cerr << "[WARNING] Calling constant_folding in model, but compiled with config: "
                  << "aot_inductor.use_runtime_constant_folding=False\n";
    }
    return {};
}
} // namespace torch::aot_inductor
using namespace torch::aot_inductor;
namespace torch::aot_inductor {

using AOTInductorModelInputs = std::tuple<ArrayRefTensor<int64_t>, ArrayRefTensor<float>>;
using AOTInductorModelOutputs = std::tuple<ArrayRefTensor<float>, ArrayRefTensor<int64_t>>;

void AOTInductorModel::_const_run_impl(
    std::vector<AtenTensorHandle>& output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {}

AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg0_1 = ConstantHandle(input_handles[0]);
    int32_t arg0_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg0_1, &arg0_1_dtype));

    int32_t arg0_1_expected_dtype = aoti_torch_dtype_int64();
    if (arg0_1_expected_dtype != arg0_1_dtype) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched dtype, "
           << "expected: " << arg0_1_expected_dtype << "(at::kLong), "
           << "but got: " << arg0_1_dtype << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    auto arg0_1_size = arg0_1.sizes();
    auto arg0_1_stride = arg0_1.strides();
    int32_t arg0_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg0_1, &arg0_1_device_type));

    int32_t arg0_1_expected_device_type = 0;
    if (arg0_1_expected_device_type != arg0_1_device_type) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched device type, "
        << "expected: " << arg0_1_expected_device_type << "0(cpu), "
        << "but got: " << arg0_1_device_type << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
}

AOTI_NOINLINE static void check_input_1(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg1_1 = ConstantHandle(input_handles[1]);
    int32_t arg1_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg1_1, &arg1_1_dtype));

    int32_t arg1_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg1_1_expected_dtype != arg1_1_dtype) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched dtype, "
           << "expected: " << arg1_1_expected_dtype << "(at::kFloat), "
           << "but got: " << arg1_1_dtype << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    auto arg1_1_size = arg1_1.sizes();

    if (6 != arg1_1_size[0]) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched dim value at 0, "
           << "expected: 6, " << "but got: " << arg1_1_size[0]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }

    if (16 != arg1_1_size[1]) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched dim value at 1, "
           << "expected: 16, " << "but got: " << arg1_1_size[1]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    auto arg1_1_stride = arg1_1.strides();

    if (16 != arg1_1_stride[0]) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched stride value at 0, "
           << "expected: 16, " << "but got: " << arg1_1_stride[0]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }

    if (1 != arg1_1_stride[1]) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched stride value at 1, "
           << "expected: 1, " << "but got: " << arg1_1_stride[1]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    int32_t arg1_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg1_1, &arg1_1_device_type));

    int32_t arg1_1_expected_device_type = 0;
    if (arg1_1_expected_device_type != arg1_1_device_type) {
        std::stringstream ss;
        ss << "input_handles[1]: unmatched device type, "
        << "expected: " << arg1_1_expected_device_type << "0(cpu), "
        << "but got: " << arg1_1_device_type << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
}

static bool _check_aoti_runtime_check_inputs_env() {
    const static char* env_var_value = getenv("AOTI_RUNTIME_CHECK_INPUTS");
    const static bool result = env_var_value != nullptr && env_var_value[0] != '0';
    return result;
}

AOTI_NOINLINE static void __check_inputs_outputs(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles) {
    if (!_check_aoti_runtime_check_inputs_env()){
        return;
    }
    check_input_0(input_handles);
    check_input_1(input_handles);
}

template <>
AOTInductorModelOutputs AOTInductorModel::run_impl_minimal_arrayref_interface<
  AOTInductorModelInputs, AOTInductorModelOutputs>(
    const AOTInductorModelInputs& inputs,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto arg0_1 = std::get<0>(inputs);
    auto arg1_1 = std::get<1>(inputs);
    assert_numel(arg0_1, 1);
    assert_numel(arg1_1, 96);
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    static constexpr int64_t int_array_0[] = {6L, 16L};
    static constexpr int64_t int_array_1[] = {16L, 1L};
    float buf0_storage[96];
    ArrayRefTensor<float> buf0(buf0_storage, int_array_0, int_array_1, cached_torch_device_type_cpu, this->device_idx_);
    auto* var_0 = get_data_ptr_wrapper(arg1_1);
    auto* var_1 = get_data_ptr_wrapper(buf0);
    cpp_fused_cos_0((const float*)(var_0), (float*)(var_1));

    RAIIAtenTensorHandle buf1_cond_result;
    AtenTensorHandle buf2_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(arg0_1), &buf2_handle));
    RAIIAtenTensorHandle buf2(buf2_handle);
    AtenTensorHandle buf3_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(buf0), &buf3_handle));
    RAIIAtenTensorHandle buf3(buf3_handle);
    while (1) {
        // subgraph: while_loop_cond_graph_0
        AtenTensorHandle while_loop_cond_graph_0_arg0_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_cond_graph_0_arg0_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_cond_graph_0_arg0_1_handle)); } }(buf2);
        RAIIAtenTensorHandle while_loop_cond_graph_0_arg0_1(while_loop_cond_graph_0_arg0_1_handle);
        AtenTensorHandle while_loop_cond_graph_0_arg1_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_cond_graph_0_arg1_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_cond_graph_0_arg1_1_handle)); } }(buf3);
        RAIIAtenTensorHandle while_loop_cond_graph_0_arg1_1(while_loop_cond_graph_0_arg1_1_handle);
        static constexpr int64_t *int_array_2=nullptr;
        bool while_loop_cond_graph_0_buf0_storage[1];
        ArrayRefTensor<bool> while_loop_cond_graph_0_buf0(while_loop_cond_graph_0_buf0_storage, int_array_2, int_array_2, cached_torch_device_type_cpu, this->device_idx_);
        auto* var_2 = get_data_ptr_wrapper(while_loop_cond_graph_0_arg0_1);
        auto* var_3 = get_data_ptr_wrapper(while_loop_cond_graph_0_buf0);
        cpp_fused_cos_gt_1((const int64_t*)(var_2), (bool*)(var_3));
        while_loop_cond_graph_0_arg0_1.reset();
        buf1_cond_result.reset();
        buf1_cond_result = std::move(while_loop_cond_graph_0_buf0);
        bool buf1_cond_result_scalar;
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_bool(borrow_arrayref_tensor_as_tensor(buf1_cond_result), &buf1_cond_result_scalar));
        if (!buf1_cond_result_scalar) break;
        // subgraph: while_loop_body_graph_0
        AtenTensorHandle while_loop_body_graph_0_arg0_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_body_graph_0_arg0_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_body_graph_0_arg0_1_handle)); } }(buf2);
        RAIIAtenTensorHandle while_loop_body_graph_0_arg0_1(while_loop_body_graph_0_arg0_1_handle);
        AtenTensorHandle while_loop_body_graph_0_arg1_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_body_graph_0_arg1_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_body_graph_0_arg1_1_handle)); } }(buf3);
        RAIIAtenTensorHandle while_loop_body_graph_0_arg1_1(while_loop_body_graph_0_arg1_1_handle);
        static constexpr int64_t int_array_3[] = {6L, 16L};
        static constexpr int64_t int_array_4[] = {16L, 1L};
        float while_loop_body_graph_0_buf0_storage[96];
        ArrayRefTensor<float> while_loop_body_graph_0_buf0(while_loop_body_graph_0_buf0_storage, int_array_3, int_array_4, cached_torch_device_type_cpu, this->device_idx_);
        static constexpr int64_t *int_array_5=nullptr;
        int64_t while_loop_body_graph_0_buf1_storage[1];
        ArrayRefTensor<int64_t> while_loop_body_graph_0_buf1(while_loop_body_graph_0_buf1_storage, int_array_5, int_array_5, cached_torch_device_type_cpu, this->device_idx_);
        auto* var_4 = get_data_ptr_wrapper(while_loop_body_graph_0_arg1_1);
        auto* var_5 = get_data_ptr_wrapper(while_loop_body_graph_0_arg0_1);
        auto* var_6 = get_data_ptr_wrapper(while_loop_body_graph_0_buf0);
        auto* var_7 = get_data_ptr_wrapper(while_loop_body_graph_0_buf1);
        cpp_fused_add_cos_mul_sin_sub_2((const float*)(var_4), (const int64_t*)(var_5), (float*)(var_6), (int64_t*)(var_7));
        while_loop_body_graph_0_arg0_1.reset();
        while_loop_body_graph_0_arg1_1.reset();
        buf2.reset();
        buf2 = std::move(while_loop_body_graph_0_buf1);
        buf3.reset();
        buf3 = std::move(while_loop_body_graph_0_buf0);
    }



    auto buf4 = std::move(buf3);  // reuse
    auto* var_8 = get_data_ptr_wrapper(buf4);
    cpp_fused_add_3((float*)(var_8));
    AOTInductorModelOutputs output_arrayref_tensors;
    if constexpr (std::is_same_v<std::decay_t<decltype(buf4)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf4)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf4)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_0;
        cached_output_0 = buf4.release();
        convert_handle_to_arrayref_tensor(cached_output_0, std::get<0>(output_arrayref_tensors));
    } else {
        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf4)>> cached_output_1{buf4};
        cached_output_1.copy_data_from(buf4);
        std::get<0>(output_arrayref_tensors) = cached_output_1.arrayref_tensor<std::decay_t<decltype(std::get<0>(output_arrayref_tensors).data()[0])>>();
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(buf2)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_2;
        cached_output_2 = buf2.release();
        convert_handle_to_arrayref_tensor(cached_output_2, std::get<1>(output_arrayref_tensors));
    } else {
        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf2)>> cached_output_3{buf2};
        cached_output_3.copy_data_from(buf2);
        std::get<1>(output_arrayref_tensors) = cached_output_3.arrayref_tensor<std::decay_t<decltype(std::get<1>(output_arrayref_tensors).data()[0])>>();
    }
    return output_arrayref_tensors;
} // AOTInductorModel::run_impl

void AOTInductorModel::run_impl_minimal_arrayref_interface_v2_raw(
    const AOTInductorArrayRefTensor* c_inputs,
    AOTInductorArrayRefTensor* c_outputs,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto arg0_1 = torch::aot_inductor::c_to_arrayref_tensor<int64_t>(c_inputs[0]);
    auto arg1_1 = torch::aot_inductor::c_to_arrayref_tensor<float>(c_inputs[1]);
    assert_numel(arg0_1, 1);
    assert_numel(arg1_1, 96);
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    static constexpr int64_t int_array_0[] = {6L, 16L};
    static constexpr int64_t int_array_1[] = {16L, 1L};
    float buf0_storage[96];
    ArrayRefTensor<float> buf0(buf0_storage, int_array_0, int_array_1, cached_torch_device_type_cpu, this->device_idx_);
    auto* var_0 = get_data_ptr_wrapper(arg1_1);
    auto* var_1 = get_data_ptr_wrapper(buf0);
    cpp_fused_cos_0((const float*)(var_0), (float*)(var_1));

    RAIIAtenTensorHandle buf1_cond_result;
    AtenTensorHandle buf2_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(arg0_1), &buf2_handle));
    RAIIAtenTensorHandle buf2(buf2_handle);
    AtenTensorHandle buf3_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(buf0), &buf3_handle));
    RAIIAtenTensorHandle buf3(buf3_handle);
    while (1) {
        // subgraph: while_loop_cond_graph_0
        AtenTensorHandle while_loop_cond_graph_0_arg0_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_cond_graph_0_arg0_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_cond_graph_0_arg0_1_handle)); } }(buf2);
        RAIIAtenTensorHandle while_loop_cond_graph_0_arg0_1(while_loop_cond_graph_0_arg0_1_handle);
        AtenTensorHandle while_loop_cond_graph_0_arg1_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_cond_graph_0_arg1_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_cond_graph_0_arg1_1_handle)); } }(buf3);
        RAIIAtenTensorHandle while_loop_cond_graph_0_arg1_1(while_loop_cond_graph_0_arg1_1_handle);
        static constexpr int64_t *int_array_2=nullptr;
        bool while_loop_cond_graph_0_buf0_storage[1];
        ArrayRefTensor<bool> while_loop_cond_graph_0_buf0(while_loop_cond_graph_0_buf0_storage, int_array_2, int_array_2, cached_torch_device_type_cpu, this->device_idx_);
        auto* var_2 = get_data_ptr_wrapper(while_loop_cond_graph_0_arg0_1);
        auto* var_3 = get_data_ptr_wrapper(while_loop_cond_graph_0_buf0);
        cpp_fused_cos_gt_1((const int64_t*)(var_2), (bool*)(var_3));
        while_loop_cond_graph_0_arg0_1.reset();
        buf1_cond_result.reset();
        buf1_cond_result = std::move(while_loop_cond_graph_0_buf0);
        bool buf1_cond_result_scalar;
        AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_bool(borrow_arrayref_tensor_as_tensor(buf1_cond_result), &buf1_cond_result_scalar));
        if (!buf1_cond_result_scalar) break;
        // subgraph: while_loop_body_graph_0
        AtenTensorHandle while_loop_body_graph_0_arg0_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_body_graph_0_arg0_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_body_graph_0_arg0_1_handle)); } }(buf2);
        RAIIAtenTensorHandle while_loop_body_graph_0_arg0_1(while_loop_body_graph_0_arg0_1_handle);
        AtenTensorHandle while_loop_body_graph_0_arg1_1_handle;
        [&](auto&& _t) { if constexpr (::torch::aot_inductor::is_arrayref_tensor_type_v<std::decay_t<decltype(_t)>>) { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(borrow_arrayref_tensor_as_tensor(_t), &while_loop_body_graph_0_arg1_1_handle)); } else { AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(_t, &while_loop_body_graph_0_arg1_1_handle)); } }(buf3);
        RAIIAtenTensorHandle while_loop_body_graph_0_arg1_1(while_loop_body_graph_0_arg1_1_handle);
        static constexpr int64_t int_array_3[] = {6L, 16L};
        static constexpr int64_t int_array_4[] = {16L, 1L};
        float while_loop_body_graph_0_buf0_storage[96];
        ArrayRefTensor<float> while_loop_body_graph_0_buf0(while_loop_body_graph_0_buf0_storage, int_array_3, int_array_4, cached_torch_device_type_cpu, this->device_idx_);
        static constexpr int64_t *int_array_5=nullptr;
        int64_t while_loop_body_graph_0_buf1_storage[1];
        ArrayRefTensor<int64_t> while_loop_body_graph_0_buf1(while_loop_body_graph_0_buf1_storage, int_array_5, int_array_5, cached_torch_device_type_cpu, this->device_idx_);
        auto* var_4 = get_data_ptr_wrapper(while_loop_body_graph_0_arg1_1);
        auto* var_5 = get_data_ptr_wrapper(while_loop_body_graph_0_arg0_1);
        auto* var_6 = get_data_ptr_wrapper(while_loop_body_graph_0_buf0);
        auto* var_7 = get_data_ptr_wrapper(while_loop_body_graph_0_buf1);
        cpp_fused_add_cos_mul_sin_sub_2((const float*)(var_4), (const int64_t*)(var_5), (float*)(var_6), (int64_t*)(var_7));
        while_loop_body_graph_0_arg0_1.reset();
        while_loop_body_graph_0_arg1_1.reset();
        buf2.reset();
        buf2 = std::move(while_loop_body_graph_0_buf1);
        buf3.reset();
        buf3 = std::move(while_loop_body_graph_0_buf0);
    }



    auto buf4 = std::move(buf3);  // reuse
    auto* var_8 = get_data_ptr_wrapper(buf4);
    cpp_fused_add_3((float*)(var_8));
    if constexpr (std::is_same_v<std::decay_t<decltype(buf4)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf4)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf4)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_4;
        cached_output_4 = buf4.release();

        std::tuple_element_t<0, AOTInductorModelOutputs> output_arrayref_0;
        convert_handle_to_arrayref_tensor(cached_output_4, output_arrayref_0);
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_0, c_outputs[0]);
    } else {

        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf4)>>
            cached_output_5{buf4};
        cached_output_5.copy_data_from(buf4);
        using output_arrayref_0_type = std::tuple_element_t<0, AOTInductorModelOutputs>;
        using output_arrayref_0_element_type = typename output_arrayref_0_type::value_type;
        auto output_arrayref_0 = cached_output_5.arrayref_tensor<output_arrayref_0_element_type>();
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_0, c_outputs[0]);
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(buf2)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_6;
        cached_output_6 = buf2.release();

        std::tuple_element_t<1, AOTInductorModelOutputs> output_arrayref_1;
        convert_handle_to_arrayref_tensor(cached_output_6, output_arrayref_1);
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_1, c_outputs[1]);
    } else {

        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf2)>>
            cached_output_7{buf2};
        cached_output_7.copy_data_from(buf2);
        using output_arrayref_1_type = std::tuple_element_t<1, AOTInductorModelOutputs>;
        using output_arrayref_1_element_type = typename output_arrayref_1_type::value_type;
        auto output_arrayref_1 = cached_output_7.arrayref_tensor<output_arrayref_1_element_type>();
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_1, c_outputs[1]);
    }
} // AOTInductorModel::run_impl_minimal_arrayref_interface_v2_raw

void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles, // array of input AtenTensorHandle; handles
                        // are stolen; the array itself is borrowed
    AtenTensorHandle*
        output_handles, // array for writing output AtenTensorHandle; handles
                        // will be stolen by the caller; the array itself is
                        // borrowed
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {

__check_inputs_outputs(input_handles, output_handles);

    AOTInductorModelInputs inputs;
    convert_handles_to_inputs(input_handles, inputs);
    auto outputs = run_impl_minimal_arrayref_interface<AOTInductorModelInputs, AOTInductorModelOutputs>(
        inputs, stream, proxy_executor);
    // NOTE: outputs is full of ArrayRef to thread_local storage. If in the future we need this
    // interface to perform well for a DSO using the minimal arrayref interface, all we need
    // to do is provide ThreadLocalCachedTensor for each one!
    convert_outputs_to_handles(outputs, output_handles);
}

extern "C" AOTIRuntimeError AOTInductorModelRunMinimalArrayrefInterface(
    AOTInductorModelHandle model_handle,
    const AOTInductorModelInputs& inputs,
    AOTInductorModelOutputs& outputs) {
  auto model = reinterpret_cast<torch::aot_inductor::AOTInductorModel*>(model_handle);
  CONVERT_EXCEPTION_TO_ERROR_CODE({
      outputs = model->run_impl_minimal_arrayref_interface<AOTInductorModelInputs, AOTInductorModelOutputs>(
          inputs,
          (torch::aot_inductor::DeviceStreamType)nullptr,
          nullptr);
  })
}

// C-ABI-safe variant: uses flat AOTInductorArrayRefTensor arrays
// instead of std::tuple across the DSO boundary, and
// runs directly on the descriptor arrays to avoid
// DSO-side tuple marshaling.
extern "C" AOTIRuntimeError AOTInductorModelRunMinimalArrayrefInterfaceV2(
    AOTInductorModelHandle model_handle,
    int32_t num_inputs,
    const AOTInductorArrayRefTensor* c_inputs,
    int32_t num_outputs,
    AOTInductorArrayRefTensor* c_outputs) {
  constexpr int32_t expected_num_inputs = 2;
  constexpr int32_t expected_num_outputs = 2;
  auto model = reinterpret_cast<torch::aot_inductor::AOTInductorModel*>(model_handle);
  CONVERT_EXCEPTION_TO_ERROR_CODE({
      if (num_inputs != expected_num_inputs) {
        throw std::runtime_error(
            std::string("AOTInductorModelRunMinimalArrayrefInterfaceV2 expected ")
            + std::to_string(expected_num_inputs)
            + " inputs but got "
            + std::to_string(num_inputs));
      }
      if (num_outputs != expected_num_outputs) {
        throw std::runtime_error(
            std::string("AOTInductorModelRunMinimalArrayrefInterfaceV2 expected ")
            + std::to_string(expected_num_outputs)
            + " outputs but got "
            + std::to_string(num_outputs));
      }
      if (num_inputs > 0 && c_inputs == nullptr) {
        throw std::runtime_error(
            "AOTInductorModelRunMinimalArrayrefInterfaceV2 received null input descriptors");
      }
      if (num_outputs > 0 && c_outputs == nullptr) {
        throw std::runtime_error(
            "AOTInductorModelRunMinimalArrayrefInterfaceV2 received null output descriptors");
      }
      model->run_impl_minimal_arrayref_interface_v2_raw(
          c_inputs,
          c_outputs,
          (torch::aot_inductor::DeviceStreamType)nullptr,
          nullptr);
  })
}
} // namespace torch::aot_inductor



