
#include <torch/csrc/inductor/aoti_include/array_ref.h>
// (fixed text left out)
} // extern "C"

extern "C"  void  cpp_fused_mul_sin_0(float* in_out_ptr0,
                       const float* in_ptr0);
CACHE_TORCH_DTYPE(float32);
CACHE_TORCH_DEVICE(cpu);
CACHE_TORCH_LAYOUT(strided);
namespace torch::aot_inductor {
namespace {
class AOTInductorModelKernels : public AOTInductorModelKernelsBase {
  public:
    void* cpp_fused_mul_sin_0{nullptr};
};
}  // namespace



AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::shared_ptr<std::vector<ConstantHandle>> constants_array,
                                   const std::string& device_str,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(1,
                           1,
                           2,
                           device_str,
                           std::move(cubin_dir),
                           true) {
    inputs_info_[0].name = "arg2_1";
    constants_info_[0].name = "weight";
    constants_info_[0].dtype = cached_torch_dtype_float32;
    constants_info_[0].device_type = cached_torch_device_type_cpu;
    constants_info_[0].offset = 0;
    constants_info_[0].data_size = 1024;
    constants_info_[0].from_folded = false;
    constants_info_[0].type = static_cast<int32_t>(torch::aot_inductor::ConstantType::Parameter);
    constants_info_[0].shape = {16, 16};
    constants_info_[0].stride = {16, 1};
    constants_info_[0].layout = static_cast<int32_t>(cached_torch_layout_strided);
    constants_info_[0].original_fqn = "weight";
    constants_info_[1].name = "scale";
    constants_info_[1].dtype = cached_torch_dtype_float32;
    constants_info_[1].device_type = cached_torch_device_type_cpu;
    constants_info_[1].offset = 0;
    constants_info_[1].data_size = 64;
    constants_info_[1].from_folded = false;
    constants_info_[1].type = static_cast<int32_t>(torch::aot_inductor::ConstantType::Parameter);
    constants_info_[1].shape = {16};
    constants_info_[1].stride = {1};
    constants_info_[1].layout = static_cast<int32_t>(cached_torch_layout_strided);
    constants_info_[1].original_fqn = "scale";
    update_constants_map(std::move(constants_map));
    update_constants_array(std::move(constants_array));
    in_spec_ = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}]}, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])";
    out_spec_ = R"([1, {"type": null, "context": null, "children_spec": []}])";
    outputs_info_[0].name = "output0";
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

using AOTInductorModelInputs = std::tuple<ArrayRefTensor<float>>;
using AOTInductorModelOutputs = std::tuple<ArrayRefTensor<float>>;

void AOTInductorModel::_const_run_impl(
    std::vector<AtenTensorHandle>& output_handles,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {}

AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    ConstantHandle arg2_1 = ConstantHandle(input_handles[0]);
    int32_t arg2_1_dtype;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(arg2_1, &arg2_1_dtype));

    int32_t arg2_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg2_1_expected_dtype != arg2_1_dtype) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched dtype, "
           << "expected: " << arg2_1_expected_dtype << "(at::kFloat), "
           << "but got: " << arg2_1_dtype << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    auto arg2_1_size = arg2_1.sizes();

    if (8 != arg2_1_size[0]) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched dim value at 0, "
           << "expected: 8, " << "but got: " << arg2_1_size[0]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }

    if (16 != arg2_1_size[1]) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched dim value at 1, "
           << "expected: 16, " << "but got: " << arg2_1_size[1]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    auto arg2_1_stride = arg2_1.strides();

    if (16 != arg2_1_stride[0]) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched stride value at 0, "
           << "expected: 16, " << "but got: " << arg2_1_stride[0]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }

    if (1 != arg2_1_stride[1]) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched stride value at 1, "
           << "expected: 1, " << "but got: " << arg2_1_stride[1]
           << "\n";
        throw std::runtime_error(std::move(ss).str());
    }
    int32_t arg2_1_device_type;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(arg2_1, &arg2_1_device_type));

    int32_t arg2_1_expected_device_type = 0;
    if (arg2_1_expected_device_type != arg2_1_device_type) {
        std::stringstream ss;
        ss << "input_handles[0]: unmatched device type, "
        << "expected: " << arg2_1_expected_device_type << "0(cpu), "
        << "but got: " << arg2_1_device_type << "\n";
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
}

template <>
AOTInductorModelOutputs AOTInductorModel::run_impl_minimal_arrayref_interface<
  AOTInductorModelInputs, AOTInductorModelOutputs>(
    const AOTInductorModelInputs& inputs,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto arg2_1 = std::get<0>(inputs);
    auto weight = constants_->at(0);
    auto scale = constants_->at(1);
    assert_numel(arg2_1, 128);
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    static constexpr int64_t int_array_0[] = {16L, 16L};
    static constexpr int64_t int_array_1[] = {16L, 1L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    // Topologically Sorted Source Nodes: [t, matmul], Original ATen: [aten.t, aten.mm]
    static constexpr int64_t int_array_2[] = {16L, 16L};
    static constexpr int64_t int_array_3[] = {1L, 16L};
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(borrow_arrayref_tensor_as_tensor(buf0), borrow_arrayref_tensor_as_tensor(wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(weight, 2, int_array_2, int_array_3, 0L))), weight));
    static constexpr int64_t int_array_4[] = {8L, 16L};
    AtenTensorHandle buf1_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_4, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf1_handle));
    RAIIAtenTensorHandle buf1(buf1_handle);
    // Topologically Sorted Source Nodes: [matmul_1], Original ATen: [aten.mm]
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(borrow_arrayref_tensor_as_tensor(buf1), borrow_arrayref_tensor_as_tensor(arg2_1), borrow_arrayref_tensor_as_tensor(buf0)));

    buf0.reset();
    auto buf2 = std::move(buf1);  // reuse
    auto* var_0 = get_data_ptr_wrapper(buf2);
    auto* var_1 = get_data_ptr_wrapper(scale);
    cpp_fused_mul_sin_0((float*)(var_0), (const float*)(var_1));
    AOTInductorModelOutputs output_arrayref_tensors;
    if constexpr (std::is_same_v<std::decay_t<decltype(buf2)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_0;
        cached_output_0 = buf2.release();
        convert_handle_to_arrayref_tensor(cached_output_0, std::get<0>(output_arrayref_tensors));
    } else {
        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf2)>> cached_output_1{buf2};
        cached_output_1.copy_data_from(buf2);
        std::get<0>(output_arrayref_tensors) = cached_output_1.arrayref_tensor<std::decay_t<decltype(std::get<0>(output_arrayref_tensors).data()[0])>>();
    }
    return output_arrayref_tensors;
} // AOTInductorModel::run_impl

void AOTInductorModel::run_impl_minimal_arrayref_interface_v2_raw(
    const AOTInductorArrayRefTensor* c_inputs,
    AOTInductorArrayRefTensor* c_outputs,
    DeviceStreamType stream,
    AOTIProxyExecutorHandle proxy_executor
) {
    auto arg2_1 = torch::aot_inductor::c_to_arrayref_tensor<float>(c_inputs[0]);
    auto weight = constants_->at(0);
    auto scale = constants_->at(1);
    assert_numel(arg2_1, 128);
    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());
    static constexpr int64_t int_array_0[] = {16L, 16L};
    static constexpr int64_t int_array_1[] = {16L, 1L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    // Topologically Sorted Source Nodes: [t, matmul], Original ATen: [aten.t, aten.mm]
    static constexpr int64_t int_array_2[] = {16L, 16L};
    static constexpr int64_t int_array_3[] = {1L, 16L};
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(borrow_arrayref_tensor_as_tensor(buf0), borrow_arrayref_tensor_as_tensor(wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(weight, 2, int_array_2, int_array_3, 0L))), weight));
    static constexpr int64_t int_array_4[] = {8L, 16L};
    AtenTensorHandle buf1_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_4, int_array_1, cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &buf1_handle));
    RAIIAtenTensorHandle buf1(buf1_handle);
    // Topologically Sorted Source Nodes: [matmul_1], Original ATen: [aten.mm]
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(borrow_arrayref_tensor_as_tensor(buf1), borrow_arrayref_tensor_as_tensor(arg2_1), borrow_arrayref_tensor_as_tensor(buf0)));

    buf0.reset();
    auto buf2 = std::move(buf1);  // reuse
    auto* var_0 = get_data_ptr_wrapper(buf2);
    auto* var_1 = get_data_ptr_wrapper(scale);
    cpp_fused_mul_sin_0((float*)(var_0), (const float*)(var_1));
    if constexpr (std::is_same_v<std::decay_t<decltype(buf2)>,RAIIAtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,AtenTensorHandle> || std::is_same_v<std::decay_t<decltype(buf2)>,ConstantHandle>) {
        thread_local RAIIAtenTensorHandle cached_output_2;
        cached_output_2 = buf2.release();

        std::tuple_element_t<0, AOTInductorModelOutputs> output_arrayref_0;
        convert_handle_to_arrayref_tensor(cached_output_2, output_arrayref_0);
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_0, c_outputs[0]);
    } else {

        thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf2)>>
            cached_output_3{buf2};
        cached_output_3.copy_data_from(buf2);
        using output_arrayref_0_type = std::tuple_element_t<0, AOTInductorModelOutputs>;
        using output_arrayref_0_element_type = typename output_arrayref_0_type::value_type;
        auto output_arrayref_0 = cached_output_3.arrayref_tensor<output_arrayref_0_element_type>();
        torch::aot_inductor::arrayref_tensor_to_c(output_arrayref_0, c_outputs[0]);
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
  constexpr int32_t expected_num_inputs = 1;
  constexpr int32_t expected_num_outputs = 1;
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



