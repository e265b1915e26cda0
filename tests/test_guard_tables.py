"""The tables guards, guard_trees, recompile_reasons and graph_breaks of a trace."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs import tables
from aoti_logs.parse.guards.guard_tree import read_guard_tree
from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources.source import Kind, Source
from aoti_logs.tables import guards

PAYLOADS = Path(__file__).parent / "payloads"
NAMES = ("guard_trees", "guards", "recompile_reasons", "graph_breaks")


def record(entry: dict, payload: str, compile_id: str = "0/0") -> str:
    frame, _, number = compile_id.partition("/")
    ids = {"frame_id": int(frame), "frame_compile_id": int(number), "attempt": 0}
    md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
    lines = "".join(f"\t{line}\n" for line in payload.split("\n"))
    return f"V1129 12:00:00.000000 1 torch/a.py:1] {json.dumps(entry | ids | {'has_payload': md5})}\n{lines}"


def artifact(name: str, payload: str, compile_id: str = "0/0") -> str:
    return record({"artifact": {"name": name, "encoding": "string"}}, payload, compile_id)


def read(name: str) -> str:
    return (PAYLOADS / name).read_bytes().decode()


@pytest.fixture
def run(tmp_path):
    trace = tmp_path / "dedicated_log_torch_trace_rank_3_abcdefgh.log"
    texts = [
        record({"dynamo_cpp_guards_str": {}}, read("guard_tree_2.13.txt"), "0/0"),
        artifact("recompile_reasons", read("recompile_reasons_2.6.txt"), "0/4"),
        artifact("dynamo_graph_break_reason", read("graph_break_loop_2.13.txt"), "1/0"),
        record({"dynamo_cpp_guards_str": {}}, read("guard_tree_2.6.txt"), "1/0"),
    ]
    trace.write_bytes("".join(texts).encode())
    return aoti_logs.load(trace)


def test_a_row_a_line_of_each_tree(run):
    frame = run.guards
    trees = [read_guard_tree(read(f"guard_tree_{v}.txt")) for v in ("2.13", "2.6")]
    assert frame["text"].to_list() == [n.line.text for tree in trees for n in tree.nodes]
    assert frame["guarded"].to_list() == [n.guarded for tree in trees for n in tree.nodes]
    assert frame["depth"].to_list() == [n.line.depth for tree in trees for n in tree.nodes]
    assert frame["compile_id"].unique(maintain_order=True).to_list() == ["0/0", "1/0"]
    assert set(frame["rank"]) == {3}
    assert frame["tree"].unique(maintain_order=True).to_list() == run.guard_trees["line"].to_list()


def test_a_rows_line_is_that_of_the_file(run):
    (source,) = run.subjects
    for line, text in run.guards.select("line", "text").iter_rows():
        assert source.line_text(line).endswith(text)


def test_tensors_of_guards_are_columns(run):
    row = run.guards.filter(kind="TENSOR_MATCH", compile_id="1/0").row(0, named=True)
    assert (row["tensor"], row["dtype"], row["requires_grad"]) == ("L['events']", "torch.float32", False)
    assert row["size"] == [None, None]
    assert row["stride"] == [None, "1"]
    assert row["dispatch_keys"] == ["CPU", "BackendSelect", "ADInplaceOrView", "AutogradCPU"]
    assert (row["user_line"], row["user_function"]) == (26, "forward")
    assert row["user_file"].endswith("scenarios.py")


def test_trees_are_counted(run):
    first = run.guard_trees.row(0, named=True)
    assert (first["n_lines"], first["n_guards"], first["n_managers"], first["n_unparsed"]) == (22, 12, 5, 0)
    assert first["latency_us"] > 0
    assert run.guards.filter("is_leaf").height == run.guard_trees["n_guards"].sum()


def test_reasons_have_the_new_compile_and_the_cached_one(run):
    frame = run.recompile_reasons
    assert set(frame["compile_id"]) == {"0/4"}
    assert frame["position"].to_list() == list(range(frame["n_reasons"][0]))
    assert frame["cached_compile_id"].to_list() == ["0/3", "0/2", "0/1", "0/0"][-frame.height :]


def test_a_graph_break_is_a_row(run):
    row = run.graph_breaks.row(0, named=True)
    assert (row["compile_id"], row["user_line"], row["function"]) == ("1/0", 32, "f")
    assert (row["gb_id"], row["skipped"], len(row["hints"])) == ("gb0025", True, 2)


def test_reasons_of_torch_2_4_come_from_its_metrics(tmp_path):
    reasons = ["builtin: print [x] False", "<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>", 3]
    entry = {
        "compilation_metrics": {"restart_reasons": reasons},
        "frame_id": 0,
        "frame_compile_id": 0,
        "attempt": 0,
    }
    trace = tmp_path / "a.log"
    trace.write_text(f"V1129 12:00:00.000000 1 torch/a.py:1] {json.dumps(entry)}\n")
    assert aoti_logs.load(trace).graph_breaks["reason"].to_list() == ["builtin: print [x] False", "3"]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_without_traces_has_the_tables_empty(tmp_path, name):
    (tmp_path / "a.log").write_text("nothing\n")
    frame = aoti_logs.load(tmp_path).tables[name]
    assert frame.height == 0
    assert frame.columns == list(tables.schema(name).columns())


@pytest.mark.parametrize("name", NAMES)
def test_frames_fit_their_schema(run, name):
    assert tables.schema(name).is_valid(run.tables[name])


LINES = sorted({line for path in PAYLOADS.glob("guard_tree_*") for line in path.read_text().split("\n")})


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from(LINES) | st.text(max_size=9), max_size=9).map("\n".join), max_size=4)
)
def test_rows_are_those_of_the_trees_read_one_by_one(texts):
    data = "".join(record({"dynamo_cpp_guards_str": {}}, text) for text in texts).encode()
    trace = TraceIndex(Source("a.log", Kind.TORCH_TRACE, lambda: data))
    frame = guards.of_traces([trace])
    trees = [read_guard_tree(r.text) for r in trace]
    nodes = [n for tree in trees for n in tree.nodes]
    assert frame["text"].to_list() == [n.line.text for n in nodes]
    assert frame["kind"].to_list() == [n.line.kind for n in nodes]
    assert frame["guarded"].to_list() == [n.guarded for n in nodes]
    assert frame["is_leaf"].sum() == sum(tree.n_guards for tree in trees)


@pytest.mark.live
def test_tables_hold_what_a_program_does(tmp_path, root_dir):
    """Every recompile of fixtures/record/recompiles.py, with the installed torch."""
    script = root_dir / "fixtures" / "record" / "recompiles.py"
    environment = {"TORCH_TRACE": str(tmp_path / "trace"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, check=True, timeout=200)
    run = aoti_logs.load(tmp_path / "trace")
    reasons = run.recompile_reasons
    assert {"size", "rank", "stride", "dtype", "requires_grad", "dispatch_key_set", "type"} <= set(
        reasons["what"]
    )
    first = reasons.filter(what="size").row(0, named=True)
    assert (first["tensor"].removeprefix("L['").removesuffix("']"), first["expected"], first["actual"]) == (
        "x",
        "4",
        "5",
    )
    assert run.guard_trees["n_unparsed"].sum() == 0
    assert run.guards.filter(pl.col("kind") == "TENSOR_MATCH")["dtype"].null_count() == 0
    assert "recompiles.py" in {Path(f).name for f in run.guards["user_file"].drop_nulls()}
