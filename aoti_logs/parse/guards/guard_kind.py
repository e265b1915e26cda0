"""What a guard tests: a number, the length of a container, a type, the state of torch, ...

A guard is Python (torch/_dynamo/guards.py, methods of `GuardBuilder`), so Python's own parser reads it.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from functools import lru_cache

_LONGEST = 4096
_CALLS = {
    "___check_type_id": "type",
    "___check_obj_id": "identity",
    "___check_global_state": "global_state",
    "___check_torch_function_mode_stack": "torch_function_modes",
    "___is_grad_enabled": "global_state",
    "___are_deterministic_algorithms_enabled": "global_state",
    "___is_torch_function_enabled": "global_state",
    "___check_tensors": "tensor",
    "check_tensor": "tensor",
    "check_no_aliasing": "aliasing",
    "___dict_contains": "key",
    "___skip_backend_check": "backend",
    "___current_backend": "backend",
    "___compile_config_hash": "config",
    "hasattr": "attribute",
    "isinstance": "type",
    "type": "type",
    "set": "keys",
    "list": "keys",
}
_CONSTANTS = {bool: "bool_equality", int: "int_equality", float: "float_equality", str: "str_equality"}
_OF_TENSOR = {"dtype", "device", "requires_grad"}
_MEASURES = {"size": "size", "shape": "size", "stride": "stride", "storage_offset": "storage_offset"}


@dataclass(frozen=True, slots=True)
class GuardKind:
    """What a guard tests.

    Attributes:
        what: `size`, `stride`, `storage_offset` of one tensor, `sizes` of several; `int_equality`, `float_equality`,
            `bool_equality`, `str_equality`; `length` of a container; `type`, `identity`, `none`, `key`, `keys`,
            `attribute`, `dimension_marking`, `global_state`, `torch_function_modes`, `default_device`, `backend`,
            `config`, `tensor`, `aliasing`, `deallocated`, `dtype`, `device`, `requires_grad`; None for a test of another kind.
        subject: Dynamo source of what is tested; None where the test names none.
        value: what it was compared with, as printed.
        index: dimension of a size or stride.
    """

    what: str | None = None
    subject: str | None = None
    value: str | None = None
    index: int | None = None


@lru_cache(maxsize=4096)
def guard_kind(expression: str) -> GuardKind | None:
    """Tell what a guard tests; None for what is no expression of Python."""
    if len(expression) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape in a string is no concern of ours
            tree = ast.parse(expression.strip(), mode="eval").body
        return _kind(tree, expression.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _kind(tree: ast.expr, text: str) -> GuardKind:
    if text.startswith("___guarded_code.valid"):
        return GuardKind("deallocated")
    measured = _measures(tree, text)
    if measured is not None:
        return measured
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        inner = _kind(tree.operand, text)
        return inner if inner.what is not None else GuardKind("length", _source(tree.operand, text), "0")
    if isinstance(tree, ast.BoolOp):
        return _kind(tree.values[0], text)
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        return _compared(tree.left, tree.ops[0], tree.comparators[0], text)
    if isinstance(tree, ast.Call):
        return _called(tree, text)
    return GuardKind()


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, text: str) -> GuardKind:
    subject, value = _source(left, text), ast.get_source_segment(text, right)
    if isinstance(op, ast.Is | ast.IsNot):
        none = isinstance(right, ast.Constant) and right.value is None
        return GuardKind("none" if none else "aliasing", subject, value)
    if isinstance(op, ast.In | ast.NotIn):
        return GuardKind("key", _source(right, text), ast.get_source_segment(text, left))
    if subject == "utils_device.CURRENT_DEVICE":
        return GuardKind("default_device", None, value)
    about = left.args[0] if isinstance(left, ast.Call) and _name(left) == "str" and left.args else left
    if isinstance(about, ast.Attribute) and about.attr in _OF_TENSOR:
        return GuardKind(about.attr, _source(about.value, text), value)
    if isinstance(left, ast.Call):
        if _name(left) == "len" and left.args:
            return GuardKind("length", _source(left.args[0], text), value)
        called = _called(left, text)
        if called.what is not None:
            return called
    if not isinstance(op, ast.Eq):
        return GuardKind(None, subject, value)
    constant = right.operand if isinstance(right, ast.UnaryOp) else right
    if isinstance(constant, ast.Constant):
        if constant.value is None:
            return GuardKind("none", subject, value)
        return GuardKind(_CONSTANTS.get(type(constant.value)), subject, value)
    return GuardKind(None, subject, value)


def _called(call: ast.Call, text: str) -> GuardKind:
    name = _name(call)
    what = _CALLS.get(name or "")
    if what is None:
        return GuardKind()
    arguments = call.args
    if name == "hasattr" and len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
        attribute = str(arguments[1].value)
        marks = attribute.startswith(("_dynamo_", "_has_dynamo_"))
        return GuardKind(
            "dimension_marking" if marks else "attribute", _source(arguments[0], text), attribute
        )
    if name == "___dict_contains" and len(arguments) == 2:
        return GuardKind(what, _source(arguments[1], text), ast.get_source_segment(text, arguments[0]))
    return GuardKind(what, _source(arguments[0], text) if arguments else None)


def _measures(tree: ast.expr, text: str) -> GuardKind | None:
    """Tell a test of sizes or strides: which, where it is only one."""
    found: dict[tuple[str, str | None, int | None], None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            inner = node.value
            call = inner.func if isinstance(inner, ast.Call) else inner
            index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        elif isinstance(node, ast.Call):
            call, index = node.func, None
            if not isinstance(call, ast.Attribute) or call.attr != "storage_offset":
                continue
        else:
            continue
        if isinstance(call, ast.Attribute) and call.attr in _MEASURES:
            key = (_MEASURES[call.attr], _source(call.value, text), index if isinstance(index, int) else None)
            found[key] = None
    if not found:
        return None
    if len(found) > 1:
        return GuardKind("sizes")
    ((what, subject, index),) = found
    value = None
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        plain = isinstance(tree.left, ast.Subscript) and isinstance(tree.comparators[0], ast.Constant)
        value = ast.get_source_segment(text, tree.comparators[0]) if plain else None
    return GuardKind(what, subject, value, index)


def _name(call: ast.Call) -> str | None:
    return call.func.id if isinstance(call.func, ast.Name) else None


def _source(node: ast.expr, text: str) -> str | None:
    """Return the source that a part of a guard is about; None for what computes something."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "keys":
            return _source(node.args[0] if node.args else function.value, text)
        return None
    named = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    return ast.get_source_segment(text, node) if named else None
