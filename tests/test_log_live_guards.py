"""A program that is run here with TORCH_LOGS and TORCH_TRACE at once: both end in the same rows."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import aoti_logs

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PROGRAM = """
import torch


def scaled(x, n, d):
    return x * n + d["a"]


def halves(x):
    if x.shape[0] % 2 == 0:
        return x[: x.shape[0] // 2]
    return x - 1


class Fixed(torch.nn.Module):
    def forward(self, x):
        return x.reshape(8, 3) + 1


class Counted(torch.nn.Module):
    def forward(self, x, k):
        n = k.item()
        torch._check(n >= 2)
        torch._check(n < 50)
        return torch.zeros(n) + x.sum()


class Decided(torch.nn.Module):
    def forward(self, x, k):
        n = k.item()
        if n > 5:
            return x[:n]
        return x


f = torch.compile(scaled, backend="eager")
f(torch.randn(4, 2), 1, {"a": 1.0})
f(torch.randn(5, 2), 1, {"a": 1.0})
f(torch.randn(5, 2), 2, {"a": 1.0})
f(torch.randn(5, 2), 3, {"a": 2.0})
f(torch.randn(5, 2, requires_grad=True), 3, {"a": 2.0})
with torch.no_grad():
    f(torch.randn(5, 2, requires_grad=True), 3, {"a": 2.0})
g = torch.compile(halves, backend="eager", dynamic=True)
for rows in (6, 7, 1):
    print("rows", g(torch.randn(rows, 5)).shape[0], flush=True)
numbers = (torch.randn(3), torch.tensor(4))
for model, args, sizes in (
    (Fixed(), (torch.randn(8, 3),), {"x": {0: torch.export.Dim("b")}}),
    (Counted(), numbers, None),
    (Decided(), numbers, None),
):
    try:
        torch.export.export(model, args, dynamic_shapes=sizes)
    except Exception as error:
        print(type(error).__name__, flush=True)
"""
STYLES = {"default": None, "short": "short", "own": "%(asctime)s %(levelname)s [%(name)s] %(message)s"}


@pytest.fixture(scope="module", params=STYLES)
def runs(request, tmp_path_factory):
    """Return the log's run, the trace's run, and whether messages have a compile id."""
    folder: Path = tmp_path_factory.mktemp("live")
    (folder / "program.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH", "AOT"))}
    env = {**kept, "TORCH_TRACE": str(folder / "trace"), "TORCH_LOGS": "guards,recompiles,+dynamic"}
    style = STYLES[request.param]
    if style is not None:
        env["TORCH_LOGS_FORMAT"] = style
    with (folder / "run.log").open("wb") as log:
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=folder, env=env, stdout=log, stderr=log, check=False
        )
    assert done.returncode == 0
    return aoti_logs.load(folder / "run.log"), aoti_logs.load(folder / "trace"), request.param == "default"


def columns(frame, *left_out, ids):
    """Name the columns that a log can fill."""
    apart = {"source", "line", "rank", "tree", *left_out, *(() if ids else ("compile_id",))}
    return [name for name in frame.columns if name not in apart]


@pytest.mark.parametrize("table", ["guards", "recompile_reasons"])
def test_guards_and_recompiles_are_the_same_in_all_columns(table, runs):
    log, trace, ids = (*(run.tables[table] for run in runs[:2]), runs[2])
    names = columns(log, ids=ids)
    assert log.height > 10
    assert log.select(names).to_dicts() == trace.select(names).to_dicts()


def test_guard_trees_are_the_same_where_a_check_was_timed(runs):
    """An export times no check: its trace has 0.0, its log nothing."""
    log, trace = (run.guard_trees.filter(pl.col("latency_us") > 0) for run in runs[:2])
    names = columns(log, ids=runs[2])
    assert log.height > 5
    assert log.select(names).to_dicts() == trace.select(names).to_dicts()


def test_symbols_are_the_same_but_for_those_that_join_an_older_one(runs):
    log = runs[0].symbols.filter(pl.col("range").list.len() > 0)
    names = columns(log, "user_frame", ids=runs[2])  # torch cuts off the first characters of its file
    assert log.select(names).to_dicts() == runs[1].symbols.select(names).to_dicts()


def test_constants_are_the_same(runs):
    log = runs[0].replacements.filter(pl.col("constant").is_not_null())
    names = columns(log, "file", "file_line", "function", "code", "bound", ids=runs[2])
    assert log.height
    assert log.select(names).to_dicts() == runs[1].replacements.select(names).to_dicts()


def test_guards_on_sizes_are_the_same(runs):
    log = runs[0].expressions.filter(pl.col("entry") == "guard_added")
    trace = runs[1].expressions.filter(pl.col("entry") == "guard_added_fast")
    names = columns(log, "entry", "prefix", "file", "framework", ids=runs[2])
    assert log.height > 3
    assert log.select(names).to_dicts() == trace.select(names).to_dicts()


def test_both_tell_of_the_same_recompiles(runs):
    told = [
        {(f.facts["function"], f.facts["n_events"]) for f in run.explain() if f.kind == "recompile"}
        for run in runs[:2]
    ]
    assert told[0] == told[1] != set()


def test_each_line_of_a_row_is_the_line_of_its_text(runs):
    run = runs[0]
    lines = Path(next(iter(run.files)).path).read_text().split("\n")
    for row in run.recompile_reasons.iter_rows(named=True):
        assert row["text"].partition("\n")[0].strip() in lines[row["line"] - 1]
    for row in run.guards.iter_rows(named=True):
        assert row["text"] in lines[row["line"] - 1]
