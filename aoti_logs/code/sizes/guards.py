"""Limits in guards: `2 <= L['lengths'].size()[0]` is what Dynamo tests before each call of the compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aoti_logs.parse.guards.guard_tree import read_guard_tree
from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_tree import Compare, Number
from aoti_logs.parse.text import limit
from aoti_logs.sources.source import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.guards.guard_tree import GuardLine
    from aoti_logs.parse.sizes.shape_tree import Expr
    from aoti_logs.records.trace import TraceIndex, TraceRecord
    from aoti_logs.sources.source import Source

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_SIGNS = ("<", ">", "==")


class GuardLimit(NamedTuple):
    """A limit that one guard sets on what Dynamo calls `origin`; None is no limit."""

    origin: str
    lower: int | None
    upper: int | None
    place: Place
    text: str


@dataclass(frozen=True)
class GuardTrees:
    """The guards of one compile, as a witness (`nearness.Witness`): read when somebody asks for its limits."""

    source: Source
    compile_id: str | None
    read: Callable[[], Iterable[tuple[Place, GuardLine]]]

    def limits(self) -> Iterator[GuardLimit]:
        """Yield the limits that single guards set on one value each."""
        for place, line in self.read():
            text = line.guard.expression if line.guard is not None else ""
            if "[" not in text or "hasattr(" in text or not any(sign in text for sign in _SIGNS):
                continue
            tree = parse_shape_expr(text)
            if isinstance(tree, Compare):
                yield from _limits(tree, place, text)


def _limits(tree: Compare, place: Place, text: str) -> Iterator[GuardLimit]:
    found: dict[str, list[tuple[int | None, int | None]]] = {}
    for op, left, right in zip(tree.ops, tree.operands, tree.operands[1:], strict=False):
        for value, sign, number in ((left, op, right), (right, _MIRRORED.get(op, ""), left)):
            ends = bounds(sign, number)
            if ends is not None and not isinstance(value, Number):
                found.setdefault(str(value), []).append(ends)
    for origin, ends_of in found.items():
        lower = max((low for low, _ in ends_of if low is not None), default=None)
        upper = min((up for _, up in ends_of if up is not None), default=None)
        yield GuardLimit(origin, lower, upper, place, text)


def bounds(sign: str, number: Expr) -> tuple[int | None, int | None] | None:
    """Return the smallest and the largest whole number that a comparison lets through; None where it sets no end.

    Args:
        sign: the comparison, the value on its left.
        number: what it is compared with.
    """
    if (
        not isinstance(number, Number)
        or not isinstance(number.value, int)
        or limit(str(number.value)) is None
    ):
        return None  # no number, or torch's infinity written out
    value = number.value
    return {
        "<": (None, value - 1), "<=": (None, value), ">": (value + 1, None), ">=": (value, None), "==": (value, value),
    }.get(sign)  # fmt: skip


def guards_of_traces(traces: Iterable[TraceIndex]) -> Iterator[GuardTrees]:
    """Yield the guards of each compile in traces."""
    for trace in traces:
        for record in trace.find("dynamo_cpp_guards_str"):
            yield GuardTrees(trace.source, record.compile_id, _Record(record))


@dataclass(frozen=True)
class _Record:
    record: TraceRecord

    def __call__(self) -> Iterator[tuple[Place, GuardLine]]:
        name, first = self.record.text_where
        tree, (_, lines) = read_guard_tree(self.record.text), self.record.payload_where
        for index, line in enumerate(tree.lines):
            number = lines[index] if index < len(lines) else first
            yield Place(name, number, number), line


def guards_of_log(source: Source, events: LogEvents) -> Iterator[GuardTrees]:
    """Yield the guards of each compile in a log."""
    from aoti_logs.parse.guards.logged_guards import guards_in

    for told in guards_in(events.messages) if events.messages else ():
        placed = [(source.place(n), line) for line, n in zip(told.tree.lines, told.lines, strict=False)]
        yield GuardTrees(source, told.message.compile_id, _Placed(placed))


@dataclass(frozen=True)
class _Placed:
    lines: Sequence[tuple[Place, GuardLine]]

    def __call__(self) -> Sequence[tuple[Place, GuardLine]]:
        return self.lines
