"""The tree of guards that torch checks before it runs compiled code (`dynamo_cpp_guards_str`, TORCH_LOGS=guards).

Format: `grammars/guard_tree.lark`. Traces repeat the same lines very often, and different lines have few shapes, so a
line is looked up by its text first, then by its shape, and only then given to the grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from aoti_logs.parse.guard_line import Guard, TensorGuard, guard_of, read_tensor_guard
from aoti_logs.parse.shape import fields, first

_GRAMMAR = "guard_tree"
_TITLE = "TREE_GUARD_MANAGER:"
_STEP = "| "
_MARK = "+- "
_LONGEST_KEPT = 4096  # characters of a line that is kept by its text


@dataclass(frozen=True, slots=True)
class GuardLine:
    """What one line of a guard tree says, whatever its depth; equal lines share it.

    Attributes:
        text: the line behind what draws its depth.
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
    """

    text: str
    kind: str
    is_leaf: bool = False
    source: str | None = None
    accessed_by: str | None = None
    type: str | None = None
    tag_safe: tuple[bool, bool] | None = None
    index: int | None = None
    guard: Guard | None = None
    tensor: TensorGuard | None = None
    parsed: bool = True


class GuardNode(NamedTuple):
    """A line of a guard tree at its place.

    `offset` is the line's number in the payload, from 0; `depth` how far down the tree it hangs, None for text that is
    no line of a tree; `guarded` the source that it guards: its own, a leaf's from the manager above it.
    """

    offset: int
    depth: int | None
    guarded: str | None
    line: GuardLine


@dataclass(frozen=True)
class GuardTree:
    """A guard tree.

    Attributes:
        nodes: every line but empty ones, the title and the latency, in order; what is no line of a tree, too.
        n_lines: lines of the payload, as many as a file viewer counts.
        n_guards: leaves.
        n_managers: managers, pairs of dicts not counted.
        n_unparsed: lines that the grammar did not take.
        latency_us: how long one check of the whole tree took, microseconds.
    """

    nodes: tuple[GuardNode, ...]
    n_lines: int
    n_guards: int
    n_managers: int
    n_unparsed: int
    latency_us: float | None


def read_guard_tree(text: str) -> GuardTree:
    """Read a guard tree; no text raises, and no line is lost. It is read line by line: depth costs no recursion."""
    nodes: list[GuardNode] = []
    above: list[tuple[int, str | None]] = []  # the managers that the line hangs below, with their sources
    latency: float | None = None
    guards = managers = unparsed = 0
    lines = text.split("\n")
    for offset, raw in enumerate(lines):
        depth, line = _known(raw) if len(raw) <= _LONGEST_KEPT else _read(raw)
        if line is None:
            continue
        if depth is None:
            seconds = _latency(raw)
            if seconds is not None:
                latency = seconds
                continue
            unparsed += 1
            nodes.append(GuardNode(offset, None, None, line))
            continue
        while above and above[-1][0] >= depth:
            above.pop()
        guarded = line.source
        if guarded is None and above:
            guarded = above[-1][1]
        if line.is_leaf:
            guards += 1
        else:
            above.append((depth, guarded))
            managers += line.kind != "KeyValueManager"
        unparsed += not line.parsed
        nodes.append(GuardNode(offset, depth, guarded, line))
    return GuardTree(tuple(nodes), len(lines), guards, managers, unparsed, latency)


def _read(raw: str) -> tuple[int | None, GuardLine | None]:
    """Return the depth and meaning of a line; no meaning for those that belong to no node."""
    text = raw.removesuffix("\r")
    mark = text.find(_MARK)
    if mark >= 0 and text[:mark] == _STEP * (mark // 2):
        return mark // 2, _read_line(text[mark + len(_MARK) :])
    if not text.strip() or text == _TITLE:
        return None, None
    return None, GuardLine(text, "", parsed=False)


_known = lru_cache(maxsize=1 << 15)(_read)


def _read_line(text: str) -> GuardLine:
    found = fields(_GRAMMAR, "start", text)
    if found is None:
        return _loose(text)
    kind = first(found, "LEAF")
    if kind is not None:
        guard = guard_of(found) if "EXPRESSION" in found else None
        tensor = read_tensor_guard(guard.expression) if guard and kind == "TENSOR_MATCH" else None
        return GuardLine(
            text, kind, is_leaf=True, type=guard.type if guard else None, guard=guard, tensor=tensor
        )
    if "PAIR" in found:
        return GuardLine(text, "KeyValueManager", index=int(found["INDEX"][0][:18]))
    safe = first(found, "TAG_SAFE")
    role = first(found, "ROLE")
    return GuardLine(
        text,
        role[:-2] if role else found["MANAGER"][0],
        source=first(found, "SOURCE"),
        accessed_by=first(found, "ACCESSOR"),
        type=first(found, "TYPE"),
        tag_safe=(safe.startswith("True"), safe.endswith("True)")) if safe else None,
    )


def _loose(text: str) -> GuardLine:
    """Return a line that the grammar refuses, told by its first word alone."""
    name, colon, rest = text.partition(": ")
    if name.isidentifier() and name.isupper():
        return GuardLine(text, name, is_leaf=True, guard=Guard(rest, parsed=False) if colon else None, parsed=False)
    manager = name if name.isidentifier() and name.endswith("Manager") else ""
    return GuardLine(text, manager, parsed=False)


def _latency(text: str) -> float | None:
    if not text.startswith("Guard "):
        return None
    found = fields(_GRAMMAR, "latency", text.rstrip())
    return float(found["NUMBER"][0]) if found else None
