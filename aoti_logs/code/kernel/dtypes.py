"""Types of kernel parameters, as Triton and C++ kernels write them, as torch's names."""

from __future__ import annotations

import re

_TRITON = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "bool", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
    "fp64": "float64", "f16": "float16", "f32": "float32", "f64": "float64", "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip
"""`torch/_inductor/codegen/triton_utils.py`, `signature_of`, and `_type_of` of Triton."""
_CPP = {
    "float": "float32", "double": "float64", "half": "float16", "at::Half": "float16", "c10::Half": "float16",
    "bfloat16": "bfloat16", "at::BFloat16": "bfloat16", "c10::BFloat16": "bfloat16", "int64_t": "int64",
    "long": "int64", "long long": "int64", "int32_t": "int32", "int": "int32", "int16_t": "int16", "short": "int16",
    "int8_t": "int8", "signed char": "int8", "uint8_t": "uint8", "unsigned char": "uint8", "uint16_t": "uint16",
    "uint32_t": "uint32", "unsigned int": "uint32", "uint64_t": "uint64", "bool": "bool",
    "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2", "at::Float8_e4m3fn": "float8_e4m3fn",
    "at::Float8_e5m2": "float8_e5m2", "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "at::complex<float>": "complex64", "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip
"""`torch/_inductor/codegen/cpp_utils.py`, `DTYPE_TO_CPP`, of several releases."""
_DESCRIPTOR = re.compile(r"tensordesc<(\w+)")


def torch_dtype(written: str) -> str | None:
    """Return torch's name of a parameter's element type (`int64`), None when the type is no element type.

    Args:
        written: `*i64`, `i32`, `tensordesc<fp16[64, 64]>`, `const int64_t*`, `float*`.
    """
    text = written.strip()
    descriptor = _DESCRIPTOR.match(text)
    if descriptor is not None:
        return _TRITON.get(descriptor[1])
    if text.lstrip("*") in _TRITON and not text.endswith("*"):
        return _TRITON[text.lstrip("*")]
    words = text.replace("*", " ").replace("&", " ").split()
    return _CPP.get(" ".join(w for w in words if w not in {"const", "volatile", "__restrict__"}))
