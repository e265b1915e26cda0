"""What reading the entry function of a C++ wrapper gives, before anything is bound or put in order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.code.wrapper.bind import Names
from aoti_logs.code.wrapper_cpp.flow import Flow
from aoti_logs.code.wrapper_cpp.text import as_call

if TYPE_CHECKING:
    from collections.abc import Hashable

    from aoti_logs.code.model import Buffer, InputCheck, Launch, Launcher, Release, Size, Within


@dataclass
class RawLaunch:
    """A call as found: bound to parameters only when somebody asks.

    `arguments` is None where they still have to be split off `text`, a plain call.
    """

    kernel: str
    line: int
    text: str
    arguments: tuple[str, ...] | None
    checked: bool = True
    handle: int | None = None
    source_nodes: tuple[str, ...] = ()
    stack: str | None = None
    outputs: tuple[str, ...] = ()
    branch: tuple[str, ...] = ()
    within: Within = ()
    subgraph: str | None = None
    grid: tuple[str, ...] = ()
    """Blocks along each axis, where the entry function itself computes them (torch 2.4 to 2.6)."""
    stream: str | None = None
    body: EntryBody | None = None
    """The function that the call stands in, where that is another one than the entry function."""

    def split(self) -> tuple[str, ...]:
        """Return the arguments."""
        if self.arguments is not None:
            return self.arguments
        call = as_call(self.text)
        return () if call is None else call[1]


@dataclass
class EntryBody:
    """What the statements of an entry function say."""

    names: Names = field(default_factory=Names)
    launches: list[RawLaunch] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    checks: list[InputCheck] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    outputs: dict[int, str] = field(default_factory=dict)
    input_lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name of an input -> (index in the caller's list, line that unpacks it)."""
    constant_lines: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Name of a constant -> (index, line that unpacks it)."""
    unread: list[tuple[int, str]] = field(default_factory=list)
    launchers: dict[str, Launcher] = field(default_factory=dict)
    """How kernels are started that the entry function itself loads and starts (torch 2.4 to 2.6)."""
    arrays: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """`int_array_3` and other initialiser lists -> their elements."""
    flow: Flow = field(default_factory=Flow)
    """Where the statement stands that is being read."""
    bound: dict[Hashable, tuple[Launch, ...]] = field(default_factory=dict)
    """The calls bound, by the parameters of the kernels that they were bound to."""

    @cached_property
    def _sizes(self) -> dict[str, list[Size]]:
        found: dict[str, list[Size]] = {}
        for size in self.sizes:
            found.setdefault(size.symbol, []).append(size)
        return found

    def size_at(self, symbol: str, index: int) -> Size | None:
        """Return the last definition of a size before launch number `index`."""
        several = self._sizes.get(symbol, [])
        place = bisect_right(several, index, key=lambda size: size.at)
        return several[place - 1] if place else None
