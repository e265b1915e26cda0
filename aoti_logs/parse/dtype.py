"""Names of dtypes: what C++ and Python print, and the one name that torch gives.

`Dtype:` lines of the value printer hold what `caffe2::TypeMeta::name` returns, which is the C++ compiler's
name of the type (`long int` with gcc, `long` with clang, `__int64` with MSVC); newer releases print some of
torch's own (`float32`).
"""

from __future__ import annotations

_NAMES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "long int": "int64",
    "long": "int64",
    "long long": "int64",
    "long long int": "int64",
    "__int64": "int64",
    "int": "int32",
    "short int": "int16",
    "short": "int16",
    "signed char": "int8",
    "char": "int8",
    "unsigned char": "uint8",
    "short unsigned int": "uint16",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "long unsigned int": "uint64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "unsigned __int64": "uint64",
    "bool": "bool",
    "c10::complex<c10::Half>": "complex32",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}
_INTEGER = ("int", "uint", "bool", "qint", "quint", "bits")
LARGEST = {"float16": 65504.0, "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
"""The largest finite value of the small floating types, which results overflow easily."""


def torch_dtype(printed: str | None) -> str | None:
    """Return torch's name of a dtype without `torch.`, None where none was printed.

    A name that is not known is returned without its `c10::` (`Float8_e4m3fn` in lower case), so that types
    that torch adds later have a name as well.
    """
    if not printed:
        return None
    text = printed.strip()
    if text in _NAMES:
        return _NAMES[text]
    if text.startswith("torch."):
        return text.removeprefix("torch.")
    if text.startswith("c10::"):
        name = text.removeprefix("c10::")
        return name[:1].lower() + name[1:]
    return text


def holds_integers(dtype: str | None) -> bool:
    """Tell whether every value of torch's dtype of this name is an integer or a truth value."""
    return dtype is not None and dtype.startswith(_INTEGER)
