"""Guard trees: how much is checked before compiled code runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.guards.guard_tree import read_guard_tree
from aoti_logs.parse.guards.logged_guards import guards_in
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.guards.guard_tree import GuardTree
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


class GuardTrees(dy.Schema):
    """One row a guard tree, which is one a compiled frame (`dynamo_cpp_guards_str`, TORCH_LOGS=guards); its lines are
    in `guards`. Torch before 2.4 has a plain list of guards instead.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    n_lines = dy.Int64(
        nullable=False, description="Its lines, with title, latency and the empty lines around it."
    )
    n_guards = dy.Int64(nullable=False, description="Guards: leaves of the tree.")
    n_managers = dy.Int64(nullable=False, description="Guard managers.")
    n_unparsed = dy.Int64(
        nullable=False, description="Lines that no guard tree has, or that could not be taken apart."
    )
    latency_us = dy.Float64(
        nullable=True, description="Microseconds that one check of all guards took right after compiling."
    )


SCHEMA = GuardTrees


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("dynamo_cpp_guards_str"):
        yield (*t.here_of_payload(record), *_counts(read_guard_tree(record.text)))


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for guards in guards_in(events.messages):
        yield (*_log.here(source, guards.message, guards.lines[0]), *_counts(guards.tree))


def _counts(tree: GuardTree) -> tuple[Any, ...]:
    return tree.n_lines, tree.n_guards, tree.n_managers, tree.n_unparsed, tree.latency_us
