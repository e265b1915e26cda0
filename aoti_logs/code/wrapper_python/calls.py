"""Calls in a Python wrapper: kernels, operators, subgraphs, checks, and what has no meaning for the model.

Written by `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`: `_generate_kernel_call_helper`,
`_generate_extern_kernel_out_helper`, `_generate_scatter_fallback`, `codegen_device_copy`, ...), `codegen/mps.py`,
`codegen/debug_utils.py` and `ir.py`.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, CheckKind
from aoti_logs.code.wrapper_python.text import dotted, in_place, is_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.wrapper_python.state import Reading
    from aoti_logs.code.wrapper_python.text import Function

_NO_MEANING = re.compile(
    r"(?:args|\w+)\.(?:clear|extend|set_device|wait_stream|synchronize|record|wait_event)$"
    r"|torch\.(?:cuda|xpu|mtia|accelerator|mps|cpu)\.(?:set_device|synchronize|_?set_stream|nvtx\.\w+|_DeviceGuard)$"
    r"|torch\._C\._\w*(?:set|Set)Device$"
    r"|start_graph$|end_graph$|run_intermediate_hooks$|record_function$|print$|torch\.save$"
    r"|_print_debugging_tensor_value_info$|check_memory_step$|track_tensor$|nvtx\.\w+$|pl\.\w+$|proton\.\w+$"
)
_OUT = re.compile(r"out\d*")
_TENSOR_METHODS = frozenset({"zero_", "copy_", "fill_", "clone", "sum", "prod", "any", "amin", "amax"})
"""Methods that the generated code calls on tensors; they work on the tensor before the dot."""
_MODULES = frozenset(
    {"torch", "aten", "inductor_ops", "_quantized", "quantized_ops", "extern_kernels", "prims", "math"}
)
_ON_RESULT = frozenset({"view", "to", "clone", "as_strided"})
"""Methods on the result of a call, which change its form only."""


def called(
    reading: Reading, function: Function, node: ast.stmt, call: ast.Call, targets: tuple[str, ...]
) -> bool:
    """Take a call; False when no form fits.

    Args:
        reading: the place.
        function: where it stands.
        node: the whole statement.
        call: the call in it.
        targets: the names that its results get.
    """
    call = _without_form(call)
    callee = dotted(call.func)
    line = function.line(node)
    name = callee.partition(".")[0]
    if name in reading.kernels:
        run = callee == f"{name}.run"
        if callee not in {name, f"{name}.run", f"{name}.{name}"} and not callee.startswith(
            f"{name}.generated"
        ):
            return False
        _launch(reading, function, node, name, call, targets, run=run)
        return True
    if called_function(callee, reading.functions) is not None:
        return reading.enter(callee, call, targets, line)
    if callee.startswith("self."):
        return False  # its function is not in the file (cut off)
    if callee in {"assert_size_stride", "assert_alignment"}:
        return _asserted(reading, function, node, callee, call)
    if _NO_MEANING.match(callee) or is_item(call):
        return True
    if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        return _appended(reading, call, call.func, line)
    if callee.endswith(".run"):
        # The definition of the kernel is not in the file.
        _launch(reading, function, node, callee.removesuffix(".run"), call, targets, run=True)
        return True
    if _on_tensor(call.func):
        return _method(reading, function, node, call, targets)
    if not callee or "()" in callee:
        return False
    _launch(reading, function, node, callee, call, targets)
    return True


def called_function(callee: str, functions: dict[str, Function]) -> str | None:
    """Return the function of the file that a call goes to: `true_graph_0`, `self.partitions[0]`."""
    inner = re.fullmatch(r"self\.partitions\[(\d{1,9})\]", callee)
    name = f"partition_{inner[1]}" if inner else callee.removeprefix("self.")
    return name if name in functions and name != "call" else None


def _without_form(call: ast.Call) -> ast.Call:
    """Return the call behind `op(...).view([4, 8]).to(torch.float16)`."""
    inner = call
    for _ in range(8):
        match inner.func:
            case ast.Attribute(value=ast.Call() as deeper, attr=attr) if attr in _ON_RESULT:
                inner = deeper
            case _:
                break
        if _on_tensor(inner.func) or dotted(inner.func).partition(".")[0] in _MODULES:
            return inner
    return call


def _on_tensor(func: ast.expr) -> bool:
    """Tell whether a method of a tensor is called, not a function of a module."""
    match func:
        case ast.Attribute(value=value, attr=attr) if attr in _TENSOR_METHODS:
            return not isinstance(value, ast.Attribute) and not (
                isinstance(value, ast.Name) and value.id in _MODULES
            )
    return False


def _launch(
    reading: Reading,
    function: Function,
    node: ast.stmt,
    callee: str,
    call: ast.Call,
    targets: tuple[str, ...],
    *,
    run: bool = False,
) -> None:
    arguments: list[tuple[str | None, ast.expr]] = [(None, a) for a in call.args]
    arguments += [(k.arg, k.value) for k in call.keywords]
    out = [n for k in call.keywords if k.arg and _OUT.fullmatch(k.arg) for n in _written(reading, k.value)]
    kernel = callee in reading.kernels
    if not kernel and call.args and not out and in_place(callee):
        out = _written(reading, call.args[0])
    reading.launch(function, node, callee, arguments, (*targets, *out), run=run)
    _born(reading, function, node, targets)


def _method(
    reading: Reading, function: Function, node: ast.stmt, call: ast.Call, targets: tuple[str, ...]
) -> bool:
    """Take `buf0.copy_(arg0_1, False)`: an operator whose first argument stands before the dot."""
    method = call.func
    owner = reading.core(method.value) if isinstance(method, ast.Attribute) else None
    if not isinstance(method, ast.Attribute) or owner is None:
        return False
    arguments: list[tuple[str | None, ast.expr]] = [(None, a) for a in (method.value, *call.args)]
    arguments += [(k.arg, k.value) for k in call.keywords]
    written = (owner,) if method.attr.endswith("_") else ()
    reading.launch(function, node, f"Tensor.{method.attr}", arguments, (*targets, *written))
    _born(reading, function, node, targets)
    return True


def _born(reading: Reading, function: Function, node: ast.stmt, targets: Sequence[str]) -> None:
    line = function.line(node)
    for name in targets:
        reading.buffer(Buffer(name, line))


def _written(reading: Reading, node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return [n for n in map(reading.core, parts) if n is not None]


def _appended(reading: Reading, call: ast.Call, method: ast.Attribute, line: int) -> bool:
    """Take `buf3[2].append(buf3[0])`: a list that is stacked after the loop."""
    kept = reading.core(method.value)
    given = reading.core(call.args[0]) if call.args else None
    if kept is None or given is None:
        return False
    reading.buffer(Buffer(kept, line, alias_of=given, view=True))
    return True


def _asserted(reading: Reading, function: Function, node: ast.stmt, callee: str, call: ast.Call) -> bool:
    """Take `assert_size_stride(buf1, (4, 8), (8, 1), 'op')` and `assert_alignment(buf1, 16, 'op')`."""
    needed = 3 if callee == "assert_size_stride" else 2
    if len(call.args) < needed:
        return False
    tensor = reading.core(call.args[0]) or ""
    expected = ", ".join(function.text(a) for a in call.args[1:needed])
    kind = CheckKind.SIZE_STRIDE if needed == 3 else CheckKind.ALIGNMENT
    reading.check(kind, tensor, expected, function.text(node), function.line(node))
    return True
