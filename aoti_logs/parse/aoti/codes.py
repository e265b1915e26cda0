"""Numbers that the AOTInductor runtime prints for dtypes and device types, and their names in torch.

Sources: c10/core/ScalarType.h (`enum class ScalarType`) and c10/core/DeviceType.h (`enum class DeviceType`); both
only grow at their end.
"""

from __future__ import annotations

_DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
    "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4",
    "bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16",
    "uint32", "uint64", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3",
    "int4", "int5", "int6", "int7", "float8_e8m0fnu", "float4_e2m1fn_x2",
)  # fmt: skip
_DEVICES = (
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal", "xpu",
    "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
)  # fmt: skip


def dtype_name(code: str) -> str:
    """Return torch's name of a ScalarType code (`4` is `int64`), the code itself where it is not known."""
    return _DTYPES[int(code)] if code.isdigit() and len(code) < 4 and int(code) < len(_DTYPES) else code


def device_name(code: str) -> str:
    """Return torch's name of a DeviceType code (`12` is `xpu`), the code itself where it is not known."""
    return _DEVICES[int(code)] if code.isdigit() and len(code) < 4 and int(code) < len(_DEVICES) else code
