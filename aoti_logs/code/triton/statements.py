"""Statements of a Triton kernel in program order; functions that it calls are read where they are called.

A function that only computes (`_triton_helper_fn_add0`) stays a call. One that reads or writes memory or checks
something (`forward_inner` of the flex attention template, helpers of user's kernels) becomes a block of its own,
in which its names end in `@function#n`: `m@forward_block_mn#2` is `m` of the second call.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.body import Assign, Guard, Loop, Statement
from aoti_logs.code.expr import Call, Expr, Item, Load, Name, Num, Op, Opaque
from aoti_logs.code.triton.effects import HARMLESS, effects
from aoti_logs.code.triton.expr import Pointers, operator_of, split_pointer, to_expr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RANGES = {"range", "tl.range", "tl.static_range", "tle.range"}
_MOST_STATEMENTS = 50_000
_DEEPEST_CALL = 8
_DEEPEST_BLOCK = 60
_TOUCHES = ("tl.load", "tl.store", "tl.atomic", "assert", "_ptr", ".load(", ".store(", "descriptor")
"""One of these stands in the text of every function that does more than compute."""


class Functions:
    """The functions beside a kernel, each parsed when it is first called.

    Args:
        places: name to first line and line after the last, as places in `lines`.
        lines: the text.
        first_line: the line number of `lines[0]`.
    """

    def __init__(self, places: Mapping[str, tuple[int, int]], lines: Sequence[str], first_line: int) -> None:
        self._places = places
        self._lines = lines
        self._first = first_line
        self._read: dict[str, tuple[ast.FunctionDef, int] | None] = {}

    def __bool__(self) -> bool:
        """Tell whether there is another function than the kernel."""
        return len(self._places) > 1

    def get(self, name: str) -> tuple[ast.FunctionDef, int] | None:
        """Return a function and its first line; None for one that is not here or only computes."""
        if name not in self._read:
            self._read[name] = self._parse(name)
        return self._read[name]

    def _parse(self, name: str) -> tuple[ast.FunctionDef, int] | None:
        if name not in self._places:
            return None
        start, end = self._places[name]
        text = "\n".join(self._lines[start:end])
        others = any(f"{other}(" in text for other in self._places if other != name)
        if not others and not any(word in text for word in _TOUCHES):
            return None
        try:
            tree = ast.parse(textwrap.dedent(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        found = tree.body[0] if tree.body else None
        return (found, self._first + start) if isinstance(found, ast.FunctionDef) else None


class Reader:
    """Reads a function's body.

    Args:
        first_line: the line of the function's `def`.
        functions: what it may call.
        pointers: names of its parameters that are pointers, and of those that are none.
    """

    def __init__(self, first_line: int, functions: Functions, pointers: Pointers) -> None:
        self.functions = functions
        self.pointers = pointers
        self.statements: list[Statement] = []
        self.unread: list[tuple[int, str]] = []
        self._first = first_line
        self._path: tuple[int, ...] = ()
        self._blocks = 0
        self._calls = 0
        self._local: dict[str, str] = {}
        """Names of the function that is read, to their names in the statements; empty for the kernel itself."""
        self._returns: list[str] = []
        """Where the functions around leave their results, innermost last."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Read statements in order."""
        for place, node in enumerate(body):
            if len(self.statements) > _MOST_STATEMENTS:
                self.unread.append((self._line(node), "too many statements"))
                return
            rest = body[place + 1 :]
            if isinstance(node, ast.If) and rest and (_leaves(node.body) or _leaves(node.orelse)):
                # What follows `if a: return` runs only where `a` does not hold.
                if _leaves(node.body):
                    whole = ast.If(node.test, node.body, [*node.orelse, *rest])
                else:
                    whole = ast.If(node.test, [*node.body, *rest], node.orelse)
                self.statement(ast.copy_location(whole, node))
                return
            self.statement(node)

    def nested(self, body: Sequence[ast.stmt], head: Loop | Guard | None = None) -> None:
        """Read a block of its own: the body of a loop, a branch or a function."""
        if not body:
            return
        outer = self._path
        if len(outer) > _DEEPEST_BLOCK:
            self.unread.append((self._line(body[0]), "nested too deep"))
            return
        self._blocks += 1
        self._path = (*outer, self._blocks)
        if head is not None:
            self.statements.append(replace(head, scope=self._path))
        self.block(body)
        self._path = outer

    def _line(self, node: ast.stmt | ast.expr) -> int:
        return self._first + node.lineno - 1

    def statement(self, node: ast.stmt) -> None:
        """Read one statement."""
        line = self._line(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assigned(target, value, line)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assigned(target, value, line)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.set(name, Op(operator_of(op), (Name(self._name(name)), self.value(value, line))), line)
            case ast.Expr(value=ast.Call() as call):
                self.call(call, line)
            case ast.Expr() | ast.Pass() | ast.AnnAssign() | ast.Assert() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Break() | ast.Continue():
                pass
            case ast.Return(value=value):
                self.returned(value, line)
            case ast.For(target=target, iter=values, body=body):
                loop = self.loop(target, self.value(values, line), line)
                if loop is None:
                    self.unread.append((line, ast.unparse(node).splitlines()[0]))
                elif any(isinstance(n, ast.Break | ast.Return) for part in body for n in ast.walk(part)):
                    loop = replace(loop, stop=None)
                self.nested(body, loop)
            case ast.While(body=body):
                self.nested(body, Loop("", Num(0), None, line))
            case ast.With(body=body):
                self.block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                condition = self.value(test, line)
                self.nested(body, Guard(condition, line))
                other = self._line(orelse[0]) if orelse else line
                self.nested(orelse, Guard(Op("not", (condition,)), other))
            case _:
                self.unread.append((line, ast.unparse(node).splitlines()[0]))

    def value(self, node: ast.expr, line: int) -> Expr:
        """Return an expression; what it does to memory is added, what functions give back is put in."""
        expr = self.renamed(to_expr(self.inlined(node, line), self._known()))
        self.statements += effects(expr, line, self._path, self.pointers)
        return expr

    def inlined(self, node: ast.expr, line: int) -> ast.expr:
        """Read the functions that an expression calls; return it with their results in their place."""
        if not self.functions:
            return node
        calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        if not any(self.functions.get(n.func.id) for n in calls if isinstance(n.func, ast.Name)):
            return node
        # A function is read once for each call: its own tree stays as it is.
        changed: ast.expr = _Inliner(self, line).visit(copy.deepcopy(node))
        return changed

    def _known(self) -> Pointers:
        if not self._local:
            return self.pointers
        local = {name for name, full in self._local.items() if full in self.pointers}
        return Pointers(local | self.pointers, self.pointers.numbers)

    def assigned(self, target: ast.expr, value: ast.expr, line: int) -> None:
        """Read `target = value`, element by element where both are tuples."""
        value = self.inlined(value, line)
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts) > 1
            and not any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
        ):
            given = [self.value(e, line) for e in value.elts]
            for element, expr in zip(target.elts, given, strict=True):
                self.assign(element, expr, line)
        else:
            self.assign(target, self.value(value, line), line)

    def assign(self, target: ast.expr, value: Expr, line: int) -> None:
        """Give a value to a name, or its parts to several."""
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
        full = self._name(name)
        if split_pointer(value, self.pointers)[0] and not isinstance(value, Load):
            self.pointers.add(full)
        self.statements.append(Assign(full, value, line, (), self._path))

    def _name(self, name: str) -> str:
        return self._local.get(name, name)

    def loop(self, target: ast.expr, values: Expr, line: int) -> Loop | None:
        """Return a loop that counts; None for any other. One that counts down has no `stop`."""
        match target, values:
            case ast.Name(id=name), Call(func=func, args=(_, *_) as args) if func in _RANGES:
                start, stop = (Num(0), args[0]) if len(args) == 1 else args[:2]
                step = args[2] if len(args) > 2 else Num(1)
                down = step.value <= 0 if isinstance(step, Num) else isinstance(step, Op) and step.op == "-"
                return Loop(self._name(name), start, None if down else stop, line, (), step)
        return None

    def call(self, node: ast.Call, line: int) -> None:
        """Read a call that stands alone."""
        before = len(self.statements)
        expr = self.value(node, line)
        if isinstance(expr, Call) and len(self.statements) == before and expr.func not in HARMLESS:
            self.unread.append((line, ast.unparse(node)))

    def renamed(self, expr: Expr) -> Expr:
        """Return an expression with the names that it has in the statements."""
        return _renamed(expr, self._local) if self._local else expr

    def returned(self, value: ast.expr | None, line: int) -> None:
        """Read `return`: a function's result gets the value."""
        if value is None or not self._returns:
            return
        result = self._returns[-1]
        if isinstance(value, ast.Tuple) and len(value.elts) > 1:
            for n, element in enumerate(value.elts):
                self._result(f"{result}[{n}]", self.value(element, line), line)
        else:
            self._result(result, self.value(value, line), line)

    def _result(self, name: str, value: Expr, line: int) -> None:
        if split_pointer(value, self.pointers)[0] and not isinstance(value, Load):
            self.pointers.add(name)
        self.statements.append(Assign(name, value, line, (), self._path))

    def inline(self, node: ast.Call, name: str, line: int) -> ast.expr | None:
        """Read the function that is called; return what stands for its result, None when it cannot be read."""
        found = self.functions.get(name)
        if found is None or len(self._returns) >= _DEEPEST_CALL:
            return None
        function, first = found
        given = self._given(function, node, line)
        if given is None:
            self.unread.append((line, ast.unparse(node)[:200]))
            return None
        self._calls += 1
        mark = f"{name}#{self._calls}"
        outer = (self._first, self._local, self._path)
        self._first, self._local = first, {n: f"{n}@{mark}" for n in _locals(function)}
        for param, value in given.items():
            self.set(param, value, line)
        self._returns.append(mark)
        self.nested(function.body)
        self._returns.pop()
        self._first, self._local, self._path = outer
        several = {
            len(n.value.elts)
            for n in ast.walk(function)
            if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)
        }
        if len(several) == 1:
            return ast.Tuple([ast.Name(f"{mark}[{n}]") for n in range(several.pop())], ast.Load())
        return ast.Name(mark)

    def _given(self, function: ast.FunctionDef, node: ast.Call, line: int) -> dict[str, Expr] | None:
        """Return what each parameter gets; None when that cannot be told."""
        spec = function.args
        params = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        starred = any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        )
        if starred or spec.vararg or spec.kwarg or len(node.args) > len(params):
            return None
        given = {p: self.value(a, line) for p, a in zip(params, node.args, strict=False)}
        for keyword in node.keywords:
            if keyword.arg is not None:
                given[keyword.arg] = self.value(keyword.value, line)
        defaults = dict(zip(params[len(params) - len(spec.defaults) :], spec.defaults, strict=True))
        defaults |= {
            a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None
        }
        for param, default in defaults.items():
            given.setdefault(param, to_expr(default))
        return given


class _Inliner(ast.NodeTransformer):
    """Puts what functions give back in place of their calls, inner calls first."""

    def __init__(self, reader: Reader, line: int) -> None:
        self.reader = reader
        self.line = line

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            return self.reader.inline(node, node.func.id, self.line) or node
        return node


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Tell whether nothing behind a block runs after it."""
    return bool(body) and isinstance(body[-1], ast.Return | ast.Continue | ast.Break | ast.Raise)


def _locals(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function gives values to."""
    spec = function.args
    names = {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return names | {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    match expr:
        case Name(id=name):
            # `Q.dtype.element_ty` is about `Q`.
            head, dot, rest = name.partition(".")
            return Name(names[head] + dot + rest) if head in names else expr
        case Op(op=op, args=args):
            return Op(op, tuple(_renamed(a, names) for a in args))
        case Call(func=func, args=args, types=types, keywords=keywords):
            given = tuple((k, _renamed(v, names)) for k, v in keywords)
            return Call(func, tuple(_renamed(a, names) for a in args), types, given)
        case Load(ptr=ptr, index=index, mask=mask):
            held = None if mask is None else _renamed(mask, names)
            return Load(names.get(ptr, ptr), _renamed(index, names), held)
        case Item(base=base, index=index):
            return Item(_renamed(base, names), _renamed(index, names))
        case Opaque(text=text, names=inner):
            return Opaque(text, tuple(names.get(n, n) for n in inner))
        case _:
            return expr
