"""A program that is run here, with the installed torch: its trace's tables hold what it did."""

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


def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


def sized(x, n):
    return x * n


class Limited(torch.nn.Module):
    def forward(self, x):
        return x.reshape(8, 3) + 1


class Decided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 5:
            return x + 1
        return x - 1


class Small(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, 2)

    def forward(self, x):
        return self.linear(x).relu()


torch.compile(broken, backend="aot_eager")(torch.randn(3))
compiled = torch.compile(sized, backend="aot_eager")
for rows in (4, 5, 6):
    compiled(torch.randn(rows, 2), 2)
compiled(torch.randn(6, 2), 3)
try:
    torch.export.export(Limited(), (torch.randn(8, 3),), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
except Exception as error:
    print(type(error).__name__)
try:
    torch.compile(Decided(), backend="aot_eager", fullgraph=True)(torch.randn(3))
except Exception as error:
    print(type(error).__name__)
for size in (3, 4):
    program = torch.export.export(Small(size), (torch.randn(2, size),))
    torch._inductor.aoti_compile_and_package(program, package_path=f"{size}.pt2")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("live")
    (folder / "program.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TORCH", "AOT"))}
    env = {**kept, "TORCH_TRACE": str(folder / "trace"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return aoti_logs.load(folder / "trace")


def test_nothing_of_the_trace_is_unknown_damaged_or_left_over(run):
    assert run.traces.select("n_damaged", "n_unparsed", "n_dangling_frames").row(0) == (0, 0, 0)
    assert run.entries.filter(~pl.col("known") | (pl.col("unknown_fields").list.len() > 0)).is_empty()


def test_the_version_is_the_installed_one(run):
    from importlib.metadata import version

    assert run.traces["torch_version"].to_list() == [version("torch")]


def test_each_compile_has_a_row(run):
    found = run.compiles.select("compile_id", "kind", "function").rows()
    assert found[:5] == [
        ("0/0", "dynamo", "broken"),
        ("1/0", "dynamo", "torch_dynamo_resume_in_broken_at_7"),
        ("2/0", "dynamo", "sized"),
        ("2/1", "dynamo", "sized"),
        ("2/2", "dynamo", "sized"),
    ]
    assert [row[:2] for row in found if row[1] == "aot_inductor"] == [
        ("aoti/0", "aot_inductor"),
        ("aoti/1", "aot_inductor"),
    ]


def test_the_graph_break_is_in_line_7_of_the_program(run):
    found = run.graph_breaks.filter(pl.col("compile_id") == "0/0").row(0, named=True)
    assert (found["file"].rpartition("/")[2], found["user_line"]) == ("program.py", 7)


def test_the_first_recompile_is_for_the_rows_and_the_second_for_the_number(run):
    found = run.recompile_reasons.select(
        "compile_id", "cached_compile_id", "tensor", "what", "expected", "actual"
    )
    assert found.row(0) == ("2/1", "2/0", "x", "size", "4", "5")
    later = run.recompile_reasons.filter(pl.col("compile_id") == "2/2").row(0, named=True)
    assert later["guard"].startswith("n == 2")


def test_the_rows_became_a_symbol_of_two_or_more(run):
    found = run.symbols.filter((pl.col("compile_id") == "2/1") & (pl.col("origin") == "L['x'].size()[0]"))
    assert found.select("kind", "hint", "lower", "upper", "input_name", "dim").row(0) == (
        "backed",
        5,
        2,
        None,
        "x",
        0,
    )


def test_guards_test_the_tensor_that_was_given(run):
    tensor = run.guards.filter((pl.col("compile_id") == "2/0") & (pl.col("kind") == "TENSOR_MATCH")).row(
        0, named=True
    )
    assert (tensor["tensor"], tensor["dtype"], tensor["size"]) == ("L['x']", "torch.float32", ["4", "2"])


def test_the_export_made_its_batch_a_constant(run):
    found = run.replacements.filter(pl.col("constant") == 8)
    assert "L['x'].size()[0]" in {source for sources in found["sources"] for source in sources}


def test_the_compile_that_failed_says_so(run):
    failed = run.compiles.filter(pl.col("status") == "error")
    assert failed["function"].to_list() == ["forward"]
    assert "dynamo_unsupported" in run.failures["kind"].to_list()


def test_both_wrappers_belong_to_their_own_compile(run):
    wrappers = run.sources.filter(pl.col("kind") == "wrapper_cpp")
    assert wrappers["compile_id"].to_list() == ["aoti/0", "aoti/1"]
    assert len(set(wrappers["filename"])) == 2


def test_spans_of_time_are_closed_and_lie_in_their_parents(run):
    events = run.events
    assert set(events["phase"]) <= {"span", "instant"}
    assert events.filter(pl.col("duration_us") < 0).is_empty()
    assert {"aoti/0", "aoti/1", "2/1"} <= set(events["compile_id"])


def test_inputs_of_each_compile_are_described(run):
    found = run.tensors.filter(pl.col("compile_id") == "2/0").row(0, named=True)
    assert (found["origin"], found["dtype"], found["shape"], found["storage_bytes"]) == (
        "L['x']", "torch.float32", ["4", "2"], 32,
    )  # fmt: skip


def test_graphs_of_all_stages_have_their_nodes_counted(run):
    graph = run.graphs.filter((pl.col("compile_id") == "2/0") & (pl.col("stage") == "dynamo_output_graph"))
    assert graph.select("inputs", "n_nodes").row(0) == (["L_x_"], 1)


def test_a_record_can_be_had_with_all_its_fields_by_a_line_of_a_table(run):
    row = run.graph_breaks.row(0, named=True)
    record = run.record(row["source"], row["line"] + 1)
    assert record.artifact == "dynamo_graph_break_reason"
    assert record.envelope["artifact"]["encoding"] == "string"
    with pytest.raises(KeyError):
        run.record(row["source"], 10**9)


def test_explaining_it_names_the_failure(run):
    kinds = [finding.kind for finding in run.explain().findings]
    assert "dynamo_unsupported" in kinds
