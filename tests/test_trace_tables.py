"""What the tables of a trace say, of recorded runs and of single records."""

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import aoti_logs
from aoti_logs._run import Run
from aoti_logs.parse.traces.maps import with_handle
from aoti_logs.sources.source import Kind, Source

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@pytest.fixture(scope="module")
def jit():
    return aoti_logs.load(FIXTURES / "cpu_compile_gather" / "trace")


@pytest.fixture(scope="module")
def aot():
    return aoti_logs.load(FIXTURES / "cpu_gather_empty_table" / "trace")


def record(payload: str | None = None, **envelope: object) -> bytes:
    """One record as torch writes it."""
    if payload is not None:
        envelope["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    lines = "".join(f"\t{line}\n" for line in payload.split("\n")) if payload is not None else ""
    return f"V1129 12:12:31.417000 7281 torch/x.py:1] {json.dumps(envelope)}\n{lines}".encode()


def event(name: str, phase: str, ts: float, compile_id: str = "0/0", **args: object) -> bytes:
    payload = {
        "name": name,
        "ph": phase,
        "ts": ts,
        "args": {"compile_id": compile_id, **args},
        "cat": "dynamo_timed",
    }
    return record(json.dumps(payload), chromium_event={}, frame_id=0, frame_compile_id=0, attempt=0)


def artifact(name: str, value: object, **envelope: object) -> bytes:
    payload = value if isinstance(value, str) else json.dumps(value)
    return record(payload, artifact={"name": name, "encoding": "json"}, **envelope)


def run_of(*records: bytes) -> Run:
    return Run([Source("trace.log", Kind.TORCH_TRACE, lambda: b"".join(records))], [], ())


IDS: dict[str, Any] = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def test_a_trace_is_summed_up_in_one_row(jit):
    row = jit.traces.row(0, named=True)
    assert (row["torch_version"], row["n_records"], row["n_str_records"], row["n_payloads"]) == (
        "2.13.0+cpu", 148, 17, 120,
    )  # fmt: skip
    assert (row["compile_ids"], row["string_ids"], row["pids"]) == (["0/0"], [0, 16], [16419])
    assert (row["n_damaged"], row["n_unparsed"], row["n_dangling_frames"]) == (0, 0, 0)


def test_entries_add_up_to_the_records(jit):
    assert jit.entries["n_records"].sum() == jit.trace_records.height == 148
    assert jit.entries["bytes"].sum() == (jit.records["end"] - jit.records["start"]).sum()
    assert jit.entries["known"].all()


def test_records_and_their_lines_follow_each_other(jit):
    assert jit.trace_records["number"].to_list() == list(range(148))
    assert jit.trace_records["line"].is_sorted()
    assert jit.trace_records.filter(pl.col("payload_bytes").is_not_null())["intact"].all()


def test_a_compile_says_what_it_was_and_how_it_ended(jit):
    row = jit.compiles.row(0, named=True)
    assert (row["compile_id"], row["kind"], row["status"], row["function"]) == (
        "0/0",
        "dynamo",
        "ok",
        "forward",
    )
    assert row["duration_us"] == 24431289.0
    assert row["files"][0].endswith("cc3h2cy3b4u2xvyzwbms4yl5r6gqvcn465j6bjnuecv2haoayrck.py")


def test_an_aot_inductor_compile_has_an_id_of_its_own(aot):
    assert aot.compiles.select("compile_id", "kind", "status").rows() == [("aoti/0", "aot_inductor", "ok")]
    assert aot.compiles["files"][0].len() == 2
    assert set(aot.graphs["compile_id"]) == {"aoti/0"}


def test_configurations_are_listed_once(jit):
    assert set(jit.config["config"]) == {"dynamo", "inductor", "functorch", "compiler"}
    value = jit.config.filter((pl.col("config") == "inductor") & (pl.col("name") == "max_autotune"))
    assert value["value"].to_list() == ["false"]


def test_metrics_of_a_compile_keep_their_names(jit):
    found = jit.metrics.filter(pl.col("metric") == "graph_op_count").row(0, named=True)
    assert (found["entry"], found["value"], found["text"]) == ("compilation_metrics", 3.0, None)


def test_inputs_are_described_with_their_storages(jit):
    found = jit.tensors.select("origin", "input_name", "dtype", "device", "shape").rows()
    assert [row[:4] for row in found] == [
        ("L['table']", "table", "torch.float32", "cpu"),
        ("L['idx']", "idx", "torch.int64", "cpu"),
    ]
    assert jit.tensors["storage_bytes"].is_not_null().all()


def test_stacks_name_their_files(jit):
    start = jit.python_frames.filter(pl.col("entry") == "dynamo_start")
    assert start["file"].to_list()[-1] == "/srv/demo/models.py"
    assert jit.python_frames["file"].is_not_null().all()


def test_begins_and_ends_become_spans():
    run = run_of(
        event("a", "B", 1.0), event("b", "B", 2.0, x=1), event("b", "E", 5.0, y=2), event("a", "E", 9.0)
    )
    found = run.events.select("name", "phase", "start_us", "duration_us", "depth", "parent").rows()
    assert found == [("a", "span", 1.0, 8.0, 0, None), ("b", "span", 2.0, 3.0, 1, "a")]
    assert json.loads(run.events["args"][1]) == {"compile_id": "0/0", "x": 1, "y": 2}


def test_spans_of_two_threads_are_paired_by_their_compile():
    run = run_of(
        event("a", "B", 1.0, "0/0"), event("a", "B", 2.0, "0/1"), event("a", "E", 3.0, "0/0"), event("a", "E", 9.0, "0/1")
    )  # fmt: skip
    assert run.events["duration_us"].to_list() == [2.0, 7.0]


def test_half_a_span_is_kept_as_what_it_is():
    run = run_of(event("lost", "E", 4.0), event("torn", "B", 5.0), event("moment", "i", 6.0))
    assert run.events.select("name", "phase", "start_us", "duration_us").rows() == [
        ("lost", "end", None, None), ("torn", "begin", 5.0, None), ("moment", "instant", 6.0, None),
    ]  # fmt: skip


def test_an_event_that_is_no_object_is_no_row():
    assert run_of(record("[1]", chromium_event={}), record("torn {", chromium_event={})).events.is_empty()


def test_attempts_are_merged_and_a_reset_is_not():
    start = record(dynamo_start={"stack": []}, **IDS)
    again = record(dynamo_output_graph={}, frame_id=0, frame_compile_id=0, attempt=2)
    run = run_of(start, again, start)
    assert run.compiles.select("compile_id", "attempts", "n_records", "status").rows() == [
        ("0/0", 3, 2, "missing"), ("0/0", 1, 1, "missing"),
    ]  # fmt: skip
    assert run.traces["trace_ids"].to_list() == [["0/0", "0/0_2"]]


@pytest.mark.parametrize(
    ("metrics", "status"),
    [
        ({"fail_type": "Unsupported", "fail_reason": "no"}, "error"),
        ({"restart_reasons": ["why"], "graph_op_count": 1}, "break"),
        ({"graph_op_count": 0}, "empty"),
        ({"graph_op_count": 2}, "ok"),
    ],
)
def test_a_compile_ends_as_its_metrics_say(metrics, status):
    assert run_of(record(compilation_metrics=metrics, **IDS)).compiles["status"].to_list() == [status]


def test_a_class_that_torch_2_4_writes_as_repr_is_a_name():
    metrics = {"fail_type": "<class 'torch._dynamo.exc.UserError'>", "fail_reason": "no"}
    run = run_of(record(compilation_metrics=metrics, **IDS))
    assert run.compiles["fail_type"].to_list() == ["torch._dynamo.exc.UserError"]
    assert run.failures["exception_type"].to_list() == ["torch._dynamo.exc.UserError"]


def test_unknown_entries_and_fields_are_kept_and_counted():
    run = run_of(
        record("text", my_entry={"a": 1}, **IDS),
        record(describe_source={"id": 0, "describer_id": 0, "source": "L['x']", "new": 1}, **IDS),
        record(dynamo_start={"stack": []}, later=1, **IDS),
    )
    assert run.traces["unknown_entries"].to_list() == [["my_entry"]]
    assert run.entries.filter(~pl.col("known"))["entry"].to_list() == ["my_entry"]
    assert run.trace_records["unknown_fields"].to_list() == [None, ["describe_source.new"], ["later"]]


def test_a_hit_saves_time_and_an_instant_repeats_no_artifact():
    hit = {
        "key": "abc",
        "cache_state": "hit",
        "time_saved_ns": 2000,
        "components": ["[h] gm: a", "more", "[i] b: 1"],
    }
    run = run_of(
        artifact("fx_graph_cache_hit", hit, **IDS),
        event("fx_graph_cache_hit", "i", 1.0, key="abc"),
        event("autograd_cache_bypass", "i", 2.0, cache_bypass_reason="why"),
    )
    found = run.caches.select("entry", "cache", "status", "key", "reason", "time_saved_us").rows()
    assert found == [
        ("artifact", "fx_graph", "hit", "abc", None, 2.0),
        ("chromium_event", "aot_autograd", "bypass", None, "why", None),
    ]
    assert run.caches["components"].to_list() == [["[h] gm: a\nmore", "[i] b: 1"], []]


@pytest.mark.parametrize(
    ("kernel", "name", "handle"),
    [
        ("cpp_fused_relu_0:2", "cpp_fused_relu_0", 2),
        ("at::native::mm:13", "at::native::mm", 13),
        ("at::native::mm", "at::native::mm", None),
        ("triton_poi_fused_0", "triton_poi_fused_0", None),
    ],
)
def test_handles_come_off_names_that_hold_colons(kernel, name, handle):
    assert with_handle(kernel) == (name, handle)


def test_both_kinds_of_provenance_become_pairs():
    run = run_of(
        artifact(
            "inductor_provenance_tracking_node_mappings",
            {"cppCodeToPost": {"k:1": ["a", "b"]}, "version": 2.0},
        ),
        artifact("inductor_post_to_pre_grad_nodes", {"a": [{"name": "linear", "from_node": []}]}),
    )
    assert run.provenance.select("mapping", "origin", "origin_handle", "target").rows() == [
        ("cppCodeToPost", "k", 1, "a"), ("cppCodeToPost", "k", 1, "b"), ("postToPre", "a", None, "linear"),
    ]  # fmt: skip


def test_collectives_estimates_and_order_keep_their_positions():
    op = {
        "name": "mm",
        "type": "compute",
        "estimated_runtime_ns": 1.5,
        "outputs": [{"shape": [2, 3], "dtype": "f16"}],
    }
    run = run_of(
        artifact("inductor_collective_schedule", ["all_reduce", "wait"], rank=1, **IDS),
        artifact("inductor_runtime_and_tensor_meta", {"ops": [op]}, rank=1, **IDS),
        artifact("graph_execution", {"graph_execution_order": [{"compile_id": "0/1"}, {"compile_id": None}]}),
        artifact("inductor_graph_execution", {"graph": "graph_0"}),
    )
    assert run.collectives.select("rank", "number", "op").rows() == [(1, 0, "all_reduce"), (1, 1, "wait")]
    assert run.runtime_estimates.select("op", "estimated_runtime_ns", "shapes").rows() == [
        ("mm", 1.5, ["[2,3]"])
    ]
    assert run.execution_order.select("number", "ran", "graph").rows() == [
        (0, "0/1", None), (1, None, None), (0, None, "graph_0"),
    ]  # fmt: skip


def test_expressions_say_what_was_decided_and_what_could_not_be():
    run = run_of(
        record(guard_added_fast={"expr": "Eq(Mod(s77, 2), 0)"}, **IDS),
        record(propagate_real_tensors={"expr": "u0 > 5", "result": "False"}),
        record(
            guard_on_data_dependent_error={"expr": "Eq(u0, 1)", "unhinted_expr": "Eq(u0, 1)", "expr_id": 7}
        ),
        record(
            expression_created={"method": "add", "result": "s1 + 1", "result_id": 3, "arguments": ["s1", "1"]}
        ),
    )
    assert run.expressions.select("expression", "python", "result", "node_id").rows() == [
        ("Eq(Mod(s77, 2), 0)", "s77 % 2 == 0", None, None),
        ("u0 > 5", "u0 > 5", "False", None),
        ("Eq(u0, 1)", "u0 == 1", None, 7),
        ("s1 + 1", "s1 + 1", None, 3),
    ]
    assert run.failures["expression"].to_list() == ["Eq(u0, 1)"]


def test_a_replaced_symbol_is_a_constant_only_where_it_became_a_number():
    run = run_of(
        record(
            symbolic_shape_specialization={
                "symbol": "s0",
                "value": "8",
                "reason": "solve",
                "sources": ["L['x']"],
            }
        ),
        record(symbolic_shape_specialization={"symbol": "u1", "value": "u0", "reason": "rename_unbacked_to"}),
    )
    assert run.replacements.select("symbol", "value", "constant").rows() == [
        ("s0", "8", 8),
        ("u1", "u0", None),
    ]


def test_symbols_keep_their_range_as_printed():
    run = run_of(
        record(
            create_symbol={"symbol": "s0", "val": "8", "vr": "[2, int_oo]", "source": "L['x'].size()[0]"},
            **IDS,
        ),
        record(create_unbacked_symbol={"symbol": "zuf0", "vr": "[-oo, oo]", "node_id": 1}),
    )
    assert run.symbols.select("symbol", "kind", "range", "lower", "upper", "compile_id").rows() == [
        ("s0", "backed", ["2", "int_oo"], 2, None, "0/0"),
        ("zuf0", "unbacked", ["-oo", "oo"], None, None, None),
    ]


def test_the_rank_of_a_record_counts_before_that_of_the_file():
    source = Source("rank_3/x.log", Kind.TORCH_TRACE, lambda: record(x={}, rank=5) + record(x={}), rank=3)
    run = Run([source], [], ())
    assert run.trace_records["rank"].to_list() == [5, 3]
    assert run.traces.select("rank", "ranks").row(0) == (3, [5])


def test_every_payload_has_a_row_whatever_it_is_called():
    run = run_of(
        record(link={"name": "profile", "url": "https://example.org"}, **IDS),
        record("x" * 5000, my_entry={"a": 1}, **IDS),
        artifact("fx_graph_runnable", "import torch", **IDS),
        artifact("fx_graph_runnable", "import torch", **IDS),
        record("[]", dynamo_guards={}, **IDS),
    )
    assert run.artifacts.select("entry", "name", "ordinal", "metadata", "payload_bytes").rows() == [
        ("link", "profile", 0, '{"url":"https://example.org"}', None),
        ("my_entry", None, 0, '{"a":1}', 5000),
        ("artifact", "fx_graph_runnable", 0, None, 12),
        ("artifact", "fx_graph_runnable", 1, None, 12),
        ("dynamo_guards", None, 0, None, 2),
    ]
    assert run.artifacts["text"][1] == "x" * 1000
    assert run.record("trace.log", 2).text == "x" * 5000


@pytest.fixture(scope="module")
def ranks():
    return aoti_logs.load(FIXTURES / "gpu_ranks" / "trace")


def test_ranks_are_told_apart_in_every_table(ranks):
    assert ranks.traces.select("rank", "ranks").rows() == [(0, [0]), (1, [1])]
    for name in (
        "compiles",
        "events",
        "metrics",
        "collectives",
        "runtime_estimates",
        "guards",
        "execution_order",
    ):
        assert set(ranks.tables[name]["rank"]) == {0, 1}, name


def test_collectives_of_a_gpu_run_are_in_their_order(ranks):
    ops = ["all_reduce_", "all_gather_into_tensor", "wait_tensor", "wait_tensor"]
    expected = [f"torch.ops._c10d_functional.{op}.default" for op in ops]
    for rank in (0, 1):
        found = ranks.collectives.filter(pl.col("rank") == rank)
        assert [op.replace("_out", "") for op in found["op"]] == expected


def test_only_the_rank_with_other_rows_compiled_again(ranks):
    found = ranks.recompile_reasons.select(
        "rank", "compile_id", "tensor", "what", "expected", "actual"
    ).rows()
    assert found == [(1, "1/1", "x", "size", "4", "5")]
    assert ranks.execution_order.select("rank", "ran").rows()[-1] == (1, "0/0")
