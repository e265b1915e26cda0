"""What a C++ wrapper may declare or set without computing anything.

Everything else is told as not read: a form that a later torch invents must not be taken for one that says nothing.
"""

from __future__ import annotations

import re

from aoti_logs.code.wrapper.bind import VIEWS
from aoti_logs.code.wrapper_cpp.text import as_call

_HOLDERS = re.compile(
    r"(?:torch::aot_inductor::|at::cuda::|at::|c10::cuda::|c10::)?(?:RAII\w+|AOTI\w*(?:Guard|Handle|Outputs|Inputs)"
    r"|\w*Guard|\w*StreamGuard|KernelContextGuard"
    r"|ThreadLocalCached\w+(?:<.*>)?|ArrayRefTensor<.*>|C10IValueHandle|AtenTensorHandle|ConstantHandle|MaybeOwned<.*>"
    r"|GenericList|c10::impl::GenericList|impl::GenericList|IValue|OptionalArrayRef<.*>|Tensor|Half|BFloat16|complex<.*>"
    r"|StreamGuard|Stream|Device)"
    r"|std::(?:array|optional|vector|tuple|tuple_element_t|unordered_map|function|string|stringstream)(?:<.*>)?"
    r"|py::gil_scoped_\w+|PyObject|Grid|CUtensorMap|StableTMADescriptor|cudaStream_t|hipStream_t|sycl::queue"
    r"|CUdeviceptr|hipDeviceptr_t|void|half|bfloat16|char|short|long|int|float|double|bool|size_t|auto|u?int\d+_t",
    re.DOTALL,
)
_PASSING = re.compile(
    r"(?:static_cast|reinterpret_cast|const_cast|float|double|int64_t|bool|scalar_to_tensor_handle|scalar_to_tensor"
    r"|steal_from_raw_handles_to_raii_handles|alloc_tensors_by_stealing_from_handles|unsafe_alloc_\w+"
    r"|expensive_copy_to_tensor_if_needed|PyImport_ImportModule|PyObject_GetAttrString|PyTuple_New|PyList_New|PyDict_New"
    r"|PyCapsule_GetPointer|Grid|std::(?:array|optional|vector|get|make_tuple|tuple|function|string|make_optional|nullopt)"
    r"|torch::aot_inductor::\w+|torch::stable::\w+(?:::\w+)*|c10::\w+(?:::\w+)*|at::(?:Tensor|Scalar|TensorOptions|device)"
    r"|cached_output_\d+\.\w+|[A-Za-z_]\w*\.(?:sizes|strides|sym_sizes|sym_strides|data_ptr|item|release|get|scalar_type"
    r"|device|dtype|options|numel|dim|size|stride|toTensor|to|view|arrayref_tensor))"
)
_FIELD = re.compile(
    r"(?:kernels\.\w+|kernels_->\w+|this->kernels_->\w+|\w+\.(?:m|block_shape|global_shape|strides)(?:\[\d+\])?)"
)


def holds(kind: str) -> bool:
    """Tell whether a type is one that a declaration `kind name(...)` or `kind name` may have."""
    return _HOLDERS.fullmatch(kind) is not None


def passes(value: str) -> bool:
    """Tell whether a value is known to be passed on only: a name, a number, a list, a cast, a fetch."""
    call = as_call(value)
    return call is None or call[0] in VIEWS or _PASSING.fullmatch(call[0]) is not None


def is_field(target: str) -> bool:
    """Tell whether what is set is a slot of a kernel or a field of a descriptor."""
    return _FIELD.fullmatch(target) is not None
