"""The tree of guards that torch checks before it runs compiled code (`dynamo_cpp_guards_str`, TORCH_LOGS=guards).

Format: `grammars/guard_tree.lark`. Traces repeat the same lines very often, and different lines have few shapes, so a
line is looked up by its text first, then by its shape, and only then given to the grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from aoti_logs.parse.guards.guard_line import Guard, TensorGuard, guard_of, read_tensor_guard
from aoti_logs.parse.shape import fields, first

_GRAMMAR = "guard_tree"
_TITLE = "TREE_GUARD_MANAGER:"
_STEP = "| "
_MARK = "+- "
_LONGEST_KEPT = 4096  # characters of a line that is kept by its text


@dataclass(frozen=True, slots=True)
class GuardLine:
    """What one line of a guard tree says; lines of equal text share it.

    Attributes:
        text: the line behind what draws its depth.
        depth: how far down the tree it hangs; None for text that is no line of a tree.
        kind: a leaf's name (`TENSOR_MATCH`), or what else stands in a tree: `RootGuardManager`, `GuardManager`,
            `DictGuardManager`, `KeyValueManager` (a pair of a dict), `KeyManager`, `ValueManager`. Empty for text
            that is no line of a tree.
        is_leaf: True for a guard.
        source: Dynamo source of what a manager guards (`L['x']`).
        accessed_by: how a manager gets at it from its parent.
        type: type of what is guarded, as printed.
        tag_safe: whether its dict tag stands for the whole subtree, and whether it is the root of such a one.
        index: position of a dict's pair.
        guard: the test of a leaf; None for managers and for a relational guard that is printed again.
        tensor: what TENSOR_MATCH tests, taken apart.
        parsed: False when the grammar did not take the line.
        latency_us: for the last line only: how long one check of the whole tree took, microseconds.
    """

    text: str
    depth: int | None = None
    kind: str = ""
    is_leaf: bool = False
    source: str | None = None
    accessed_by: str | None = None
    type: str | None = None
    tag_safe: tuple[bool, bool] | None = None
    index: int | None = None
    guard: Guard | None = None
    tensor: TensorGuard | None = None
    parsed: bool = True
    latency_us: float | None = None

    @property
    def is_node(self) -> bool:
        """False for empty lines, the title and the latency."""
        return self.depth is not None or not self.parsed


class GuardNode(NamedTuple):
    """A line of a guard tree at its place: `offset` is the line's number in the payload, from 0; `guarded` the source
    that it guards, a leaf's is that of the manager above it.
    """

    offset: int
    guarded: str | None
    line: GuardLine


@dataclass(frozen=True)
class GuardTree:
    """A guard tree.

    Attributes:
        lines: every line of the payload, empty ones, title and latency, too.
    """

    lines: tuple[GuardLine, ...]

    @cached_property
    def holders(self) -> tuple[GuardLine | None, ...]:
        """For each line the one whose `source` it guards: itself for a manager, the manager above for a leaf."""
        holders: list[GuardLine | None] = []
        above: list[tuple[int, GuardLine | None]] = []  # what the line hangs below, with its holders
        for line in self.lines:
            depth = line.depth
            if depth is None:
                holders.append(None)
                continue
            while above and above[-1][0] >= depth:
                above.pop()
            holder = line if line.source is not None else above[-1][1] if above else None
            holders.append(holder)
            if not line.is_leaf:
                above.append((depth, holder))
        return tuple(holders)

    @cached_property
    def nodes(self) -> tuple[GuardNode, ...]:
        """The tree's lines in order, and between them whatever else was printed."""
        return tuple(
            GuardNode(offset, None if holder is None else holder.source, line)
            for offset, (line, holder) in enumerate(zip(self.lines, self.holders, strict=True))
            if line.is_node
        )

    @property
    def n_lines(self) -> int:
        """Lines of the payload, as many as an editor counts."""
        return len(self.lines)

    @cached_property
    def n_guards(self) -> int:
        """Leaves."""
        return sum(line.is_leaf for line in self.lines)

    @cached_property
    def n_managers(self) -> int:
        """Managers; the pairs of a dict are none."""
        return sum(
            line.depth is not None and not line.is_leaf and line.kind != "KeyValueManager"
            for line in self.lines
        )

    @cached_property
    def n_unparsed(self) -> int:
        """Lines that the grammar did not take."""
        return sum(not line.parsed for line in self.lines)

    @cached_property
    def latency_us(self) -> float | None:
        """How long one check of the whole tree took, microseconds."""
        return next((line.latency_us for line in reversed(self.lines) if line.latency_us is not None), None)


def read_guard_tree(text: str) -> GuardTree:
    """Read a guard tree; no text raises, and no line is lost. It is read line by line: depth costs no recursion."""
    return GuardTree(tuple(map(read_line, text.split("\n"))))


def read_line(raw: str) -> GuardLine:
    """Read one line of a guard tree."""
    return _kept(raw) if len(raw) <= _LONGEST_KEPT else _read(raw)


def _read(raw: str) -> GuardLine:
    text = raw.removesuffix("\r")
    mark = text.find(_MARK)
    if mark >= 0 and text[:mark] == _STEP * (mark // 2):
        return _node(text[mark + len(_MARK) :], mark // 2)
    if not text.strip() or text == _TITLE:
        return GuardLine(text)
    found = fields(_GRAMMAR, "latency", text.rstrip()) if text.startswith("Guard ") else None
    return GuardLine(text, latency_us=float(found["NUMBER"][0])) if found else GuardLine(text, parsed=False)


_kept = lru_cache(maxsize=1 << 15)(_read)


def _node(text: str, depth: int) -> GuardLine:
    found = fields(_GRAMMAR, "start", text)
    if found is None:
        return _loose(text, depth)
    kind = first(found, "LEAF")
    if kind is not None:
        guard = guard_of(found) if "EXPRESSION" in found else None
        tensor = read_tensor_guard(guard.expression) if guard and kind == "TENSOR_MATCH" else None
        return GuardLine(
            text, depth, kind, is_leaf=True, type=guard.type if guard else None, guard=guard, tensor=tensor
        )
    if "PAIR" in found:
        return GuardLine(text, depth, "KeyValueManager", index=int(found["INDEX"][0][:18]))
    safe, role = first(found, "TAG_SAFE"), first(found, "ROLE")
    return GuardLine(
        text,
        depth,
        role[:-2] if role else found["MANAGER"][0],
        source=first(found, "SOURCE"),
        accessed_by=first(found, "ACCESSOR"),
        type=first(found, "TYPE"),
        tag_safe=(safe.startswith("True"), safe.endswith("True)")) if safe else None,
    )


def _loose(text: str, depth: int) -> GuardLine:
    """Return a line that the grammar refuses, told by its first word alone."""
    name, colon, rest = text.partition(": ")
    if name.isidentifier() and name.isupper():
        guard = Guard(rest, parsed=False) if colon else None
        return GuardLine(text, depth, name, is_leaf=True, guard=guard, parsed=False)
    manager = name if name.isidentifier() and name.endswith("Manager") else ""
    return GuardLine(text, depth, manager, parsed=False)
