"""The functions of a Python wrapper, statement by statement, with Python's own parser.

Written by `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`): `call`, the partitions of a `Runner`
and the functions of subgraphs. Partitions and subgraphs are read where they are called, so that launches come
in program order.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, CheckKind, InputCheck, Release, Size
from aoti_logs.code.triton_body import to_expr
from aoti_logs.code.wrapper_bind import SYMBOL
from aoti_logs.code.wrapper_python_alloc import allocated, elements
from aoti_logs.code.wrapper_python_read import CallBody, RawCall
from aoti_logs.code.wrapper_python_text import VIEWS, Function, core, dotted, in_place, is_item

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMENT_HANDLE = re.compile(r"\s*# \[Provenance debug handles\] .*:(\d{1,18})\s*$")
_COMMENT_NODES = re.compile(r"\s*# (?:Topologically Sorted |Unsorted )?Source Nodes: \[([^\]]*)\]")
_NO_MEANING = re.compile(
    r"(?:args|\w+_args|\w+)\.(?:clear|append|extend|set_device|wait_stream|synchronize|record|wait_event|contiguous_)$"
    r"|assert_alignment$|torch\.(?:cuda|xpu|accelerator|mtia|_inductor|_C)\.|get_raw_stream|\w*get_stream|start_graph|end_graph"
    r"|print$|_print_debugging|torch\.save$|run_intermediate_hooks$|record_function|maybe_profile|torch\.Event|nvtx\."
    r"|len$|range$|isinstance$|check_|enter_|exit_|pl\.|proton\.|triton\."
)
_STREAM = re.compile(r"\w*get_raw_stream$|\w*current_stream\w*$")
_PARTITION = re.compile(r"self\.partitions\[(\d+)\]$")


class CallReader:
    """Reads the functions of a Python wrapper into a `CallBody`.

    Args:
        functions: all functions with an `args` parameter, by name.
        kernels: names of the kernels that the file defines.
        constants: names of constants that the module holds.
    """

    def __init__(
        self, functions: dict[str, Function], kernels: frozenset[str], constants: Sequence[str] = ()
    ) -> None:
        self.body = CallBody()
        self.body.names.constants.update(constants)
        self._functions = functions
        self._kernels = kernels
        self._done: set[str] = set()
        self._lists: dict[str, tuple[str, ...]] = {}
        self._handle: int | None = None
        self._nodes: tuple[str, ...] = ()
        self._branch: list[str] = []
        self._subgraph: str | None = None

    def read(self) -> CallBody:
        """Read `call` with what it calls, then functions that nobody called."""
        order = sorted(self._functions, key=lambda n: (n != "call", self._functions[n].first_line))
        for name in order:
            if name not in self._done:
                self._function(name, outer=None, top=name == "call" or "call" not in self._functions)
        return self.body

    def _function(self, name: str, outer: tuple[str, ...] | None, *, top: bool = False) -> None:
        if name in self._done:
            return
        self._done.add(name)
        function = self._functions[name]
        self._block(function, function.body, outer, top=top, comment_from=0)

    def _block(
        self,
        function: Function,
        statements: Sequence[ast.stmt],
        outer: tuple[str, ...] | None,
        *,
        top: bool,
        comment_from: int,
    ) -> None:
        seen = comment_from
        for node in statements:
            seen = self._comments(function, seen, node.lineno - 1)
            if not self._statement(function, node, outer, top=top):
                self.body.unread.append((function.line(node), function.text(node)[:400]))
            seen = max(seen, node.end_lineno or node.lineno)

    def _branched(
        self,
        head: str,
        function: Function,
        statements: Sequence[ast.stmt],
        outer: tuple[str, ...] | None,
        *,
        top: bool,
        comment_from: int,
    ) -> None:
        """Read a block whose calls do not happen in every run."""
        above = self._branch
        self._branch = [*above, head] if head else above
        self._block(function, statements, outer, top=top, comment_from=comment_from)
        self._branch = above

    def _comments(self, function: Function, start: int, stop: int) -> int:
        for line in function.lines[start:stop]:
            if "# " not in line:
                continue
            if match := _COMMENT_HANDLE.match(line):
                self._handle = int(match[1])
            elif match := _COMMENT_NODES.match(line):
                self._nodes = tuple(n.strip() for n in match[1].split(",") if n.strip())
        return max(start, stop)

    def _statement(
        self, function: Function, node: ast.stmt, outer: tuple[str, ...] | None, *, top: bool
    ) -> bool:
        match node:
            case ast.Assign(targets=[target], value=value):
                return self._assign(function, node, target, value, outer, top=top)
            case ast.Expr(value=ast.Call() as call):
                return self._call(function, node, call, ())
            case ast.If(test=test, body=[ast.Raise() as raised], orelse=[]):
                self._runtime_assert(function, node, test, raised)
                return True
            case (
                ast.With(body=body)
                | ast.Try(body=body)
                | ast.If(body=body)
                | ast.While(body=body)
                | ast.For(body=body)
            ):
                head = (
                    "" if isinstance(node, ast.With) else function.lines[node.lineno - 1].strip().rstrip(":")
                )
                start = min(node.lineno, body[0].lineno - 1)
                self._branched(head, function, body, outer, top=top, comment_from=start)
                for part in getattr(node, "orelse", []) and [node.orelse]:  # type: ignore[union-attr]
                    self._branched("else", function, part, outer, top=top, comment_from=part[0].lineno - 1)
                return True
            case ast.Return(value=value):
                if top:
                    self.body.outputs = self._returned(value)
                return True
            case ast.Assert(test=test):
                text = function.text(node)
                if not any(w in text for w in (".isnan()", ".isinf()", "isinstance")):
                    self._check(CheckKind.RUNTIME_ASSERT, "", function.text(test), text, function.line(node))
                return True
            case ast.Delete(targets=targets):
                line, at = function.line(node), len(self.body.calls)
                gone = [Release(t.id, line, at) for t in targets if isinstance(t, ast.Name)]
                self.body.releases.extend(gone)
                return True
            case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Raise():
                return True
            case ast.Expr(value=ast.Constant()) | ast.Break() | ast.Continue() | ast.AugAssign():
                return True
            case _:
                return False

    # ------------------------------------------------------------ assignments

    def _assign(
        self,
        function: Function,
        node: ast.Assign,
        target: ast.expr,
        value: ast.expr,
        outer: tuple[str, ...] | None,
        *,
        top: bool,
    ) -> bool:
        line = function.line(node)
        if isinstance(target, ast.Tuple | ast.List):
            names = tuple(e.id for e in target.elts if isinstance(e, ast.Name))
            if isinstance(value, ast.Name) and value.id == "args":
                self._arguments(names, outer, line, function.text(node), top=top)
                return True
            if isinstance(value, ast.Call):
                return self._call(function, node, value, names)
            return True
        if not isinstance(target, ast.Name):
            return True  # `buf0[0] = arg0_1`: a loop's carried value
        name = target.id
        match value:
            case ast.Name(id=old):
                self._rename(function, node, name, old)
            case ast.Subscript(value=ast.Name(id=base), slice=ast.Constant(value=int(dim))):
                self._item_of(function, node, name, base, dim)
            case ast.List(elts=elements):
                self._lists[name] = tuple(self.core(e) or function.text(e) for e in elements)
            case ast.Constant(value=None):
                pass
            case ast.Call():
                return self._called(function, node, name, value)
            case ast.Subscript(value=base):
                self._buffer(Buffer(name, line, alias_of=self.core(base), view=True))
            case ast.BinOp(left=ast.List()):
                self._buffer(Buffer(name, line))  # `buf3 = [None] * 2`: results of a subgraph
            case _:
                items = (n.func for n in ast.walk(value) if isinstance(n, ast.Call) and is_item(n))
                unbacked = next((f.value for f in items if isinstance(f, ast.Attribute)), None)
                tensor = None if unbacked is None else self.core(unbacked)
                unknown = tensor is not None or bool(re.match(r"u\d+$", name))
                text = function.text(node)
                self._size(Size(name, line, text, tensor, value=to_expr(value), unbacked=unknown))
        return True

    def _arguments(
        self, names: tuple[str, ...], outer: tuple[str, ...] | None, line: int, text: str, *, top: bool
    ) -> None:
        known = self.body.names
        if top and not self.body.inputs:
            self.body.inputs = [(name, line) for name in names]
            known.inputs.update(names)
            return
        for name, given in zip(names, outer or (), strict=False):
            if name == given:
                continue
            if given in known.sizes or SYMBOL.fullmatch(given) or SYMBOL.fullmatch(name):
                self._size(Size(name, line, text, alias_of=given))
            else:
                self._buffer(Buffer(name, line, alias_of=given))

    def _rename(self, function: Function, node: ast.Assign, name: str, old: str) -> None:
        line, names = function.line(node), self.body.names
        if SYMBOL.fullmatch(name) or old in names.sizes or name.endswith("numel"):
            if old in names.inputs:
                names.scalars.add(old)
            self._size(Size(name, line, function.text(node), alias_of=old))
        elif name not in names.inputs:
            self._buffer(Buffer(name, line, alias_of=names.stands_for.get(old, old)))

    def _item_of(self, function: Function, node: ast.Assign, name: str, base: str, dim: int) -> None:
        line = function.line(node)
        for what in ("_size", "_stride"):
            if base.endswith(what) and base in self._lists:
                tensor = base.removesuffix(what)
                self._size(Size(name, line, function.text(node), tensor, dim, what == "_stride"))
                return
        self._buffer(Buffer(name, line, alias_of=base, view=True))

    def _called(self, function: Function, node: ast.Assign, name: str, call: ast.Call) -> bool:
        callee = dotted(call.func)
        line = function.line(node)
        if is_item(call):
            tensor = self.core(call.func.value) if isinstance(call.func, ast.Attribute) else None
            self._size(Size(name, line, function.text(node), tensor, unbacked=True))
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"size", "stride"}:
            self._size_call(function, node, name, call, call.func)
            return True
        if callee in {"max", "min", "int", "math.ceil", "math.floor", "align"}:
            self._size(Size(name, line, function.text(node), value=to_expr(call)))
            return True
        if callee.startswith("empty_strided") or callee in {"torch.empty_strided", "empty"}:
            self._buffer(allocated(function, name, line, callee, call))
            return True
        if callee in {"reinterpret_tensor", "alloc_from_pool"} and call.args:
            at = 1 if callee == "reinterpret_tensor" else 3
            shape, stride = (elements(function, a) for a in (*call.args[at : at + 2], None, None)[:2])
            dtype = (
                function.text(call.args[2]) if callee == "alloc_from_pool" and len(call.args) > 2 else None
            )
            dtype = None if dtype is None else dtype.removeprefix("torch.")
            self._buffer(
                Buffer(name, line, shape, stride, dtype, alias_of=self.core(call.args[0]), view=True)
            )
            return True
        if callee in VIEWS and call.args:
            if name not in self.body.names.inputs:
                self._buffer(Buffer(name, line, alias_of=self.core(call.args[0]), view=True))
            return True
        if _STREAM.match(callee):
            return True
        return self._call(function, node, call, (name,))

    def _size_call(
        self, function: Function, node: ast.Assign, name: str, call: ast.Call, method: ast.Attribute
    ) -> None:
        """Take `arg0_1_size = arg0_1.size()` and `u1 = buf6.size(0)`."""
        tensor = self.core(method.value)
        match call.args:
            case [ast.Constant(value=int(dim))]:
                unbacked = re.fullmatch(r"u\d+", name) is not None
                line, text = function.line(node), function.text(node)
                self._size(Size(name, line, text, tensor, dim, method.attr == "stride", unbacked=unbacked))
            case _:
                self._lists[name] = ()

    def _buffer(self, buffer: Buffer) -> None:
        self.body.buffers.append(replace(buffer, at=len(self.body.calls)))

    def _size(self, size: Size) -> None:
        self.body.sizes.append(replace(size, at=len(self.body.calls)))
        self.body.names.sizes.add(size.symbol)

    # ------------------------------------------------------------ calls

    def _call(self, function: Function, node: ast.stmt, call: ast.Call, targets: tuple[str, ...]) -> bool:
        callee = dotted(call.func)
        line = function.line(node)
        base = callee.partition(".")[0]
        if base in self._kernels:
            self._launch(function, node, base, call, ())
            return True
        inner = _PARTITION.match(callee)
        called = f"partition_{inner[1]}" if inner else callee.removeprefix("self.")
        if called in self._functions:
            given = call.args[0] if call.args else None
            outer = self._lists.get(given.id, ()) if isinstance(given, ast.Name) else ()
            made = {b.name for b in self.body.buffers}
            above = self._subgraph
            self._subgraph = above if inner else called
            self._function(called, outer)
            self._subgraph = above
            for name in targets:
                if name not in made and name not in {b.name for b in self.body.buffers[-4096:]}:
                    self._buffer(Buffer(name, line))
            return True
        if inner:
            return False  # its function is not in the file (cut off)
        if callee == "assert_size_stride" and len(call.args) >= 3:
            tensor = self.core(call.args[0]) or ""
            expected = f"{function.text(call.args[1])}, {function.text(call.args[2])}"
            self._check(CheckKind.SIZE_STRIDE, tensor, expected, function.text(node), line)
            return True
        if _NO_MEANING.match(callee) or is_item(call):
            return True
        if not callee:
            return False
        out = tuple(
            n for k in call.keywords if k.arg == "out" for n in self._written(k.value) if n not in targets
        )
        if not out and not targets and call.args and in_place(callee):
            first = self.core(call.args[0])
            out = () if first is None else (first,)
        if (
            not targets
            and callee.endswith((".zero_", ".copy_", ".fill_"))
            and isinstance(call.func, ast.Attribute)
        ):
            first = self.core(call.func.value)
            out = () if first is None else (first,)
        self._launch(function, node, callee, call, (*targets, *out))
        for name in targets:
            self._buffer(Buffer(name, line))
        return True

    def _written(self, node: ast.expr) -> list[str]:
        parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
        return [n for n in map(self.core, parts) if n is not None]

    def _launch(
        self, function: Function, node: ast.stmt, callee: str, call: ast.Call, outputs: tuple[str, ...]
    ) -> None:
        given = [(None, a, function.text(a)) for a in call.args]
        words = [(k.arg, k.value, function.text(k.value)) for k in call.keywords]
        self.body.calls.append(
            RawCall(
                callee,
                function.line(node),
                function.text(node),
                (*given, *words),
                self._handle,
                self._nodes,
                outputs,
                tuple(self._branch),
                self._subgraph,
            )
        )
        self._handle, self._nodes = None, ()

    def _check(self, kind: CheckKind, tensor: str, expected: str, text: str, line: int) -> None:
        index = next((i for i, (name, _) in enumerate(self.body.inputs) if name == tensor), None)
        self.body.checks.append(
            InputCheck(kind, tensor, index, None, expected, line, False, text, len(self.body.calls))
        )

    def _runtime_assert(self, function: Function, node: ast.If, test: ast.expr, raised: ast.Raise) -> None:
        condition = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        expected = function.text(condition)
        exc = raised.exc
        if isinstance(exc, ast.Call) and exc.args and isinstance(exc.args[0], ast.Constant):
            expected = str(exc.args[0].value)
        self._check(CheckKind.RUNTIME_ASSERT, "", expected, function.text(node), function.line(node))

    def _returned(self, value: ast.expr | None) -> tuple[str, ...]:
        parts = (
            value.elts if isinstance(value, ast.Tuple | ast.List) else [value] if value is not None else []
        )
        return tuple(self.core(p) or ast.unparse(p) for p in parts)

    def core(self, node: ast.expr) -> str | None:
        """Return the name behind views and casts."""
        return core(node, self.body.names.stands_for)
