"""What reading the functions of a Python wrapper gives, before anything is bound or put in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper.bind import Names

if TYPE_CHECKING:
    import ast
    from collections.abc import Hashable, Mapping

    from aoti_logs.code.model import Buffer, InputCheck, Launch, Release, Size, Within


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
    branch: tuple[str, ...] = ()
    subgraph: str | None = None
    stream: str | None = None
    run: bool = False
    """True for `kernel.run(...)`."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """Symbols of a subgraph that stand for another one of its caller in this call."""
    cells: frozenset[str] = frozenset()
    """Lists of results, whose elements are names of their own (`buf3[0]`)."""
    within: Within = ()


@dataclass
class CallBody:
    """What the functions of a Python wrapper say."""

    names: Names = field(default_factory=Names)
    calls: list[RawCall] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    checks: list[InputCheck] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    outputs: tuple[str, ...] = ()
    inputs: list[tuple[str, int]] = field(default_factory=list)
    """(name, line), in the caller's order."""
    unread: list[tuple[int, str]] = field(default_factory=list)
    bound: dict[Hashable, tuple[Launch, ...]] = field(default_factory=dict)
    """The calls bound, by the parameters of the kernels that they were bound to."""
