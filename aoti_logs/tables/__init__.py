"""Tables: one module a table, with a schema whose every column is typed and described."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from aoti_logs._run import Run

NAMES = (
    "sources",
    "records",
    "unparsed",
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


def schema(name: str) -> Any:
    """Return the dataframely schema of a table; KeyError for an unknown name."""
    if name not in NAMES:
        raise KeyError(name)
    return import_module(f"aoti_logs.tables.{name}").SCHEMA


def build(name: str, run: Run) -> pl.DataFrame:
    """Build a table of a run; a table without rows has its columns all the same."""
    import polars as pl

    module = import_module(f"aoti_logs.tables.{name}")
    dtypes = {column: spec.dtype for column, spec in module.SCHEMA.columns().items()}
    columns: dict[str, list[Any]] = {column: [] for column in dtypes}
    for row in module.rows(run):
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return pl.DataFrame(columns, schema=dtypes, strict=False)


def __getattr__(name: str) -> dict[str, Any]:
    if name == "SCHEMAS":
        return {table: schema(table) for table in NAMES}
    raise AttributeError(name)
