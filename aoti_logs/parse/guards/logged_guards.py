"""Guards in TORCH_LOGS text: trees (torch 2.4 and later), and before them one guard a message.

Printed by torch/_dynamo/guards.py into the artifact `guards`: `GUARDS:`, then either each guard's text or one message
with the tree of `guard_tree.lark`, then `Guard eval latency = N us`. Between them stand the sources of compiled guard
functions, which are no guards. `verbose_guards` prints `Guard: TEXT` with stacks below it (until torch 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.parse.guards.guard_line import read_guard, read_tensor_guard
from aoti_logs.parse.guards.guard_tree import GuardLine, GuardTree, read_guard_tree
from aoti_logs.parse.logs.whole_messages import line_of, whole_messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.events import LogLine

_TITLE = "TREE_GUARD_MANAGER:"
_LATENCY = ("Guard eval latency = ", "Guard latency = ")
_HEADER = "GUARDS:"
_SOURCES = ("Python shape guard function:", "C++ shape guard function:")
_VERBOSE = "Guard: "
_ARTIFACTS = {"guards", "verbose_guards"}


@dataclass(frozen=True)
class LoggedGuards:
    """The guards of one compile.

    Attributes:
        message: the message that they begin in.
        tree: their lines, the latency behind them as in a trace; a plain list of guards is a tree of depth 0.
        lines: line in the log of each of these lines.
        is_tree: False for a plain list.
    """

    message: LogLine
    tree: GuardTree
    lines: tuple[int, ...]
    is_tree: bool = True


@dataclass
class _List:
    """Guards that are printed one after the other."""

    message: LogLine
    plain: list[tuple[GuardLine, int]] = field(default_factory=list)
    verbose: list[tuple[GuardLine, int]] = field(default_factory=list)

    def guards(self) -> LoggedGuards | None:
        chosen = self.plain or self.verbose
        if not chosen:
            return None
        tree = GuardTree(tuple(line for line, _ in chosen))
        return LoggedGuards(self.message, tree, tuple(n for _, n in chosen), is_tree=False)


def guards_in(messages: Iterable[LogLine]) -> list[LoggedGuards]:
    """Read the guards of a log, in its order."""
    of_guards = (m for m in messages if m.artifact in _ARTIFACTS or _TITLE in m.text)
    return sorted(_guards(whole_messages(of_guards)), key=lambda g: g.lines[0])


def _guards(messages: Iterable[LogLine]) -> Iterator[LoggedGuards]:
    lists: dict[tuple[object, ...], _List] = {}
    trees: dict[tuple[object, ...], LoggedGuards] = {}

    def finished(key: tuple[object, ...]) -> Iterator[LoggedGuards]:
        if key in trees:
            yield trees.pop(key)
        if (guards := lists.pop(key).guards() if key in lists else None) is not None:
            yield guards

    for message in messages:
        key = (message.process, message.rank, message.compile_id)
        rows = message.text.split("\n")
        if message.artifact == "verbose_guards":
            if key not in lists:
                lists[key] = _List(message)
            lists[key].verbose += _verbose(message, rows)
            continue
        at = 0
        source = False  # of a guard function, up to the next message of another kind
        while at < len(rows):
            text = rows[at]
            source = text.startswith(_SOURCES) or (
                source and text not in {_HEADER, _TITLE} and not text.startswith(_LATENCY)
            )
            if source:
                at += 1
                continue
            if text == _HEADER:
                yield from finished(key)
                lists[key] = _List(message)
            elif text == _TITLE:
                yield from finished(key)
                end = _end(rows, at)
                trees[key] = _tree(message, rows, at, end)
                at = end
                continue
            elif text.startswith(_LATENCY):
                if key in trees:
                    yield _timed(trees.pop(key), text, line_of(message, at))
            elif text.strip() and key in lists and key not in trees:
                lists[key].plain.append((_plain(text), line_of(message, at)))
            at += 1
    for left in {**lists, **trees}:
        yield from finished(left)


def _end(rows: list[str], at: int) -> int:
    """Return the row behind a tree's last line; without a prefix on each line other output may stand below it."""
    end = at + 1
    for row in range(at + 1, len(rows)):
        if rows[row] in {_TITLE, _HEADER} or rows[row].startswith(_LATENCY):
            break
        if rows[row].startswith(("+- ", "| ")):
            end = row + 1
    return end


def _tree(message: LogLine, rows: list[str], at: int, end: int) -> LoggedGuards:
    # The empty lines around it belong to it, in a trace too.
    start = at - 1 if at and not rows[at - 1] else at
    end += end < len(rows) and not rows[end]
    lines = tuple(line_of(message, row) for row in range(start, end))
    return LoggedGuards(message, read_guard_tree("\n".join(rows[start:end])), lines)


def _timed(guards: LoggedGuards, text: str, line: int) -> LoggedGuards:
    last = read_guard_tree(text).lines
    return LoggedGuards(guards.message, GuardTree((*guards.tree.lines, *last)), (*guards.lines, line))


def _plain(text: str) -> GuardLine:
    guard = read_guard(text)
    tensor = read_tensor_guard(guard.expression)
    return GuardLine(text.strip(), 0, "", is_leaf=True, guard=guard, tensor=tensor, parsed=guard.parsed)


def _verbose(message: LogLine, rows: list[str]) -> Iterator[tuple[GuardLine, int]]:
    for row, text in enumerate(rows):
        if text.startswith(_VERBOSE):
            yield _plain(text.removeprefix(_VERBOSE)), line_of(message, row)
