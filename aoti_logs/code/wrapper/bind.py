"""Actual arguments of a launch bound to the kernel's parameters, by position.

`reference` forms that are looked through, from `torch/_inductor/codegen/cpp_wrapper_cpu.py`,
`cpp_wrapper_cpu_array_ref.py`, `cpp_wrapper_gpu.py` and `wrapper.py`: casts, `.data_ptr()`, reinterpreted
views, RAII handles, and variables that stand for an argument (`auto* var_0 = get_data_ptr_wrapper(arg8_1);`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Name, Num
from aoti_logs.code.model import Argument, ArgumentKind
from aoti_logs.code.wrapper_cpp.text import as_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aoti_logs.code.expr import Expr

LAUNCHER_PARAMS = frozenset({"device_idx_", "stream_", "kernels_", "cubin_dir_"})
"""Parameters of `call_<kernel>` that no kernel has."""

_POINTER_CAST = re.compile(
    r"\(\s*(?:const\s+)?[\w:]+(?:<[^()]{0,200}>)?(?:\s+const)?\s*\*+\s*\)\s*(?=[\w(&*])"
)
_SCALAR_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:u?int\d*_t|int|long|float|double|bool|size_t|CUdeviceptr|cudaStream_t)\s*\)\s*(?=[\w(])"
)
_TAIL = re.compile(r"\.(?:data_ptr|get|release|data|cbegin)(?:<[^()]*>)?\(\)$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d{1,64}(?:\.\d*)?(?:[eE][-+]?\d+)?)(?:[uUlLfF]*)")
VIEWS = frozenset(
    {
        "wrap_with_raii_handle_if_needed",
        "reinterpret_tensor_wrapper",
        "reinterpret_tensor",
        "RAIIAtenTensorHandle",
        "ConstantHandle",
        "copy_arrayref_tensor_to_tensor",
        "convert_arrayref_tensor_to_tensor",
        "borrow_arrayref_tensor_as_tensor",
        "get_data_ptr_wrapper",
        "tensor_handle_to_tensor_pointer",
        "unwrap_raii_handle_if_needed",
        "static_cast",
        "reinterpret_cast",
        "std::move",
        "temporary_reference",
        "torch::stable::detail::from",
        "as_strided",
        "torch::aot_inductor::tensor_handle_to_tensor_pointer",
        "PyCapsule_New",
        "c10::IValue",
        "c_void_p",
        "copy_if_misaligned",
        "copy_misaligned",
        "aten.view.dtype",
        "torch.ops.aten.view.dtype",
    }
)
"""Functions that only show or hold their first argument."""
_OTHER = frozenset(
    {
        "this->device_idx_",
        "stream",
        "kernels",
        "this->cubin_dir_",
        "nullptr",
        "None",
        "proxy_executor",
        "NULL",
    }
)
_FIXED = ("cached_torch_", "aoti_torch_dtype_", "aoti_torch_device_type_", "aoti_torch_layout_")
"""How the numbers of dtypes, devices and layouts begin."""
_STREAM = re.compile(r"stream\d*|raw_stream\d*")
SYMBOL = re.compile(r"(?:s|u|ps|zf|zuf|i)\d+")
"""A size symbol of torch's ShapeEnv."""

_DEPTH = 24


@dataclass
class Names:
    """What the names of a wrapper stand for."""

    inputs: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    scalars: set[str] = field(default_factory=set)
    """Inputs that carry a number, not a tensor."""
    stands_for: dict[str, str] = field(default_factory=dict)
    """Variables that only pass something on, with the text they were set to."""

    def kind(self, name: str) -> ArgumentKind:
        """Return what an argument of that name is."""
        if name in self.scalars:
            return ArgumentKind.SIZE
        if name in self.inputs:
            return ArgumentKind.INPUT
        if name in self.constants:
            return ArgumentKind.CONSTANT  # a weight may be called `s1`
        if name in self.sizes or SYMBOL.fullmatch(name):
            return ArgumentKind.SIZE
        if name in _OTHER or _STREAM.fullmatch(name):
            return ArgumentKind.OTHER
        return ArgumentKind.SIZE if name.endswith("numel") else ArgumentKind.BUFFER


def behind(text: str, stands_for: Mapping[str, str]) -> str:
    """Return what is behind casts, views and passing variables: a name, a number or an expression."""
    for _ in range(_DEPTH):
        before = text
        text = _strip_parens(text.strip())
        text = _POINTER_CAST.sub("", text, count=1) if _POINTER_CAST.match(text) else text
        text = _SCALAR_CAST.sub("", text, count=1) if _SCALAR_CAST.match(text) else text
        if text.startswith(("&", "*")):
            text = text[1:].strip()
        text = _TAIL.sub("", text)
        if _IDENTIFIER.fullmatch(text):
            text = stands_for.get(text, text)
        else:
            call = as_call(text)
            if call is not None and not call[2] and call[0] in VIEWS and call[1]:
                text = call[1][0]
        if text == before:
            return text
    return text


def _strip_parens(text: str) -> str:
    for _ in range(_DEPTH):
        if not (text.startswith("(") and text.endswith(")") and _whole(text)):
            break
        text = text[1:-1].strip()
    return text


def _whole(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


@lru_cache(maxsize=65536)
def cpp_value(text: str) -> Expr | None:
    """Return the expression that C++ text writes: a number, a name, or what the C++ grammar makes of it."""
    if text in {"true", "false"}:
        return Num(int(text == "true"))
    if _IDENTIFIER.fullmatch(text):
        return Name(text)
    if _NUMBER.fullmatch(text):
        digits = text.rstrip("uUlL" if text.lower().startswith("0x") else "uUlLfF")
        return Num(
            float(digits) if set(digits) & set(".eE") and "x" not in digits.lower() else int(digits, 0)
        )
    from aoti_logs.code.cpp.expr import parse_cpp

    return parse_cpp(text)


def argument(position: int, param: str | None, text: str, names: Names, dtype: str | None = None) -> Argument:
    """Return one C++ argument with its kind and the name behind it."""
    core = behind(text, names.stands_for)
    kind, name, value = ArgumentKind.OTHER, None, None
    if core in {"true", "false"}:
        kind, value = ArgumentKind.LITERAL, cpp_value(core)
    elif core in _OTHER or core.startswith(_FIXED):
        pass
    elif _IDENTIFIER.fullmatch(core):
        kind, name = names.kind(core), core
        value = Name(core) if kind is ArgumentKind.SIZE else None
    elif _NUMBER.fullmatch(core):
        kind, value = ArgumentKind.LITERAL, _number(core)
    elif not core.startswith(('"', "'", "{", "std::nullopt", "[")):
        kind, name, value = ArgumentKind.EXPRESSION, _single_name(core, names), cpp_value(core)
    return Argument(position, param, text, kind, name, value, dtype)


def _number(text: str) -> Expr | None:
    try:
        return cpp_value(text)
    except ValueError:
        return None


def _single_name(text: str, names: Names) -> str | None:
    """Return the only variable in an expression, when there is exactly one that is known."""
    found = {n for n in _IDENTIFIER.findall(text) if n in names.sizes or SYMBOL.fullmatch(n)}
    return found.pop() if len(found) == 1 else None
