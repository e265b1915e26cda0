"""Python expressions of generated code as the tree of `code/expr.py`: Triton kernels, sizes, launch arguments."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_MAX_DEPTH = 200
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_MODULES = {"tl", "triton_helpers", "libdevice", "tl_math", "triton", "math", "torch", "tle", "pl", "core"}
_LOADS = {"tl.load", "tl._experimental_descriptor_load", "tl.load_tensor_descriptor"}
_READERS = {"triton_helpers.bucketize_binary_search"}
"""Helpers of `torch/_inductor/runtime/triton_helpers.py` that read somewhere behind a pointer, and write nothing."""
_SAME_POINTER = {
    ".to", "tl.cast", "tl.multiple_of", "tl.max_contiguous", "tl.max_constancy", "tl.broadcast_to", "tl.expand_dims",
}  # fmt: skip
_BLOCKS = {
    "tl.make_block_ptr", "tl.advance", "tl.make_tensor_descriptor", "tl._experimental_make_tensor_descriptor",
    "triton_helpers.make_tensor_descriptor", "tl._experimental_reinterpret_tensor_descriptor",
}  # fmt: skip


def parse_python(text: str) -> Expr:
    """Read a Python expression (a size, a guard, an argument) as an `Expr`; never raises."""
    try:
        return to_expr(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Opaque(text, tuple(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))))


def operator_of(node: ast.operator) -> str:
    """Return a binary operator as `expr.Op` writes it."""
    return _BINARY[type(node)]


def to_expr(node: ast.expr, pointers: Container[str] = (), depth: int = 0) -> Expr:
    """Turn a Python expression into the tree that slices work on.

    Args:
        node: the expression.
        pointers: names that are pointers, beside those that have `ptr` in their names.
        depth: how deep the recursion is.
    """
    if depth > _MAX_DEPTH:
        return Opaque("...")

    def inner(part: ast.expr) -> Expr:
        return to_expr(part, pointers, depth + 1)

    match node:
        case ast.Constant(value=bool(value)):
            return Num(int(value))
        case ast.Constant(value=int(value) | float(value)):
            return Num(value)
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute(value=value, attr="dtype") if not _is_module(value):
            return Call(".dtype", (inner(value),))
        case ast.Attribute():
            return _attribute(node)
        case ast.BinOp(left=left, op=op, right=right):
            return Op(operator_of(op), (inner(left), inner(right)))
        case ast.UnaryOp(op=sign, operand=operand):
            one = inner(operand)
            if isinstance(sign, ast.USub) and isinstance(one, Num):
                return Num(-one.value)
            return Op(_UNARY[type(sign)], (one,))
        case ast.BoolOp(op=op, values=values):
            return Op("and" if isinstance(op, ast.And) else "or", tuple(inner(v) for v in values))
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(
            type(o) in _COMPARE for o in ops
        ):
            operands = [inner(e) for e in (left, *comparators)]
            pairs = [Op(_COMPARE[type(o)], (operands[n], operands[n + 1])) for n, o in enumerate(ops)]
            return pairs[0] if len(pairs) == 1 else Op("and", tuple(pairs))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Op("?:", (inner(test), inner(body), inner(orelse)))
        case ast.Subscript(value=value, slice=index):
            base = inner(value)
            return base if _is_reshape(index) else Item(base, inner(index))
        case ast.Tuple(elts=[one_only]):
            return inner(one_only)
        case ast.List(elts=elts):
            return Call("[]", tuple(inner(e) for e in elts))
        case ast.Call():
            return _call(node, pointers, depth + 1)
        case _:
            text = ast.unparse(node)
            return Opaque(text, tuple(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def _is_reshape(index: ast.expr) -> bool:
    """`x[:, None]` and `x[None, :]` change the shape only."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value is None) for p in parts)


def _attribute(node: ast.Attribute) -> Expr:
    parts = [node.attr]
    inner: ast.expr = node.value
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name):
        return Name(".".join([inner.id, *reversed(parts)]))
    return Opaque(ast.unparse(node), tuple(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))


def _call(node: ast.Call, pointers: Container[str], depth: int) -> Expr:
    keywords = tuple((k.arg or "**", to_expr(k.value, pointers, depth)) for k in node.keywords)
    args = tuple(to_expr(a, pointers, depth) for a in node.args)
    callee = node.func
    if isinstance(callee, ast.Attribute) and not _is_module(callee.value):
        base = to_expr(callee.value, pointers, depth)
        if callee.attr == "to" and len(args) == 1:
            return Call(".to", (base,), (str(args[0]),))
        ptr = split_pointer(base, pointers)[0] if callee.attr == "load" else ""
        if ptr:
            # Tensor descriptors: `desc.load([offsets])`.
            return Load(ptr, args[0] if args else Num(0))
        return Call("." + callee.attr, (base, *args), (), keywords)
    func = str(to_expr(callee, pointers, depth))
    if func.startswith("triton.language."):
        func = "tl." + func.removeprefix("triton.language.")
    if func == "tl.full" and len(args) > 1:
        # A block filled with one value is that value, lane by lane.
        return args[1]
    if func in _READERS:
        args = tuple(_read_by(func, a, pointers) for a in args)
    if func in _LOADS and args:
        return _load(func, args, dict(keywords), pointers)
    return Call(func, args, (), keywords)


def _load(func: str, args: tuple[Expr, ...], named: dict[str, Expr], pointers: Container[str]) -> Load:
    ptr, index = split_pointer(args[0], pointers)
    if func != "tl.load":
        return Load(ptr, args[1] if len(args) > 1 else index)
    mask = args[1] if len(args) > 1 else named.get("mask")
    if mask is None and "boundary_check" in named:
        mask = Opaque(f"boundary_check={named['boundary_check']}")
    return Load(ptr, index, None if mask is None or is_none(mask) else mask)


def _read_by(func: str, arg: Expr, pointers: Container[str]) -> Expr:
    ptr, _ = split_pointer(arg, pointers)
    return Load(ptr, Opaque(f"{func}(...)")) if ptr else arg


def is_none(expr: Expr) -> bool:
    """Tell Python's None."""
    return isinstance(expr, Opaque) and expr.text == "None"


def _is_module(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _MODULES


class Pointers(set[str]):
    """Names that are pointers; `numbers` are parameters that are none, whatever their names say.

    A tensor of one number on the CPU is passed by value, and is called `in_ptr1` all the same.
    """

    def __init__(self, names: Iterable[str] = (), numbers: Iterable[str] = ()) -> None:
        super().__init__(names)
        self.numbers = frozenset(numbers)


def _is_pointer(name: str, pointers: Container[str]) -> bool:
    if name in pointers:
        return True
    return "ptr" in name and not (isinstance(pointers, Pointers) and name in pointers.numbers)


def split_pointer(address: Expr, pointers: Container[str] = ()) -> tuple[str, Expr]:
    """Split `in_ptr0 + (index)` into pointer and index; the pointer is empty when none is found.

    Args:
        address: what `tl.load` and the like get.
        pointers: names that are pointers, beside those that have `ptr` in their names.
    """
    for _ in range(_MAX_DEPTH):
        if not (isinstance(address, Call) and address.func in _SAME_POINTER and address.args):
            break
        address = address.args[0]
    match address:
        case Name(id=name):
            return (name if _is_pointer(name, pointers) else ""), Num(0)
        case Op(op="+", args=(left, right)):
            for one, other in ((left, right), (right, left)):
                ptr, index = split_pointer(one, pointers) if isinstance(one, Name | Op | Call) else ("", one)
                if ptr:
                    return ptr, other if index == Num(0) else Op("+", (index, other))
        case Op(op="-", args=(left, right)):
            ptr, index = split_pointer(left, pointers)
            if ptr:
                return ptr, Op("-", (right,)) if index == Num(0) else Op("-", (index, right))
        case Call(func=func, args=args, keywords=keywords) if func in _BLOCKS:
            base = args[0] if args else dict(keywords).get("base")
            ptr = "" if base is None else split_pointer(base, pointers)[0]
            if ptr:
                rest = tuple((k, v) for k, v in keywords if k != "base")
                return ptr, Call(func, args[1:], (), rest)
        case _:
            pass
    return "", address
