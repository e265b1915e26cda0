"""What the tests of tlparse reports share: where the reports are, copies of them with files missing, their tables."""

import json
import math
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

import aoti_logs
from aoti_logs import tables

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TRACES = {"tlparse_compile": "cpu_compile_gather", "tlparse_aoti": "cpu_gather_empty_table"}
RANKS = {0: "gpu_compile_gather", 1: "cpu_compile_gather"}


def trace_of(fixture: str) -> Path:
    (trace,) = (FIXTURES / fixture / "trace").glob("*.log")
    return trace


def report_of(fixture: str) -> Path:
    return FIXTURES / fixture / "report"


def copy(report: Path, to: Path, *, without: tuple[str, ...] = ()) -> Path:
    """Copy a report without the files that fit a pattern."""
    shutil.copytree(report, to)
    for pattern in without:
        for path in list(to.rglob(pattern)):
            path.unlink()
    return to


def tlparse() -> str | None:
    beside = Path(sys.executable).with_name("tlparse")
    return str(beside) if beside.exists() else shutil.which("tlparse")


def write_report(trace: Path, out: Path, *options: str) -> bool:
    """Let tlparse write a report; False where it does not take the trace."""
    program = tlparse()
    assert program is not None
    done = subprocess.run(
        [program, *options, "--no-browser", "-o", str(out), str(trace)], capture_output=True, check=False
    )
    return done.returncode == 0


def of_traces() -> list[str]:
    """Return the names of all tables that are made of records of traces."""
    modules = {name: import_module(f"aoti_logs.tables.{name}") for name in tables.NAMES}
    return [
        name
        for name, module in modules.items()
        if hasattr(module, "of_trace") or hasattr(module, "of_traces")
    ]


def normal(value: Any, trace: str) -> Any:
    """Return a value of a table in a form that is the same for the same fact: names of traces, order in JSON, the
    last bits of floats (tlparse reads them with an error of one).
    """
    if isinstance(value, float):
        return float(f"{value:.13g}") if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return [normal(item, trace) for item in value]
    if isinstance(value, dict):
        return {key: normal(item, trace) for key, item in value.items()}
    if isinstance(value, str):
        if value.startswith(("{", "[")):
            try:
                return json.dumps(normal(json.loads(value), trace), sort_keys=True)
            except ValueError:
                return value
        return "TRACE" + value.removeprefix(trace) if value.startswith(trace) else value
    return value


def rows(frame: pl.DataFrame, trace: str, leave_out: set[str]) -> list[str]:
    """Return the rows in one order, without some columns."""
    kept = [column for column in frame.columns if column not in leave_out]
    columns = [[normal(value, trace) for value in frame[column].to_list()] for column in kept]
    return sorted(repr(dict(zip(kept, row, strict=True))) for row in zip(*columns, strict=True))


def only_trace(run: aoti_logs.Run) -> str:
    (trace,) = run.evidence.traces
    return trace.source.name
