"""Functions of a Python wrapper read where they are called: subgraphs, partitions, the bodies of loops.

Written by `codegen_subgraph_call`, `codegen_subgraph_call_with_flattened_outputs` and `codegen_partition_call` of
`PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`); torch 2.4 wrote the subgraphs of `cond` and
`while_loop` inline, under a comment (`# subgraph: true_graph_0`).
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer, Size
from aoti_logs.code.triton.body import to_expr
from aoti_logs.code.wrapper_python.alloc import viewed
from aoti_logs.code.wrapper_python.calls import called_function
from aoti_logs.code.wrapper_python.state import SHOWN, Given
from aoti_logs.code.wrapper_python.text import VIEWS, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aoti_logs.code.wrapper_python.state import Reading
    from aoti_logs.code.wrapper_python.text import Function

MOST_LINES = 200_000
"""Lines that are read again because their function is called again; then calls are no longer followed."""
_OF_A_CALL = 20
"""Lines that the call itself counts for."""
_DEPTH = 40


class Subgraphs:
    """Follows calls into functions of the file.

    Args:
        functions: all functions with an `args` parameter, by name.
        block: reads statements of a function; comments are looked for from a line on.
    """

    reading: Reading

    def __init__(
        self,
        functions: dict[str, Function],
        block: Callable[[Function, Sequence[ast.stmt], int], None],
    ) -> None:
        self._functions = functions
        self._block = block
        self._called: set[str] = set()
        self._active: list[str] = []
        self._given: tuple[Given, ...] | None = None
        self._returned: tuple[Given, ...] | None = None
        self._again = 0
        self._inlined = False

    def read_all(self) -> None:
        """Read `call`, then the functions that nothing calls, and say so of them."""
        body = self.reading.body
        if "call" in self._functions:
            self._read("call", None)
            body.outputs = self._output_names()
            if self._returned is None:
                call = self._functions["call"]
                last = max((n for n, line in enumerate(call.lines) if line.strip()), default=0)
                body.unread.append((call.first_line + last, "the call ends here without a return: cut off"))
        rest = sorted(self._functions, key=lambda n: self._functions[n].first_line)
        for name in rest:
            if name in self._called or name == "call":
                continue
            function = self._functions[name]
            body.unread.append(
                (function.first_line, f"{function.lines[0].strip()[:SHOWN]} is not called here")
            )
            with self._within(name):
                self._read(name, None)

    @contextmanager
    def _within(self, name: str) -> Iterator[None]:
        """Enter a function; afterwards everything around it is as it was."""
        reading = self.reading
        kept = (reading.subgraph, reading.meanings, self._given, self._returned, self._inlined)
        if not name.startswith("partition_"):
            reading.subgraph = name
        self._inlined = False
        reading.forget_comments()
        yield
        reading.forget_comments()
        reading.subgraph, reading.meanings, self._given, self._returned, self._inlined = kept

    @contextmanager
    def block(self) -> Iterator[None]:
        """Enter a branch or a loop, which may hold a subgraph inline."""
        kept = self.reading.subgraph, self._inlined
        self._inlined = True
        yield
        self.reading.subgraph, self._inlined = kept

    def announce(self, name: str) -> None:
        """Take the comment `# subgraph: true_graph_0`."""
        if self._inlined:
            self.reading.subgraph = name

    def _read(self, name: str, given: tuple[Given, ...] | None) -> None:
        function = self._functions[name]
        self._called.add(name)
        self._active.append(name)
        self._given, self._returned = given, None
        self._block(function, function.body, 0)
        self._active.pop()

    # ------------------------------------------------------------ calls

    def enter(self, callee: str, call: ast.Call, targets: tuple[str, ...], line: int) -> bool:
        """Read a function where it is called; False when the call is not followed."""
        reading = self.reading
        name = called_function(callee, self._functions)
        if name is None or name in self._active or len(self._active) >= _DEPTH:
            return False
        if name in self._called:
            self._again += len(self._functions[name].lines) + _OF_A_CALL
            if self._again > MOST_LINES:
                return False
        match call.args:
            case [ast.Name(id=passed)]:
                given = reading.lists.get(passed)
            case _:
                given = None
        with self._within(name):
            self._read(name, given)
            returned = self._returned
        self._results(targets, returned, line)
        return True

    def _results(self, targets: tuple[str, ...], returned: tuple[Given, ...] | None, line: int) -> None:
        """Say which values of the function the results are; nothing when their numbers differ."""
        reading = self.reading
        if len(targets) == 1 and targets[0] in reading.cells:
            count = 0 if returned is None else len(returned)
            targets = tuple(f"{targets[0]}[{place}]" for place in range(count))
        if returned is None or len(returned) != len(targets):
            if targets or returned:
                count = 0 if returned is None else len(returned)
                reading.body.unread.append(
                    (line, f"{count} values are returned to {len(targets)} names: not connected")
                )
            for name in targets:
                reading.buffer(Buffer(name, line))
            return
        for name, value in zip(targets, returned, strict=True):
            self._passed(name, value, line)

    def _passed(self, name: str, value: Given, line: int) -> None:
        """Note that a name is what was given for it."""
        reading, node = self.reading, value.node
        text = value.function.text(node)
        match node:
            case ast.Constant(value=None):
                return
            case ast.Call() if dotted(node.func) in VIEWS:
                reading.buffer(viewed(reading, value.function, name, line, node))
                return
            case ast.Name() | ast.Subscript():
                pass
            case _:
                reading.size(Size(name, line, f"{name} = {text}", value=to_expr(node)))
                return
        origin = reading.core(node)
        if origin is None:
            reading.buffer(Buffer(name, line))
        elif origin == name:
            return
        elif reading.is_size(origin):
            reading.meanings = {**reading.meanings, name: reading.meanings.get(origin, origin)}
            reading.size(Size(name, line, f"{name} = {text}", alias_of=origin))
        else:
            reading.buffer(Buffer(name, line, alias_of=origin))

    # ------------------------------------------------------------ arguments and results

    def take_arguments(self, function: Function, node: ast.Assign, target: ast.Tuple) -> bool:
        """Take `arg0_1, arg1_1 = args`: inputs of the model, or what the caller passes."""
        names = [e.id for e in target.elts if isinstance(e, ast.Name)]
        line = function.line(node)
        if len(names) != len(target.elts):
            return False
        if len(self._active) == 1 and self._active[0] == "call":
            if self.reading.body.inputs:
                return False
            self.reading.body.inputs = [(name, line) for name in names]
            self.reading.body.names.inputs.update(names)
            return True
        if self._given is None or len(self._given) != len(names):
            return False
        meanings: dict[str, str] = {}
        for name, value in zip(names, self._given, strict=True):
            self._passed(name, value, line)
            if name in self.reading.meanings:
                meanings[name] = self.reading.meanings[name]
        self.reading.meanings = meanings
        return True

    def returned(self, function: Function, value: ast.expr | None) -> None:
        """Take what a function returns."""
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [] if value is None else [value]
        self._returned = tuple(Given(function, p) for p in parts)

    def _output_names(self) -> tuple[str, ...]:
        return tuple(self.reading.core(v.node) or ast.unparse(v.node) for v in self._returned or ())
