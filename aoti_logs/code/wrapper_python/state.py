"""Where one is while the functions of a Python wrapper are read: the branch, the subgraph, the stream."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.code.buffers.blocks import Blocks
from aoti_logs.code.model import InputCheck, Release, Size
from aoti_logs.code.wrapper.bind import SYMBOL
from aoti_logs.code.wrapper_python.read import CallBody, RawCall
from aoti_logs.code.wrapper_python.text import core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aoti_logs.code.model import Buffer, CheckKind
    from aoti_logs.code.wrapper_python.text import Function

SHOWN = 400
"""Characters of a statement that is not read."""


@dataclass(frozen=True)
class Given:
    """One element of `partition0_args = [...]`."""

    function: Function
    node: ast.expr


@dataclass
class Reading:
    """What is known at one place of the code; statements add what they say to `body`."""

    kernels: frozenset[str]
    """Names of the kernels that the file defines."""
    functions: dict[str, Function]
    enter: Callable[[str, ast.Call, tuple[str, ...], int], bool]
    """Reads a function where it is called: (name, call, names of its results, line)."""
    body: CallBody = field(default_factory=CallBody)
    lists: dict[str, tuple[Given, ...]] = field(default_factory=dict)
    """Lists that hold the arguments of a function, and sizes and strides of tensors (without elements)."""
    cells: frozenset[str] = frozenset()
    """Lists of results: `buf3 = [None] * 4`."""
    branch: tuple[str, ...] = ()
    blocks: Blocks = field(default_factory=Blocks)
    """The statements that `branch` means."""
    subgraph: str | None = None
    stream: str | None = None
    """The stream of the `with` around it."""
    raw_streams: dict[str, str] = field(default_factory=dict)
    """Variables that hold a raw handle of such a stream."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """Symbols of a subgraph that stand for another one of its caller, in the call that is read."""
    handle: tuple[str, int] | None = None
    """(kernel, provenance debug handle) of the comment above."""
    nodes: tuple[str, ...] = ()

    @property
    def at(self) -> int:
        """How many launches stand before this place."""
        return len(self.body.calls)

    def core(self, node: ast.expr) -> str | None:
        """Return the name behind views and casts."""
        return core(node, self.body.names.stands_for, self.cells)

    def unread(self, function: Function, node: ast.stmt | ast.expr) -> None:
        """Note a statement that no form fits."""
        self.body.unread.append((function.line(node), function.text(node)[:SHOWN]))

    def buffer(self, buffer: Buffer) -> None:
        """Note the birth of a name."""
        self.body.buffers.append(replace(buffer, at=self.at, branch=self.branch, within=self.blocks.path))

    def release(self, name: str, line: int) -> None:
        """Note the end of a name."""
        self.body.releases.append(Release(name, line, self.at, self.branch, self.blocks.path))

    def size(self, size: Size) -> None:
        """Note the definition of a symbol."""
        self.body.sizes.append(replace(size, at=self.at))
        self.body.names.sizes.add(size.symbol)

    def rename_size(self, symbol: str, old: str, line: int, text: str) -> None:
        """Note that a symbol is another one; within a subgraph it may mean a different one in each call."""
        if symbol == old:
            return  # `s27 = s27` in a partition
        means = self.meanings.get(old, old)
        if self.subgraph is not None:
            if means == symbol:
                return  # `s27 = true_graph_0_arg1_1`, which the caller passed `s27` for
            if symbol in self.body.names.sizes:
                self.meanings = {**self.meanings, symbol: means}
        self.size(Size(symbol, line, text, alias_of=old))

    def check(self, kind: CheckKind, tensor: str, expected: str, text: str, line: int) -> None:
        """Note a check."""
        index = next((i for i, (name, _) in enumerate(self.body.inputs) if name == tensor), None)
        self.body.checks.append(InputCheck(kind, tensor, index, None, expected, line, False, text, self.at))

    def is_size(self, name: str) -> bool:
        """Tell whether a name is a number of elements, not a tensor."""
        names = self.body.names
        return (
            name in names.sizes
            or name in names.scalars
            or SYMBOL.fullmatch(name) is not None
            or name.endswith("numel")
        )

    def launch(
        self,
        function: Function,
        node: ast.stmt,
        callee: str,
        arguments: Sequence[tuple[str | None, ast.expr]],
        outputs: Sequence[str],
        *,
        run: bool = False,
    ) -> None:
        """Note a call; what the comments above it say belongs to it alone."""
        stream = next((function.text(a) for word, a in arguments if word == "stream"), self.stream)
        named = self.handle is not None and same_kernel(self.handle[0], callee)
        self.body.calls.append(
            RawCall(
                callee,
                function.line(node),
                function.text(node),
                tuple((word, a, function.text(a)) for word, a in arguments),
                self.handle[1] if self.handle is not None and named else None,
                self.nodes,
                tuple(dict.fromkeys(outputs)),
                self.branch,
                self.subgraph,
                None if stream is None else self.raw_streams.get(stream, stream),
                run,
                self.meanings,
                self.cells,
                self.blocks.path,
            )
        )
        self.forget_comments()

    def forget_comments(self) -> None:
        """Comments above do not belong to what follows."""
        self.handle, self.nodes = None, ()


def same_kernel(named: str, callee: str) -> bool:
    """Tell whether the comment above a call names what it calls.

    The comment has the name of the operator (`aten.cumsum`, `torch.ops.aten.cumsum.default`) or of the kernel.
    """
    short = callee.removeprefix("torch.ops.")
    return named in {callee, short} or short.startswith(f"{named.removeprefix('torch.ops.')}.")
