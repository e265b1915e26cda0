"""Tables: one module a table, with a schema whose every column is typed and described."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    import polars as pl

    from aoti_logs._run import Run
    from aoti_logs.records.trace import TraceIndex

NAMES = (
    "sources",
    "records",
    "unparsed",
    "traces",
    "entries",
    "trace_records",
    "artifacts",
    "strings",
    "compiles",
    "failures",
    "events",
    "metrics",
    "config",
    "tensors",
    "graphs",
    "expressions",
    "replacements",
    "python_frames",
    "traceback_frames",
    "caches",
    "provenance",
    "collectives",
    "runtime_estimates",
    "execution_order",
    "triton_kernels",
    "assertions",
    "errors",
    "error_facts",
    "stacks",
    "worker_failures",
    "frames",
    "dumps",
    "saved_tensors",
    "messages",
    "log_formats",
    "log_summary",
    "code_blocks",
    "compile_steps",
    "traced_lines",
    "fusions",
    "commands",
    "autotuning",
    "kernels",
    "kernel_params",
    "kernel_accesses",
    "index_checks",
    "launches",
    "launch_arguments",
    "launchers",
    "sizes",
    "symbol_aliases",
    "wrapper_symbols",
    "size_limits",
    "symbols",
    "ranges",
    "guard_trees",
    "guards",
    "recompile_reasons",
    "graph_breaks",
    "packages",
    "package_files",
    "inputs",
    "constants",
    "checks",
    "input_checks",
    "missing_checks",
    "buffer_uses",
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
    if hasattr(module, "rows"):
        return frame(name, module.rows(run))
    return with_logs(name, of_traces(name, run.evidence.traces), run)


def with_logs(name: str, made: pl.DataFrame, run: Run) -> pl.DataFrame:
    """Add to a table made of traces what the logs of a run tell of the same, where its module has `of_log`."""
    import polars as pl

    module = import_module(f"aoti_logs.tables.{name}")
    if not hasattr(module, "of_log"):
        return made
    logs = [(source, events) for source, events in run.logs() if events.messages]
    if not logs:
        return made
    if hasattr(module, "of_logs"):
        told: pl.DataFrame = module.of_logs(logs)
    else:
        told = frame(name, (row for source, events in logs for row in module.of_log(source, events)))
    return pl.concat([made, told], rechunk=False) if told.height else made


def from_traces() -> tuple[str, ...]:
    """Return the tables that are made of one trace after the other."""
    return tuple(n for n in NAMES if not hasattr(import_module(f"aoti_logs.tables.{n}"), "rows"))


def of_traces(name: str, traces: Iterable[TraceIndex]) -> pl.DataFrame:
    """Build one of those tables. Its module has `of_trace`, which gives the rows, or makes the frame itself.

    A module may also have `of_log(source, events)`, the rows that the text of a log tells of the same facts.
    """
    module = import_module(f"aoti_logs.tables.{name}")
    if hasattr(module, "of_traces"):
        made: pl.DataFrame = module.of_traces(traces)
        return made
    return frame(name, (row for trace in traces for row in _rows(module, trace)))


def _rows(module: ModuleType, trace: TraceIndex) -> Iterable[tuple[Any, ...]]:
    trace.context  # noqa: B018 most tables ask every record for its ids
    rows: Iterable[tuple[Any, ...]] = module.of_trace(trace)
    return rows


def frame(name: str, rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """Make a table of its rows, values in the order of the columns."""
    import polars as pl

    dtypes = {column: spec.dtype for column, spec in schema(name).columns().items()}
    # zip() takes a row an argument, so rows are turned into columns in portions.
    parts: list[list[Any]] = [[] for _ in dtypes]
    remaining = iter(rows)
    with _no_collection():
        while portion := list(islice(remaining, _PORTION)):
            for part, values in zip(parts, zip(*portion, strict=True), strict=True):
                part.extend(values)
    columns = [
        _series(column, dtype, part) for (column, dtype), part in zip(dtypes.items(), parts, strict=True)
    ]
    return pl.DataFrame(columns)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from looking for cycles among millions of rows, of which there are none: an eighth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _in_range(items: list[Any]) -> list[Any]:
    """Return a list in which integers that no column holds are null."""
    wide = any(isinstance(item, int) and not -(2**63) <= item < 2**63 for item in items)
    return [None if isinstance(i, int) and not -(2**63) <= i < 2**63 else i for i in items] if wide else items


def _series(name: str, dtype: Any, values: list[Any]) -> pl.Series:
    import polars as pl

    if isinstance(dtype, pl.List) and values:
        import orjson

        # polars looks at every list on its own, at some thirty times the cost.
        texts = [None if value is None else orjson.dumps(_in_range(value)).decode() for value in values]
        return pl.Series(name, texts, dtype=pl.String).str.json_decode(dtype)
    return pl.Series(name, values, dtype=dtype, strict=False)


def __getattr__(name: str) -> dict[str, Any]:
    if name == "SCHEMAS":
        return {table: schema(table) for table in NAMES}
    raise AttributeError(name)
