"""What calls of a Triton kernel do to memory: stores, atomics, checks, and pointers that are handed on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from aoti_logs.code.body import Check, Statement, Store
from aoti_logs.code.expr import Call, Expr, Num, Op, Opaque, children
from aoti_logs.code.triton.expr import is_none, split_pointer

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    Scope = tuple[int, ...]

_STORES = {"tl.store": (0, 1, 2), "tl._experimental_descriptor_store": (0, 1, None)}
"""Function to places of address, value and mask."""
_ASSERTS = {"tl.device_assert", "triton_helpers.device_assert_then"}
HARMLESS = {
    "tl.debug_barrier", "tl.device_print", "tl.static_print", "tl.static_assert", "tl.assume", "tl.multiple_of",
    "tl.max_contiguous", "pl.enter_scope", "pl.exit_scope", "print", "tl.extra.cuda.gdc_wait",
    "tl.extra.cuda.gdc_launch_dependents", "gdc_wait", "gdc_launch_dependents",
    "tl.extra.cuda.experimental_device_tensormap_create2d", "tl.extra.cuda.experimental_tensormap_fenceproxy_acquire",
}  # fmt: skip
"""Statements that change neither memory nor a value."""
_ONLY_ADDRESS = {
    ".to", "tl.cast", "tl.multiple_of", "tl.max_contiguous", "tl.max_constancy", "tl.broadcast_to", "tl.make_block_ptr",
    "tl.advance", "tl.make_tensor_descriptor", "tl._experimental_make_tensor_descriptor", "tl.where", "tl.expand_dims",
    "triton_helpers.make_tensor_descriptor", "tl._experimental_reinterpret_tensor_descriptor", "tl.pointer_type",
}  # fmt: skip
"""Calls that make an address of an address, without reading what is there."""


def effects(expr: Expr, line: int, scope: Scope, pointers: Container[str]) -> Iterator[Statement]:
    """Yield what evaluating an expression does, innermost first.

    Args:
        expr: a value or a call that stands alone.
        line: its line.
        scope: the block that it stands in.
        pointers: names that are pointers.
    """
    for node in _calls(expr):
        named = dict(node.keywords)
        if node.func in _ASSERTS and node.args:
            yield check_of(node, line, scope)
        elif node.func in _STORES and len(node.args) > 1:
            address, value, mask = _STORES[node.func]
            given = named.get("mask") if mask is None or len(node.args) <= mask else node.args[mask]
            if given is None and "boundary_check" in named:
                given = Opaque(f"boundary_check={named['boundary_check']}")
            yield _store(node.args[address], node.args[value], given, line, scope, pointers, "")
        elif node.func.startswith("tl.atomic_") and len(node.args) > 1:
            # `atomic_cas(pointer, compared, value)` has its value one place further.
            at = 2 if node.func == "tl.atomic_cas" and len(node.args) > 2 else 1
            given = named.get("mask") if len(node.args) <= at + 1 else node.args[at + 1]
            yield _store(node.args[0], node.args[at], given, line, scope, pointers, node.func)
        elif node.func in {".store", "tl.store_tensor_descriptor"} and len(node.args) > 2:
            # Tensor descriptors: `desc.store([offsets], value)`.
            ptr = split_pointer(node.args[0], pointers)[0] or str(node.args[0])
            yield Store(ptr, node.args[1], node.args[2], line, scope=scope)
        elif node.func.startswith(".atomic_") and len(node.args) > 2:
            ptr = split_pointer(node.args[0], pointers)[0] or str(node.args[0])
            yield Store(ptr, node.args[1], node.args[2], line, atomic=True, scope=scope, operation=node.func)
        elif node.func not in _ONLY_ADDRESS and node.func not in HARMLESS:
            yield from _handed_on(node, line, scope, pointers)


def _calls(expr: Expr) -> Iterator[Call]:
    """Yield calls, arguments before what they are given to; without recursion."""
    found: list[Call] = []
    todo = [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, Call):
            found.append(node)
        todo.extend(children(node))
    return reversed(found)


def _store(
    address: Expr, value: Expr, mask: Expr | None, line: int, scope: Scope, pointers: Container[str], how: str
) -> Store:
    ptr, index = split_pointer(address, pointers)
    given = None if mask is None or is_none(mask) else mask
    return Store(ptr, index, value, line, bool(how), scope, given, how)


def _handed_on(node: Call, line: int, scope: Scope, pointers: Container[str]) -> Iterator[Statement]:
    """Yield a store for each pointer that a function gets: it may write there."""
    for given in node.args + tuple(v for _, v in node.keywords):
        ptr, _ = split_pointer(given, pointers)
        if ptr:
            where = Opaque(f"{node.func}(...)")
            yield Store(ptr, where, where, line, scope=scope, atomic=True, operation=node.func)


def check_of(node: Call, line: int, scope: Scope) -> Check:
    """Return the check that `tl.device_assert(condition, message, mask=...)` is."""
    condition, mask = node.args[0], dict(node.keywords).get("mask")
    if mask is None and node.func == "tl.device_assert" and len(node.args) > 2:
        mask = node.args[2]
    if isinstance(condition, Op) and condition.op == "|" and len(condition.args) == 2:
        excuse = condition.args[1]
        if isinstance(excuse, Op) and excuse.op == "~":
            condition, mask = condition.args[0], excuse.args[0]
    message = _text(node.args[1]) if len(node.args) > 1 else _text(dict(node.keywords).get("msg"))
    return Check(message, condition, line, None if mask is None or is_none(mask) else mask, scope)


def _text(expr: Expr | None) -> str:
    if not isinstance(expr, Opaque):
        return "" if expr is None or isinstance(expr, Num) else str(expr)
    try:
        value = ast.literal_eval(expr.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return expr.text
    return value if isinstance(value, str) else expr.text
