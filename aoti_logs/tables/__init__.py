"""Tables: one module a table, with a schema whose every column is typed and described."""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from aoti_logs._run import Run

NAMES = (
    "sources",
    "records",
    "unparsed",
    "traces",
    "entries",
    "trace_records",
    "strings",
    "compiles",
    "events",
    "metrics",
    "config",
    "tensors",
    "expressions",
    "replacements",
    "python_frames",
    "caches",
    "provenance",
    "collectives",
    "runtime_estimates",
    "execution_order",
    "triton_kernels",
    "assertions",
    "errors",
    "frames",
    "dumps",
    "messages",
    "kernels",
    "launches",
    "launch_arguments",
    "sizes",
    "symbols",
    "inputs",
    "constants",
    "checks",
    "buffers",
)
"""All tables in the order in which a reader meets them."""

_PORTION = 4096


def schema(name: str) -> Any:
    """Return the dataframely schema of a table; KeyError for an unknown name."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"aoti_logs.tables.{name}").SCHEMA


def build(name: str, run: Run) -> pl.DataFrame:
    """Build a table of a run; a table without rows has its columns all the same."""
    module = import_module(f"aoti_logs.tables.{name}")
    if hasattr(module, "of_trace"):
        return frame(name, (row for trace in run.evidence.traces for row in module.of_trace(trace)))
    return frame(name, module.rows(run))


def frame(name: str, rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """Make a table of its rows, values in the order of the columns."""
    import polars as pl

    dtypes = {column: spec.dtype for column, spec in schema(name).columns().items()}
    # zip() takes a row an argument, so rows are turned into columns in portions.
    parts: list[list[Any]] = [[] for _ in dtypes]
    remaining = iter(rows)
    while portion := list(islice(remaining, _PORTION)):
        for part, values in zip(parts, zip(*portion, strict=True), strict=True):
            part.extend(values)
    return pl.DataFrame(dict(zip(dtypes, parts, strict=True)), schema=dtypes, strict=False)


def __getattr__(name: str) -> dict[str, Any]:
    if name == "SCHEMAS":
        return {table: schema(table) for table in NAMES}
    raise AttributeError(name)
