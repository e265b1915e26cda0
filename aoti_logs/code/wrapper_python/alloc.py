"""Memory in a Python wrapper: allocations (`buf0 = empty_strided_cuda((s70, 16), (16, 1), torch.float32)`) and views.

Written by `make_allocation`, `codegen_reinterpret_view` and `codegen_alloc_from_pool` of `PythonWrapperCodegen`
(`torch/_inductor/codegen/wrapper.py`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer
from aoti_logs.code.wrapper_python.text import dotted

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_python.state import Reading
    from aoti_logs.code.wrapper_python.text import Function

_ALLOCATION = re.compile(r"(?:torch\.|tracked_)?empty_strided(?:_\w+)?$|(?:torch\.)?empty$")
_DEVICE = re.compile(r"['\"](\w+)")


def is_allocation(call: ast.Call) -> bool:
    """Tell whether a call gives new memory, also where a view is taken of it at once (`.as_strided(...)`)."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=inner), attr="as_strided"):
            return _ALLOCATION.match(dotted(inner)) is not None
    return _ALLOCATION.match(dotted(call.func)) is not None


def allocated(function: Function, name: str, line: int, call: ast.Call) -> Buffer:
    """Return the buffer that an allocation makes."""
    shape, stride = _layout(function, call, 0)
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        call = call.func.value
    callee = dotted(call.func)
    words = {k.arg: k.value for k in call.keywords}
    kind = call.args[2] if len(call.args) > 2 else words.get("dtype")
    device = callee.rpartition("empty_strided")[2].strip("_").removesuffix("_pinned") or None
    if device in {None, "p2p"}:
        place = words.get("device") or (call.args[3] if len(call.args) > 3 else None)
        found = None if place is None else _DEVICE.search(function.text(place))
        device = None if found is None else found[1]
    dtype = None if kind is None else function.text(kind).removeprefix("torch.")
    return Buffer(name, line, shape, stride, dtype, device)


def viewed(reading: Reading, function: Function, name: str, line: int, call: ast.Call) -> Buffer:
    """Return the buffer that a view of other memory makes; offsets are in elements, those of a pool in bytes."""
    callee = dotted(call.func)
    base = call.args[0] if call.args else None
    alias = None if base is None else reading.core(base)
    if callee == "reinterpret_tensor":
        shape, stride = _layout(function, call, 1)
        offset = function.text(call.args[3]) if len(call.args) > 3 else None
        return Buffer(name, line, shape, stride, None, None, alias, view=True, offset=offset)
    if callee == "alloc_from_pool":
        shape, stride = _layout(function, call, 3)
        dtype = function.text(call.args[2]).removeprefix("torch.") if len(call.args) > 2 else None
        offset = function.text(call.args[1]) if len(call.args) > 1 else None
        return Buffer(name, line, shape, stride, dtype, None, alias, view=True, offset=offset)
    if callee.endswith("view.dtype") and len(call.args) > 1:
        dtype = function.text(call.args[1]).removeprefix("torch.")
        if isinstance(base, ast.Call) and dotted(base.func) == "reinterpret_tensor":
            inner = viewed(reading, function, name, line, base)
            return Buffer(
                name, line, inner.shape, inner.stride, dtype, None, alias, view=True, offset=inner.offset
            )
        return Buffer(name, line, None, None, dtype, None, alias, view=True)
    same = isinstance(base, ast.Name) and callee != "c_void_p"
    return Buffer(name, line, alias_of=alias, view=True, offset=None if same else "?")


def is_reuse(function: Function, node: ast.stmt) -> bool:
    """Tell whether the code says `# reuse` behind a statement: the values of the older buffer are dead."""
    end = node.end_lineno or node.lineno
    return end <= len(function.lines) and function.lines[end - 1].rstrip().endswith("# reuse")


def _layout(
    function: Function, call: ast.Call, at: int
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return extents and strides from the arguments at `at` and behind it."""
    shape, stride = (elements(function, a) for a in (*call.args[at : at + 2], None, None)[:2])
    return shape, stride


def elements(function: Function, node: ast.expr | None) -> tuple[str, ...] | None:
    """Return the elements of a tuple or list as written; None for anything else."""
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(function.text(e) for e in node.elts)
    return None
