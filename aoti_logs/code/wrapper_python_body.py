"""The functions of a Python wrapper, statement by statement, with Python's own parser.

Written by `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`): `call`, the partitions of a `Runner`
and the functions of subgraphs. Partitions and subgraphs are read where they are called, so that launches come
in program order.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, CheckKind, InputCheck, Size
from aoti_logs.code.triton_body import to_expr
from aoti_logs.code.wrapper_bind import SYMBOL, Names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COMMENT_HANDLE = re.compile(r"\s*# \[Provenance debug handles\] .*:(\d+)\s*$")
_COMMENT_NODES = re.compile(r"\s*# (?:Topologically Sorted |Unsorted )?Source Nodes: \[([^\]]*)\]")
_VIEWS = frozenset(
    {
        "reinterpret_tensor",
        "c_void_p",
        "copy_if_misaligned",
        "copy_misaligned",
        "aten.view.dtype",
        "torch.ops.aten.view.dtype",
        "alloc_from_pool",
    }
)
_NO_MEANING = re.compile(
    r"(?:args|\w+_args|\w+)\.(?:clear|append|extend|set_device|wait_stream|synchronize|record|wait_event|contiguous_)$"
    r"|assert_alignment$|torch\.(?:cuda|xpu|accelerator|mtia|_inductor|_C)\.|get_raw_stream|\w*get_stream|start_graph|end_graph"
    r"|print$|_print_debugging|torch\.save$|run_intermediate_hooks$|record_function|maybe_profile|torch\.Event|nvtx\."
    r"|len$|range$|isinstance$|check_|enter_|exit_|pl\.|proton\.|triton\."
)
_STREAM = re.compile(r"\w*get_raw_stream$|\w*current_stream\w*$")
_PARTITION = re.compile(r"self\.partitions\[(\d+)\]$")


@dataclass
class RawCall:
    """A call as found: bound to parameters only when somebody asks."""

    callee: str
    line: int
    text: str
    arguments: tuple[tuple[str | None, ast.expr, str], ...]
    """(keyword, node, text) of each argument."""
    handle: int | None = None
    source_nodes: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass
class CallBody:
    """What the functions of a Python wrapper say."""

    names: Names = field(default_factory=Names)
    calls: list[RawCall] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    checks: list[InputCheck] = field(default_factory=list)
    outputs: tuple[str, ...] = ()
    inputs: list[tuple[str, int]] = field(default_factory=list)
    """(name, line), in the caller's order."""
    unread: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Function:
    """One function: its parsed body, the lines it was parsed from and where they stand in the file."""

    name: str
    body: tuple[ast.stmt, ...]
    lines: tuple[str, ...]
    first_line: int

    def line(self, node: ast.stmt | ast.expr) -> int:
        """Return the line of a node in the file."""
        return self.first_line + node.lineno - 1

    def text(self, node: ast.stmt | ast.expr) -> str:
        """Return a node as written."""
        end = node.end_lineno or node.lineno
        rows = list(self.lines[node.lineno - 1 : end])
        if not rows:
            return ast.unparse(node)
        rows[-1] = _cut(rows[-1], 0, node.end_col_offset)
        rows[0] = _cut(rows[0], node.col_offset, None)
        return "\n".join(rows)


def _cut(line: str, start: int, end: int | None) -> str:
    """Slice a line by the UTF-8 offsets that `ast` counts in."""
    return line[start:end] if line.isascii() else line.encode()[start:end].decode("utf-8", "replace")


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
        self._gate = 0

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
            case ast.With(body=body) | ast.If(body=body) | ast.While(body=body) | ast.For(body=body):
                inner = body[0].lineno - 1 if body else node.lineno
                start = node.lineno
                self._block(function, body, outer, top=top, comment_from=min(start, inner))
                for part in getattr(node, "orelse", []) and [node.orelse]:  # type: ignore[union-attr]
                    self._block(function, part, outer, top=top, comment_from=part[0].lineno - 1)
                return True
            case ast.Try(body=body):
                self._block(function, body, outer, top=top, comment_from=node.lineno)
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
            case ast.Delete() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Raise():
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
                self._arguments(names, outer, line, top=top)
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
                unbacked = next(
                    (n.func.value for n in ast.walk(value) if isinstance(n, ast.Call) and _is_item(n)), None
                )
                tensor = None if unbacked is None else self.core(unbacked)
                self._size(
                    Size(
                        name,
                        line,
                        function.text(node),
                        tensor,
                        value=to_expr(value),
                        unbacked=tensor is not None or bool(re.match(r"u\d+$", name)),
                    )
                )
        return True

    def _arguments(
        self, names: tuple[str, ...], outer: tuple[str, ...] | None, line: int, *, top: bool
    ) -> None:
        if top and not self.body.inputs:
            self.body.inputs = [(name, line) for name in names]
            self.body.names.inputs.update(names)
            return
        for name, given in zip(names, outer or (), strict=False):
            if name != given and not SYMBOL.fullmatch(name):
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
        if _is_item(call):
            tensor = self.core(call.func.value) if isinstance(call.func, ast.Attribute) else None
            self._size(Size(name, line, function.text(node), tensor, unbacked=True))
            return True
        if callee.endswith((".size", ".stride")) and not call.args:
            self._lists[name] = ()
            return True
        if callee in {"max", "min", "int", "math.ceil", "math.floor", "align"}:
            self._size(Size(name, line, function.text(node), value=to_expr(call)))
            return True
        if callee.startswith("empty_strided") or callee in {"torch.empty_strided", "empty"}:
            self._buffer(self._allocated(function, name, line, callee, call))
            return True
        if callee in {"reinterpret_tensor", "alloc_from_pool"} and call.args:
            at = 1 if callee == "reinterpret_tensor" else 3
            shape, stride = (self._tuple(function, a) for a in (*call.args[at : at + 2], None, None)[:2])
            dtype = (
                function.text(call.args[2]) if callee == "alloc_from_pool" and len(call.args) > 2 else None
            )
            dtype = None if dtype is None else dtype.removeprefix("torch.")
            self._buffer(
                Buffer(name, line, shape, stride, dtype, alias_of=self.core(call.args[0]), view=True)
            )
            return True
        if callee in _VIEWS and call.args:
            if name not in self.body.names.inputs:
                self._buffer(Buffer(name, line, alias_of=self.core(call.args[0]), view=True))
            return True
        if _STREAM.match(callee):
            return True
        return self._call(function, node, call, (name,))

    def _allocated(self, function: Function, name: str, line: int, callee: str, call: ast.Call) -> Buffer:
        given = list(call.args)
        words = {k.arg: k.value for k in call.keywords}
        shape, stride = (self._tuple(function, a) for a in (*given[:2], None, None)[:2])
        kind = given[2] if len(given) > 2 else words.get("dtype")
        device = callee.removeprefix("torch.").removeprefix("empty_strided").strip("_") or None
        if device is None and "device" in words:
            found = re.search(r"['\"](\w+)", function.text(words["device"]))
            device = None if found is None else found[1]
        dtype = None if kind is None else function.text(kind).removeprefix("torch.")
        return Buffer(name, line, shape, stride, dtype, device)

    def _tuple(self, function: Function, node: ast.expr | None) -> tuple[str, ...] | None:
        if isinstance(node, ast.Tuple | ast.List):
            return tuple(function.text(e) for e in node.elts)
        return None

    def _buffer(self, buffer: Buffer) -> None:
        self.body.buffers.append(buffer)

    def _size(self, size: Size) -> None:
        self.body.sizes.append(size)
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
            self._function(called, outer)
            for name in targets:
                if name not in made and name not in {b.name for b in self.body.buffers[-4096:]}:
                    self._buffer(Buffer(name, line))
            return True
        if callee == "assert_size_stride" and len(call.args) >= 3:
            tensor = self.core(call.args[0]) or ""
            expected = f"{function.text(call.args[1])}, {function.text(call.args[2])}"
            self._check(CheckKind.SIZE_STRIDE, tensor, expected, function.text(node), line)
            return True
        if _NO_MEANING.match(callee) or _is_item(call):
            return True
        if not callee:
            return False
        out = tuple(
            n for k in call.keywords if k.arg == "out" for n in self._written(k.value) if n not in targets
        )
        if not out and not targets and call.args and _in_place(callee):
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
                tuple([*given, *words]),
                self._handle,
                self._nodes,
                outputs,
            )
        )
        self._handle, self._nodes = None, ()

    def _check(self, kind: CheckKind, tensor: str, expected: str, text: str, line: int) -> None:
        index = next((i for i, (name, _) in enumerate(self.body.inputs) if name == tensor), None)
        self.body.checks.append(InputCheck(kind, tensor, index, None, expected, line, False, text))

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


def core(node: ast.expr, stands_for: dict[str, str]) -> str | None:
    """Return the name behind views, casts and `.data_ptr()`, or None when there is none."""
    for _ in range(24):
        match node:
            case ast.Name(id=name):
                return stands_for.get(name, name)
            case ast.Call(func=ast.Attribute(value=inner, attr="data_ptr" | "view" | "as_strided" | "to")):
                node = inner
            case ast.Call(func=func, args=[first, *_]) if dotted(func) in _VIEWS:
                node = first
            case ast.Subscript(value=inner):
                node = inner
            case _:
                return None
    return None


def dotted(node: ast.expr) -> str:
    """Return a callee as text: `torch.ops.aten.cumsum.default`, `self.partitions[0]`."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=value, attr=attr):
                parts.append("." + attr)
                node = value
            case ast.Subscript(value=value, slice=ast.Constant(value=index)):
                parts.append(f"[{index}]")
                node = value
            case ast.Name(id=name):
                return name + "".join(reversed(parts))
            case ast.Call():
                return "()" + "".join(reversed(parts)) if parts else ""
            case _:
                return ""


def _is_item(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args


def _in_place(callee: str) -> bool:
    return any(part.endswith("_") and not part.endswith("__") for part in callee.split("."))


def parse_functions(
    regions: Sequence[tuple[str, str, int]], unread: Callable[[int, str], None]
) -> dict[str, Function]:
    """Parse functions; of one that is cut off, the largest part that Python takes.

    Args:
        regions: (name, text from its `def` on, line of the `def`).
        unread: is called with (line, text) of every line that had to be left out.
    """
    functions: dict[str, Function] = {}
    for name, text, line in regions:
        lines = text.split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        plain = [row[indent:] if row[:indent].isspace() or not indent else row.lstrip() for row in lines]
        tree, used = _largest(plain)
        for number in range(used, len(plain)):
            if plain[number].strip():
                unread(line + number, plain[number].strip()[:400])
        if tree is not None:
            functions.setdefault(name, Function(name, tuple(tree.body), tuple(plain), line))
    return functions


def _largest(lines: list[str]) -> tuple[ast.FunctionDef | None, int]:
    end = len(lines)
    for _ in range(64):
        try:
            tree = ast.parse("\n".join(lines[:end]))
        except SyntaxError as error:
            end = max(min(end - 1, (error.lineno or end) - 1), 0)
        except (ValueError, RecursionError, MemoryError):
            end //= 2
        else:
            first = tree.body[0] if tree.body else None
            return (first if isinstance(first, ast.FunctionDef) else None), end
        if end <= 1:
            break
    return None, 1
