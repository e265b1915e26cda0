"""The guards of compiled code: every line of the guard trees of traces and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.guards.guard_line import Guard
from aoti_logs.parse.guards.guard_tree import GuardLine, GuardTree, read_guard_tree
from aoti_logs.parse.guards.logged_guards import guards_in
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source

    Placed = tuple[t.Here, GuardTree, Sequence[int]]
    """Where a tree begins, the tree, and the line in the file of each of its lines."""


class Guards(dy.Schema):
    """One row a line of a guard tree (`dynamo_cpp_guards_str`, TORCH_LOGS=guards): a guard, or a manager that guards
    hang below.
    """

    source = t.source()
    line = dy.Int64(nullable=False, description="Line in the file, from 1.")
    compile_id = t.compile_id()
    rank = t.rank()
    tree = dy.Int64(nullable=False, description="Line of the record whose tree it is, as `guard_trees.line`.")
    depth = dy.Int64(
        nullable=True,
        description="How far below the root, from 0 (also in the plain list of torch before 2.4); null for text that is "
        "no line of a tree.",
    )
    kind = dy.String(
        nullable=False,
        description="`TENSOR_MATCH`, `GuardManager`, ... as printed; empty for text that is no line of a tree, and in "
        "a plain list.",
    )
    is_leaf = dy.Bool(nullable=False, description="True for a guard, false for a manager.")
    guarded = dy.String(
        nullable=True, description="Dynamo source of what it guards, `L['x']`; a guard's is its manager's."
    )
    accessed_by = dy.String(nullable=True, description="How a manager gets at it from its parent.")
    type = dy.String(nullable=True, description="Type of what is guarded, `<class 'torch.Tensor'>`.")
    tag_safe = dy.Bool(
        nullable=True, description="Whether a dict's version tag stands for the whole subtree."
    )
    expression = dy.String(nullable=True, description="What is tested, Python text.")
    tensor = dy.String(nullable=True, description="The tensor that a TENSOR_MATCH names.")
    dtype = dy.String(nullable=True, description="Its dtype, `torch.float32`.")
    device = dy.String(nullable=True, description="Its device index as printed, `None` on a CPU.")
    requires_grad = dy.Bool(nullable=True, description="Whether it requires a gradient.")
    size = dy.List(
        dy.String(nullable=True), nullable=True, description="Its sizes; null where one is dynamic."
    )
    stride = dy.List(
        dy.String(nullable=True), nullable=True, description="Its strides; null where one is dynamic."
    )
    dispatch_keys = dy.List(dy.String(), nullable=True, description="Its dispatch keys.")
    code = dy.String(nullable=True, description="The user's line of code that the guard comes from.")
    user_file = dy.String(nullable=True, description="Its file; torch cuts off its first characters.")
    user_line = dy.Int64(nullable=True, description="Its line, from 1.")
    user_function = dy.String(nullable=True, description="Its function.")
    framework = dy.String(
        nullable=True, description="Line of torch that made the guard, `FILE:LINE in FUNCTION`."
    )
    hint = dy.String(nullable=True, description="What else torch remarks about it.")
    text = dy.String(nullable=False, description="The line without what draws its depth.")


SCHEMA = Guards


_OF_TREE = ("source", "compile_id", "rank", "tree")


def of_traces(traces: Iterable[TraceIndex]) -> pl.DataFrame:
    """Build the table of traces."""
    return _table(placed for trace in traces for placed in _in_trace(trace))


def of_logs(logs: Iterable[tuple[Source, LogEvents]]) -> pl.DataFrame:
    """Build the table of what logs tell."""
    return _table(placed for source, events in logs for placed in of_log(source, events))


def of_log(source: Source, events: LogEvents) -> Iterator[Placed]:
    """Yield the trees of a log."""
    for guards in guards_in(events.messages):
        yield _log.here(source, guards.message, guards.lines[0]), guards.tree, guards.lines


def _in_trace(trace: TraceIndex) -> Iterator[Placed]:
    for record in trace.find("dynamo_cpp_guards_str"):
        tree, (_, lines) = read_guard_tree(record.text), record.payload_where
        here = t.here_of_payload(record)
        if len(lines) < tree.n_lines:  # text stood between them
            lines = [*lines, *[here[1]] * (tree.n_lines - len(lines))]
        yield here, tree, lines


def _table(placed: Iterable[Placed]) -> pl.DataFrame:
    """Build the table. Lines repeat: the values of each are made once, and rows point to them."""
    import polars as pl

    dtypes = {name: column.dtype for name, column in SCHEMA.columns().items()}
    trees: list[tuple[Any, ...]] = []
    tree_of: list[int] = []
    line_of: list[int] = []
    said = _Numbers()
    held = _Numbers()
    for (source, line, compile_id, rank), tree, lines in placed:
        tree_of += [len(trees)] * tree.n_lines
        line_of += lines[: tree.n_lines]
        said.add(tree.lines)
        held.add(tree.holders)
        trees.append((source, compile_id, rank, line))
    at = pl.DataFrame(
        {"tree": tree_of, "line": line_of, "said": said.numbers, "held": held.numbers},
        schema={"tree": pl.UInt32, "line": dtypes["line"], "said": pl.UInt32, "held": pl.UInt32},
    )
    is_node = pl.Series([line is not None and line.is_node for line in said.lines], dtype=pl.Boolean)
    at = at.filter(is_node[at["said"]])
    of_line = {name: kind for name, kind in dtypes.items() if name not in {*_OF_TREE, "line", "guarded"}}
    parts = (
        _columns(trees, {name: dtypes[name] for name in _OF_TREE})[at["tree"]],
        at.select("line"),
        _columns([_values(line) for line in said.lines], of_line)[at["said"]],
        _columns([(line.source if line else None,) for line in held.lines], {"guarded": dtypes["guarded"]})[
            at["held"]
        ],
    )
    return pl.concat(parts, how="horizontal").select(*dtypes)


class _Numbers:
    """Lines by number: each row's line, and every distinct line once."""

    def __init__(self) -> None:
        self.lines: list[GuardLine | None] = []
        self.numbers: list[int] = []
        self._number: dict[int, int] = {}

    def add(self, lines: Sequence[GuardLine | None]) -> None:
        number = self._number
        keys = list(map(id, lines))
        for key, line in dict(zip(keys, lines, strict=True)).items():
            if key not in number:
                number[key] = len(self.lines)
                self.lines.append(line)  # and so no other line gets its id
        self.numbers += map(number.__getitem__, keys)


def _columns(rows: list[tuple[Any, ...]], dtypes: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    parts = zip(*rows, strict=True) if rows else ((),) * len(dtypes)
    return pl.DataFrame(
        {name: list(part) for name, part in zip(dtypes, parts, strict=True)}, schema=dtypes, strict=False
    )


def _values(line: GuardLine | None) -> tuple[Any, ...]:
    """Return the values of a line in the order of the columns, but those of its place in tree and file."""
    line = line or GuardLine("")
    guard, tensor = line.guard or Guard(""), line.tensor
    return (
        line.depth, line.kind, line.is_leaf, line.accessed_by, line.type, line.tag_safe[0] if line.tag_safe else None,
        guard.expression if line.guard else None,
        *(
            (tensor.name, tensor.dtype, tensor.device, tensor.requires_grad, tensor.size, tensor.stride,
             tensor.dispatch_keys)
            if tensor else (None,) * 7
        ),
        guard.code, guard.file, guard.line, guard.function, guard.framework, guard.hint, line.text,
    )  # fmt: skip
