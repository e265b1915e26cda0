"""Calls that a C++ wrapper spreads over several statements: custom ops, Metal kernels, old GPU launches.

| form | written by |
|---|---|
| `dispatch_vars{...}` and `aoti_torch_call_dispatcher("ns::op", "", ...)` | `..._with_runtime_lookup_nopython` |
| `dispatch_stack_0.emplace_back(...)` and `op.callBoxed(...)` | `..._with_runtime_lookup_boxed` |
| `PyTuple_SetItem(py_args_1, ...)` and `PyObject_CallObject(custom_op_wrapper, ...)` | `..._lookup_python` |
| `aoti_torch_mps_set_arg_tensor(handle, 0, x)` and `aoti_torch_mps_run_command_block(get_k_handle(), ...)` | `CppWrapperMps` |
| `void* kernel_args_var_0[] = {...}` and `launchKernel(kernels.k, ...)` | `CppWrapperGpu` of torch 2.4 to 2.6 |
| `aoti_torch_proxy_executor_call_function(proxy_executor, 0, ...)` | `..._with_runtime_lookup_aot` |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper_cpp.text import as_call, split_arguments, string_value

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_cpp.tensors import Tensors

_PUSH = re.compile(r"(\w+)\.(?:emplace_back|push_back)\(")
_SCHEMA = re.compile(r"findSchemaOrThrow\(\"([^\"]*)\", \"([^\"]*)\"\)")
_BRACED = re.compile(r"(?:std::(?:array|vector)<[^{}]{0,200}>)?\s*\{")
_METAL_HEAD = re.compile(r"auto (\w+)_lambda_\d+ = \[&\]")
_PASSED = re.compile(
    r"(?:c10::IValue|std::move|c10::SymInt|torch::aot_inductor::\w+|PyCapsule_New|PyLong_\w+|PyFloat_\w+)"
)
RESULT = re.compile(r"dispatch_vars\[|dispatch_stack_\d+\[|PyCapsule_GetPointer")
"""A value that fetches the result of such a call."""


class CustomCalls:
    """Collects what is passed until the call comes."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self._pushed: dict[str, list[str]] = {}
        self._schema = ""
        self._metal: list[str] = []

    def collect(self, text: str) -> bool:
        """Take a statement that only passes an argument; False for any other."""
        if match := _PUSH.match(text):
            call = as_call(text)
            if call is not None:
                for part in call[1]:
                    self._push(match[1], self._value(part))
            return True
        if text.startswith(("PyTuple_SetItem(", "PyList_SetItem(")):
            call = as_call(text)
            if call is not None and len(call[1]) == 3:
                self._push(call[1][0], self._value(call[1][2]))
            return True
        if text.startswith("aoti_torch_mps_set_arg_"):
            call = as_call(text)
            if call is not None and len(call[1]) == 3:
                self._metal.append(self._tensors.core(call[1][2]))
            return True
        return False

    def head(self, text: str) -> bool:
        """Take the head of the lambda that passes a Metal kernel's arguments."""
        if _METAL_HEAD.match(text):
            self._metal = []
            return True
        return False

    def schema(self, value: str) -> bool:
        """Take `static auto op = ...findSchemaOrThrow("ns::op", "overload")`."""
        match = _SCHEMA.search(value)
        if match is not None:
            self._schema = f"{match[1]}.{match[2]}".rstrip(".")
        return match is not None

    def target(
        self, callee: str, arguments: tuple[str, ...], kernels: frozenset[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Return the name of what runs and what is passed to it."""
        tensors = self._tensors
        name = callee.removeprefix("this->").removeprefix("kernels_->").removeprefix("kernels.")
        if name.startswith("call_") and name[5:] in kernels:
            return name[5:], arguments
        if callee == "launchKernel" and arguments:
            passed = next(
                (tensors.arrays[a] for a in arguments if "kernel_args" in a and a in tensors.arrays), ()
            )
            return arguments[0].removeprefix("kernels."), tuple(a.removeprefix("&") for a in passed)
        if callee == "aoti_torch_call_dispatcher" and len(arguments) > 2:
            operator = f"{string_value(arguments[0])}.{string_value(arguments[1])}".rstrip(".")
            passed = tensors.arrays.get(arguments[2].partition(".")[0], ())
            return operator, tuple(tensors.core(a) for a in passed)
        if callee == "op.callBoxed" and arguments:
            return self._schema or callee, self._popped(arguments[0].lstrip("&"))
        if callee == "PyObject_CallObject" and len(arguments) > 1:
            operator, *passed_list = self._popped(arguments[1]) or (callee,)
            return string_value(operator) or operator, tuple(passed_list)
        if callee == "aoti_torch_mps_run_command_block" and arguments:
            metal, self._metal = self._metal, []
            return re.sub(r"^get_|_handle\(\)$", "", arguments[0]), tuple(metal)
        if callee == "aoti_torch_proxy_executor_call_function":
            return callee, tuple(_expanded(arguments))
        return name, arguments

    def _push(self, place: str, value: str) -> None:
        inner = self._pushed.pop(value, None)
        self._pushed.setdefault(place, []).extend([value] if inner is None else inner)

    def _popped(self, place: str) -> tuple[str, ...]:
        return tuple(self._pushed.pop(place, ()))

    def _value(self, text: str) -> str:
        """Return what is passed behind the boxes that a dispatcher wants."""
        for _ in range(12):
            if text in self._pushed:
                return text
            call = as_call(text.lstrip("*"))
            if call is None or not call[1]:
                break
            if not _PASSED.fullmatch(call[0]) and call[0] not in {
                "static_cast",
                "reinterpret_cast",
                "PyUnicode_FromString",
            }:
                break
            text = call[1][0]
        return self._tensors.core(text)


def _expanded(arguments: tuple[str, ...]) -> list[str]:
    """Put the elements of arrays in the place of the arrays."""
    found = []
    for text in arguments:
        match = _BRACED.match(text)
        if match is None:
            found.append(text)
            continue
        found.extend(split_arguments(text[match.end() : text.rfind("}")]))
    return found
