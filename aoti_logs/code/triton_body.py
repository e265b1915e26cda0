"""The body of a Triton kernel, read with Python's own parser.

Inductor writes Triton kernels as Python functions (`torch/_inductor/codegen/triton.py`); they stand
in the cache's `.py` files, in `async_compile.triton('name', '''...''')` of a Python wrapper, and as
a comment in an AOTInductor wrapper.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign, Body, Check, Loop, Param, Statement, Store
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.model import Kernel

_DEF = re.compile(r"^(\s*)def (\w+)\(")
_MAX_DEPTH = 200

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}


def triton_body(kernel: Kernel) -> Body:
    """Read the body of a Triton kernel; what cannot be read is in `Body.unread`, nothing raises."""
    lines = kernel.source.lines_from(kernel.line, kernel.end_line)
    start, stop = _function(lines, kernel.name)
    if start is None:
        return Body(kernel.name, kernel.params, (), ((kernel.line, "no function definition"),))
    # A comment in C++ may end early; drop lines from the end until Python takes the text.
    for end in range(stop, max(start, stop - 40), -1):
        text = textwrap.dedent("\n".join(lines[start:end]))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        function = tree.body[0]
        if isinstance(function, ast.FunctionDef):
            reader = _Reader(kernel.line + start)
            reader.block(function.body)
            missing = [(kernel.line + n, lines[n].strip()) for n in range(end, stop) if lines[n].strip()]
            params = kernel.params or _params(function)
            return Body(kernel.name, params, tuple(reader.statements), tuple(reader.unread + missing))
    return Body(kernel.name, kernel.params, (), ((kernel.line + start, lines[start].strip()),))


def parse_python(text: str) -> Expr:
    """Read a Python expression (a size, a guard, an argument) as an `Expr`; never raises."""
    try:
        return to_expr(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Opaque(text, tuple(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))))


def _function(lines: Sequence[str], name: str) -> tuple[int | None, int]:
    """Find the kernel's `def`: by name, else the last one (helpers come before the kernel)."""
    starts = [(n, m) for n, line in enumerate(lines) if (m := _DEF.match(line))]
    named = [(n, m) for n, m in starts if m[2] == name]
    if not starts:
        return None, 0
    start, match = (named or starts)[-1]
    indent = len(match[1])
    end = start + 1
    while end < len(lines):
        line = lines[end]
        shift = len(line) - len(line.lstrip())
        if line.strip() and shift <= indent and not line.strip().startswith(")"):
            break
        end += 1
    return start, end


def _params(function: ast.FunctionDef) -> tuple[Param, ...]:
    return tuple(
        Param(a.arg, ast.unparse(a.annotation) if a.annotation else "", "ptr" in a.arg)
        for a in function.args.args
    )


def to_expr(node: ast.expr, depth: int = 0) -> Expr:
    """Turn a Python expression into the tree that slices work on."""
    if depth > _MAX_DEPTH:
        return Opaque("...")
    step = depth + 1
    match node:
        case ast.Constant(value=bool(value)):
            return Num(int(value))
        case ast.Constant(value=int(value) | float(value)):
            return Num(value)
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute():
            return _attribute(node)
        case ast.BinOp(left=left, op=op, right=right):
            return Op(_BINARY[type(op)], (to_expr(left, step), to_expr(right, step)))
        case ast.UnaryOp(op=sign, operand=operand):
            inner = to_expr(operand, step)
            if isinstance(sign, ast.USub) and isinstance(inner, Num):
                return Num(-inner.value)
            return Op(_UNARY[type(sign)], (inner,))
        case ast.BoolOp(op=op, values=values):
            return Op("and" if isinstance(op, ast.And) else "or", tuple(to_expr(v, step) for v in values))
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(
            type(o) in _COMPARE for o in ops
        ):
            operands = [to_expr(e, step) for e in (left, *comparators)]
            pairs = [Op(_COMPARE[type(o)], (operands[n], operands[n + 1])) for n, o in enumerate(ops)]
            return pairs[0] if len(pairs) == 1 else Op("and", tuple(pairs))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Op("?:", (to_expr(test, step), to_expr(body, step), to_expr(orelse, step)))
        case ast.Subscript(value=value, slice=index):
            base = to_expr(value, step)
            return base if _is_reshape(index) else Item(base, to_expr(index, step))
        case ast.Tuple(elts=[one]):
            return to_expr(one, step)
        case ast.Call():
            return _call(node, step)
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
    return Opaque(ast.unparse(node))


def _call(node: ast.Call, depth: int) -> Expr:
    keywords = tuple((k.arg or "**", to_expr(k.value, depth)) for k in node.keywords)
    args = tuple(to_expr(a, depth) for a in node.args)
    callee = node.func
    if isinstance(callee, ast.Attribute) and not _is_module(callee.value):
        base = to_expr(callee.value, depth)
        if callee.attr == "to" and len(args) == 1:
            return Call(".to", (base,), (str(args[0]),))
        return Call("." + callee.attr, (base, *args), (), keywords)
    func = str(to_expr(callee, depth))
    if func == "tl.full" and len(args) > 1:
        # A block filled with one value is that value, lane by lane.
        return args[1]
    if func == "tl.load" and args:
        named = dict(keywords)
        mask = args[1] if len(args) > 1 else named.get("mask")
        ptr, index = split_pointer(args[0])
        return Load(ptr, index, None if mask is None or _is_none(mask) else mask)
    return Call(func, args, (), keywords)


def _is_none(expr: Expr) -> bool:
    return isinstance(expr, Opaque) and expr.text == "None"


_MODULES = {"tl", "triton_helpers", "libdevice", "tl_math", "triton", "math", "torch", "tle"}


def _is_module(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _MODULES


def split_pointer(address: Expr) -> tuple[str, Expr]:
    """Split `in_ptr0 + (index)` into pointer parameter and index."""
    if isinstance(address, Name):
        return address.id, Num(0)
    if isinstance(address, Op) and address.op == "+" and len(address.args) == 2:
        for one, other in (address.args, address.args[::-1]):
            ptr, index = split_pointer(one) if isinstance(one, Name | Op) else ("", one)
            if ptr and (
                (isinstance(one, Name) and "ptr" in one.id) or (isinstance(one, Op) and "ptr" in ptr)
            ):
                return ptr, other if isinstance(index, Num) and index.value == 0 else Op("+", (index, other))
        if isinstance(address.args[0], Name):
            return address.args[0].id, address.args[1]
    if isinstance(address, Call) and address.args:
        inner = address.args[0]
        if isinstance(inner, Name):
            return inner.id, Opaque(str(address), tuple(n for n in sorted(names(address)) if n != inner.id))
    return "", address


_RANGES = {"range", "tl.range", "tl.static_range"}


def _loop(target: ast.expr, values: Expr, line: int) -> Loop | None:
    """Return a loop that counts upwards; None for any other."""
    match target, values:
        case ast.Name(id=name), Call(func=func, args=(_, *_) as args) if func in _RANGES:
            start, stop = (Num(0), args[0]) if len(args) == 1 else args[:2]
            step = args[2] if len(args) > 2 else Num(1)
            down = step.value <= 0 if isinstance(step, Num) else isinstance(step, Op) and step.op == "-"
            return None if down else Loop(name, start, stop, line)
    return None


class _Reader:
    """Statements of a function body in program order."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self.statements: list[Statement] = []
        self.unread: list[tuple[int, str]] = []
        self._path: tuple[int, ...] = ()
        self._blocks = 0

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def nested(self, body: Sequence[ast.stmt], loop: Loop | None = None) -> None:
        """Read a block of its own: the body of a loop or a branch."""
        outer = self._path
        self._blocks += 1
        self._path = (*outer, self._blocks)
        if loop is not None:
            self.statements.append(replace(loop, scope=self._path))
        self.block(body)
        self._path = outer

    def statement(self, node: ast.stmt) -> None:
        line = self.first_line + node.lineno - 1
        match node:
            case ast.Assign(targets=[target], value=value):
                self.assign(target, to_expr(value), line)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign(target, to_expr(value), line)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.set(name, Op(_BINARY[type(op)], (Name(name), to_expr(value))), line)
            case ast.Expr(value=ast.Call() as call):
                self.call(call, line)
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Return():
                pass
            case ast.For(target=target, iter=values, body=body):
                loop = _loop(target, to_expr(values), line)
                if loop is None:
                    self.unread.append((line, ast.unparse(node).splitlines()[0]))
                self.nested(body, loop)
            case ast.While(body=body):
                self.nested(body, Loop("", Num(0), None, line))
            case ast.With(body=body):
                self.block(body)
            case ast.If(body=body, orelse=orelse):
                self.nested(body)
                self.nested(orelse)
            case _:
                self.unread.append((line, ast.unparse(node).splitlines()[0]))

    def assign(self, target: ast.expr, value: Expr, line: int) -> None:
        match target:
            case ast.Name(id=name):
                self.set(name, value, line)
            case ast.Tuple(elts=elts):
                for n, element in enumerate(elts):
                    part = value if len(elts) == 1 else Item(value, Num(n))
                    self.assign(element, part, line)
            case _:
                self.unread.append((line, f"{ast.unparse(target)} = {value}"))

    def set(self, name: str, value: Expr, line: int) -> None:
        """Add an assignment: visible everywhere after it, though it stands in a block."""
        self.statements.append(Assign(name, value, line, (), self._path))

    def call(self, node: ast.Call, line: int) -> None:
        expr = to_expr(node)
        if not isinstance(expr, Call):
            return
        if expr.func in {"tl.device_assert", "tl.static_assert"} and expr.args:
            self.check(node, expr, line)
        elif expr.func == "tl.store" and len(expr.args) > 1:
            ptr, index = split_pointer(expr.args[0])
            self.statements.append(Store(ptr, index, expr.args[1], line, scope=self._path))
        elif expr.func.startswith("tl.atomic_") and len(expr.args) > 1:
            ptr, index = split_pointer(expr.args[0])
            self.statements.append(Store(ptr, index, expr.args[1], line, atomic=True, scope=self._path))
        elif expr.func == ".store" and len(expr.args) > 2:
            # Tensor descriptors: `desc.store([offsets], value)`.
            ptr = str(expr.args[0])
            self.statements.append(Store(ptr, expr.args[1], expr.args[2], line, scope=self._path))
        elif expr.func not in {"tl.debug_barrier", "tl.device_print", "tl.static_print"}:
            self.unread.append((line, str(expr)))

    def check(self, node: ast.Call, expr: Call, line: int) -> None:
        message = ""
        if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            message = str(node.args[1].value)
        condition, mask = expr.args[0], None
        if isinstance(condition, Op) and condition.op == "|" and len(condition.args) == 2:
            excuse = condition.args[1]
            if isinstance(excuse, Op) and excuse.op == "~":
                condition, mask = condition.args[0], excuse.args[0]
        self.statements.append(Check(message, condition, line, mask, self._path))
