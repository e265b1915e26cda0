"""Assignments in a Python wrapper: sizes, renames, views, allocations, results of calls.

Written by `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`): `codegen_input_symbol_assignment`,
`make_buffer_reuse`, `codegen_multi_output`, `codegen_dynamic_scalar`, `codegen_dynamic_slice_size`,
`generate_numel_expr`, `codegen_while_loop` and others.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, Size
from aoti_logs.code.triton.body import to_expr
from aoti_logs.code.wrapper.bind import SYMBOL
from aoti_logs.code.wrapper_python.alloc import allocated, is_allocation, is_reuse, viewed
from aoti_logs.code.wrapper_python.calls import called
from aoti_logs.code.wrapper_python.state import Given
from aoti_logs.code.wrapper_python.text import VIEWS, dotted, is_item

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_python.state import Reading
    from aoti_logs.code.wrapper_python.text import Function

_UNBACKED = re.compile(r"z?u[f]?\d+(?:_start|_end|_undivided)?")
_NUMBERS = frozenset({"max", "min", "int", "float", "bool", "abs", "round", "align", "pow"})
_STREAM = re.compile(r"\w*get_raw_stream$|(?:[\w.]*\.)?current_stream$|get_external_object_by_index$")
_HANDLES = re.compile(r"torch\.Event$|nvtx\.|torch\.cuda\.nvtx\.|torch\.cuda\.Event$")


def assign(reading: Reading, function: Function, node: ast.Assign, target: ast.expr) -> bool:
    """Take an assignment; False when no form fits."""
    value = node.value
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            names = tuple(n for n in map(_target, elements) if n is not None)
            if isinstance(value, ast.Call) and len(names) == len(elements):
                return called(reading, function, node, value, names)
            return False
        case ast.Subscript():
            cell = _target(target)
            return cell is not None and _set_cell(reading, function, node, cell)
        case ast.Name(id=name):
            return _named(reading, function, node, name)
    return False


def _target(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))):
            return f"{name}[{place}]"
    return None


def _named(reading: Reading, function: Function, node: ast.Assign, name: str) -> bool:
    match node.value:
        case ast.Name(id=old):
            _rename(reading, function, node, name, old)
        case ast.Constant(value=None):
            pass
        case ast.Constant(value=bool() | int() | float()) as number:
            reading.size(Size(name, function.line(node), function.text(node), value=to_expr(number)))
        case ast.Subscript() as item:
            return _item_of(reading, function, node, name, item)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            reading.lists[name] = tuple(Given(function, e) for e in elements)
        case ast.BinOp(left=ast.List()):
            reading.cells |= {name}  # `buf3 = [None] * 2`: results of a subgraph
        case ast.Call() as call:
            return _called(reading, function, node, name, call)
        case ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.Compare() | ast.BoolOp() as value:
            _computed(reading, function, node, name, value)
        case _:
            return False
    return True


def _computed(reading: Reading, function: Function, node: ast.Assign, name: str, value: ast.expr) -> None:
    """Take a symbol that is computed: from others, or from data (`u0 = 1 if buf3.item() else 0`)."""
    read = (n.func for n in ast.walk(value) if isinstance(n, ast.Call) and is_item(n))
    method = next((f for f in read if isinstance(f, ast.Attribute)), None)
    tensor = None if method is None else reading.core(method.value)
    unbacked = tensor is not None or _UNBACKED.fullmatch(name) is not None
    reading.size(
        Size(name, function.line(node), function.text(node), tensor, value=to_expr(value), unbacked=unbacked)
    )


def _rename(reading: Reading, function: Function, node: ast.Assign, name: str, old: str) -> None:
    line, names = function.line(node), reading.body.names
    if SYMBOL.fullmatch(name) or reading.is_size(old) or name.endswith("numel"):
        if old in names.inputs:
            names.scalars.add(old)
        reading.rename_size(name, old, line, function.text(node))
    elif name not in names.inputs:
        alias = names.stands_for.get(old, old)
        reading.buffer(Buffer(name, line, alias_of=alias, reuse=is_reuse(function, node)))


def _item_of(reading: Reading, function: Function, node: ast.Assign, name: str, item: ast.Subscript) -> bool:
    """Take `s70 = arg0_1_size[0]`, a result of a subgraph, or one of an operator's several results."""
    line = function.line(node)
    match item:
        case ast.Subscript(value=ast.Name(id=base), slice=ast.Constant(value=int(dim))):
            for what in ("_size", "_stride"):
                if base.endswith(what) and base in reading.lists:
                    tensor = base.removesuffix(what)
                    reading.size(Size(name, line, function.text(node), tensor, dim, what == "_stride"))
                    return True
            if base in reading.cells:
                reading.buffer(Buffer(name, line, alias_of=f"{base}[{dim}]"))
                return True
    origin = reading.core(item)
    if origin is None or not isinstance(item.slice, ast.Constant):
        return False
    reading.buffer(Buffer(name, line, alias_of=origin, view=True, item=str(item.slice.value)))
    return True


def _set_cell(reading: Reading, function: Function, node: ast.Assign, cell: str) -> bool:
    """Take `buf3[0] = arg0_1`, the state of a loop or the result of an inlined subgraph."""
    line = function.line(node)
    match node.value:
        case ast.Call() as call if dotted(call.func) in VIEWS:
            reading.buffer(viewed(reading, function, cell, line, call))
            return True
        case ast.Call() as call:
            return called(reading, function, node, call, (cell,))
        case ast.Constant() | ast.List():
            return True
    origin = reading.core(node.value)
    if origin is None:
        return False
    reading.buffer(Buffer(cell, line, alias_of=origin))
    return True


def _called(reading: Reading, function: Function, node: ast.Assign, name: str, call: ast.Call) -> bool:
    callee = dotted(call.func)
    line = function.line(node)
    if is_item(call):
        tensor = reading.core(call.func.value) if isinstance(call.func, ast.Attribute) else None
        reading.size(Size(name, line, function.text(node), tensor, unbacked=True))
        return True
    method = call.func if isinstance(call.func, ast.Attribute) else None
    if method is not None and method.attr in {"size", "stride", "storage_offset", "__floordiv__"}:
        return _measured(reading, function, node, name, call, method)
    if callee in _NUMBERS or callee.startswith("math."):
        _computed(reading, function, node, name, call)
        return True
    if is_allocation(call):
        reading.buffer(allocated(function, name, line, call))
        return True
    if callee in VIEWS and call.args:
        if name not in reading.body.names.inputs:
            view = viewed(reading, function, name, line, call)
            reading.buffer(replace(view, reuse=True) if is_reuse(function, node) else view)
        return True
    if "tma_descriptor" in callee or callee.endswith(".TensorDescriptor.from_tensor"):
        origin = reading.core(call.args[0]) if call.args else None
        reading.buffer(Buffer(name, line, alias_of=origin, view=True))
        return True
    if _STREAM.match(callee):
        if reading.stream is not None and callee.endswith("get_raw_stream"):
            reading.raw_streams[name] = reading.stream
        else:
            reading.raw_streams.pop(name, None)
        return True
    return _HANDLES.match(callee) is not None or called(reading, function, node, call, (name,))


def _measured(
    reading: Reading,
    function: Function,
    node: ast.Assign,
    name: str,
    call: ast.Call,
    method: ast.Attribute,
) -> bool:
    """Take `arg0_1_size = arg0_1.size()`, `u1 = buf6.size(0)` and `u2 = buf6.size(0).__floordiv__(4)`."""
    tensor = reading.core(method.value)
    line, text = function.line(node), function.text(node)
    unbacked = _UNBACKED.fullmatch(name) is not None
    match call.args:
        case [ast.Constant(value=int(dim))] if method.attr in {"size", "stride"}:
            reading.size(Size(name, line, text, tensor, dim, method.attr == "stride", unbacked=unbacked))
        case [] if method.attr in {"size", "stride"}:
            reading.lists[name] = ()
        case _:
            inner = next((n for n in ast.walk(method.value) if isinstance(n, ast.Name)), None)
            tensor = None if inner is None else reading.core(inner)
            reading.size(Size(name, line, text, tensor, value=to_expr(call), unbacked=unbacked))
    return True
