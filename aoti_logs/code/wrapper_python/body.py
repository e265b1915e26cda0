"""The functions of a Python wrapper, statement by statement, with Python's own parser.

Written by `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`): `call`, the partitions of a `Runner`
and the functions of subgraphs. They are read where they are called, each time anew, so that launches come in
program order and every call has launches of its own.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.code.wrapper_python.assign import assign
from aoti_logs.code.wrapper_python.calls import called
from aoti_logs.code.wrapper_python.state import Reading
from aoti_logs.code.wrapper_python.subgraphs import Subgraphs
from aoti_logs.code.wrapper_python.text import comments_from, dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.wrapper_python.read import CallBody
    from aoti_logs.code.wrapper_python.text import Function

_HANDLE = re.compile(r"\s*# \[Provenance debug handles\] (.{1,400}):(\d{1,18})\s*$")
_NODES = re.compile(r"\s*# (?:Topologically Sorted |Unsorted )?Source Nodes: \[([^\]]*)\]")
_SUBGRAPH = re.compile(r"\s*# (?:# )?subgraph: (\w+)\s*$")
_NAN = (".isnan()", ".isinf()")


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
        self._subgraphs = Subgraphs(functions, self._block)
        self._reading = Reading(kernels, functions, self._subgraphs.enter)
        self._subgraphs.reading = self._reading
        self._reading.body.names.constants.update(constants)

    def read(self) -> CallBody:
        """Read `call` with what it calls, then functions that nothing calls."""
        body = self._reading.body
        self._subgraphs.read_all()
        return body

    def _block(self, function: Function, statements: Sequence[ast.stmt], comment_from: int) -> None:
        """Read statements; comments are looked for from a line on (from 0)."""
        seen = comment_from
        for node in statements:
            seen = self._comments(function, seen, node.lineno - 1)
            if not self._statement(function, node):
                self._reading.unread(function, node)
            seen = max(seen, node.end_lineno or node.lineno)

    def _comments(self, function: Function, start: int, stop: int) -> int:
        for line in function.lines[start:stop]:
            if "# " not in line:
                continue
            if match := _HANDLE.match(line):
                self._reading.handle = match[1], int(match[2])
            elif match := _NODES.match(line):
                self._reading.nodes = tuple(n.strip() for n in match[1].split(",") if n.strip())
            elif match := _SUBGRAPH.match(line):
                self._subgraphs.announce(match[1])
        return max(start, stop)

    def _statement(self, function: Function, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=[ast.Tuple() as target], value=ast.Name(id="args")):
                return self._subgraphs.take_arguments(function, node, target)
            case ast.Assign(targets=[target]):
                return assign(self._reading, function, node, target)
            case ast.Expr(value=ast.Call() as call):
                return called(self._reading, function, node, call, ())
            case ast.If(test=test, body=[ast.Raise() as raised], orelse=[]):
                self._runtime_assert(function, node, test, raised)
            case ast.If() | ast.While():
                self._branches(function, node)
            case ast.With(items=items, body=body):
                return self._with(function, node, items, body)
            case ast.For():
                return self._for(function, node)
            case ast.Return(value=value):
                self._subgraphs.returned(function, value)
            case ast.Assert(test=test):
                text = function.text(node)
                if not any(w in text for w in _NAN):
                    expected = function.text(test)
                    self._reading.check(CheckKind.RUNTIME_ASSERT, "", expected, text, function.line(node))
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name) and target.id not in self._reading.lists:
                        self._reading.release(target.id, function.line(node))
            case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Break():
                pass
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                return False
        return True

    # ------------------------------------------------------------ blocks

    def _branches(self, function: Function, node: ast.If | ast.While) -> None:
        """Read blocks whose statements do not happen in every run."""
        head = function.lines[node.lineno - 1].strip().removesuffix(":")
        self._branched(head, function, node.body)
        if node.orelse:
            self._branched(f"else of {head}" if head else "else", function, node.orelse)

    def _branched(self, head: str, function: Function, statements: list[ast.stmt]) -> None:
        above = self._reading.branch
        self._reading.branch = (*above, head)
        self._reading.blocks.open(head)
        with self._subgraphs.block():
            self._block(function, statements, comments_from(function, statements[0]))
        self._reading.blocks.close()
        self._reading.branch = above

    def _with(
        self, function: Function, node: ast.With, items: list[ast.withitem], body: list[ast.stmt]
    ) -> bool:
        """Read what runs on a device, on a stream, or is measured; False when the head has no known form."""
        reading, known = self._reading, True
        above = reading.stream
        for item in items:
            match item.context_expr:
                case ast.Name(id=name):
                    reading.stream = name
                case ast.Call(func=func, args=[ast.Name(id=name)]) if dotted(func).endswith(".stream"):
                    reading.stream = name
                case ast.Call(func=func):
                    known &= dotted(func).endswith(_CONTEXTS)
                case _:
                    known = False
        if not known:
            self._reading.body.unread.append((function.line(node), function.lines[node.lineno - 1].strip()))
        self._block(function, body, comments_from(function, body[0]))
        reading.stream = above
        return True

    def _for(self, function: Function, node: ast.For) -> bool:
        """Take the loops that check results for NaN and that save kernels: nothing of the model is in them."""
        text = function.text(node.iter)
        return text in {"return_vars", "globals().values()"}

    def _runtime_assert(self, function: Function, node: ast.If, test: ast.expr, raised: ast.Raise) -> None:
        condition = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        expected = function.text(condition)
        exc = raised.exc
        if isinstance(exc, ast.Call) and exc.args and isinstance(exc.args[0], ast.Constant):
            expected = str(exc.args[0].value)
        self._reading.check(CheckKind.RUNTIME_ASSERT, "", expected, function.text(node), function.line(node))


_CONTEXTS = (
    "_DeviceGuard",
    "device",
    "record_function",
    "maybe_profile",
    "nullcontext",
    "device_guard",
    "DeviceGuard",
)
