"""Fast and slow ways to a trace agree, and no value that an envelope or payload may hold raises or is misread."""

import hashlib
import json
import re
from time import process_time
from typing import Any

import pytest

import aoti_logs
from aoti_logs import _workers
from aoti_logs._run import Run
from aoti_logs.records.trace import TraceIndex
from aoti_logs.sources.source import Kind, Source
from aoti_logs.tables import from_traces, python_frames

HUGE = 10**400
PREFIX = "V1129 12:12:31.417000 7281 torch/x.py:1]"


def record(payload: str | None = None, prefix: str = PREFIX, **envelope: Any) -> bytes:
    if payload is not None:
        envelope["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    lines = "".join(f"\t{line}\n" for line in payload.split("\n")) if payload is not None else ""
    return f"{prefix} {json.dumps(envelope)}\n{lines}".encode()


def event(name: str, phase: str, ts: float = 1, **args: object) -> bytes:
    return record(json.dumps({"name": name, "ph": phase, "ts": ts, "args": args}), chromium_event={})


def index_of(*records: bytes) -> TraceIndex:
    data = b"".join(records)
    return TraceIndex(Source("trace.log", Kind.TORCH_TRACE, lambda: data))


def run_of(*records: bytes) -> Run:
    data = b"".join(records)
    return Run([Source("trace.log", Kind.TORCH_TRACE, lambda: data)], [], ())


EMPTY = "d41d8cd98f00b204e9800998ecf8427e"


@pytest.mark.parametrize(
    "records",
    [
        (record(x={}, frame_id=1, frame_compile_id=0), record(x={}, frame_id=1.0, frame_compile_id=0)),
        (record(x={}, frame_id=1, frame_compile_id=0), record(x={}, frame_id=True, frame_compile_id=False)),
        (record(x={}, frame_id=[1], frame_compile_id=0, rank={}), record(x={}, rank=0)),
        (f'{PREFIX} {{"x":{{}},"has_payload":"{EMPTY}"}}\n'.encode(),),
        tuple(record(x={}, prefix=f"V1129 12:10:21.1 474{n} torch/x.py:1]") for n in (1, 2)),
        tuple(record(x={}, prefix=f"V1129 12:10:21.123 4{n} torch/x.py:1]") for n in (1, 2)),
        (record(x={"a": float("nan")}, subgraph_name="s", frame_id=1, frame_compile_id=2),),
        (event("a", "B"), re.sub(rb'd": "..', rb'd": "\\q', event("a", "B")), event("a", "B")),
    ],
)
def test_all_records_at_once_say_what_each_says_alone(records):
    alone, together = index_of(*records), index_of(*records)
    names = ("compile_id", "compile", "attempt", "rank", "line", "process", "emitter")
    said = [[getattr(r, name) for name in names] for r in alone]
    context, checks = together.context, together.checks
    assert [[getattr(r, name) for name in names] for r in together] == said
    assert [here[2:] for here in context.here] == [(r.compile, r.rank) for r in alone]
    assert checks == [r.check() for r in alone]


def test_an_envelope_with_nan_has_its_subgraph_and_unknown_fields():
    context = index_of(record(x={"a": float("nan")}, subgraph_name="s", odd=1)).context
    assert (context.subgraphs, context.unknown) == ({0: "s"}, {0: ["odd"]})


def test_numbers_too_large_for_a_float_raise_in_no_table():
    fields = dict.fromkeys(
        ("start_time_us", "start_time", "duration_us", "entire_frame_compile_time_s", "end_time_us"), HUGE
    )
    run = run_of(
        event("a", "B", HUGE),
        event("a", "E", HUGE),
        record(json.dumps({"time_saved_ns": HUGE}), artifact={"name": "fx_graph_cache_hit"}),
        record(compilation_metrics=fields, frame_id=0, frame_compile_id=0),
    )
    for name in from_traces():
        assert run.tables[name] is not None


@pytest.mark.parametrize("depth", [250, 260, 990, 1000, 1023])
def test_json_nested_as_deep_as_it_can_be_read_raises_in_no_table(depth):
    deep = "[" * depth + "]" * depth
    run = run_of(
        *(
            f"{PREFIX} {envelope}\n".encode()
            for envelope in (
                f'{{"compilation_metrics": {{"a": {deep}}}}}',
                f'{{"artifact": {{"name": "b", "x": {deep}}}}}',
                f'{{"describe_tensor": {{"size": [{deep}], "o": {deep}}}}}',
                f'{{"chromium_event": {{}}}}\n\t{{"name": "a", "ph": "B", "args": {{"a": {deep}}}}}',
            )
        )
    )
    for name in from_traces():
        assert run.tables[name] is not None


@pytest.mark.parametrize("components", [5, True, {"a": 1}, "text"])
def test_components_of_a_cache_key_that_are_no_list_are_none(components):
    run = run_of(record(json.dumps({"components": components}), artifact={"name": "fx_graph_cache_miss"}))
    assert run.caches["components"].to_list() == [[]]


def test_true_is_no_id_of_a_string_and_no_name_of_a_function():
    frame = {"line": True, "name": None, "filename": True}
    run = run_of(record(str=["a.py", 1]), record(str=[None, 2]), record(dynamo_start={"stack": [frame]}))
    assert run.strings["id"].to_list() == [1]
    assert run.python_frames.select("file", "file_line", "function").row(0) == (None, None, "")
    [found] = run.record("trace.log", 3).frames([frame])
    assert (found.file, found.line, found.name) == (None, None, "")


def test_spans_that_end_below_others_take_no_quadratic_time():
    def work(n: int) -> float:
        open_ = [event("open", "B")] * n
        crossing = [event("x", "B"), event("y", "B"), event("x", "E"), event("y", "E")] * n
        run = run_of(*open_, *crossing)
        _ = run.evidence.traces[0].context
        begun = process_time()
        events = run.events
        took = process_time() - begun
        assert (events["depth"].max(), events["phase"].to_list().count("span")) == (n + 1, 2 * n)
        return took

    work(100)
    assert work(8_000) < 12 * work(2_000) + 0.2


def test_depth_and_parent_are_those_of_spans_that_are_still_open():
    run = run_of(
        event("x", "B"), event("y", "B"), event("x", "E"), event("z", "B"), event("y", "E"), event("z", "E"),
        event("w", "i"),
    )  # fmt: skip
    assert run.events.select("name", "depth", "parent").rows() == [
        ("x", 0, None), ("y", 1, "x"), ("z", 1, "y"), ("w", 0, None),
    ]  # fmt: skip


def test_how_an_aot_inductor_compile_without_metrics_ended_is_not_known():
    graph = record("graph", aot_forward_graph={})
    code = record("code", graph_dump={"name": "inductor_aot_code"})
    assert run_of(graph, code).compiles["status"].to_list() == ["missing"]
    run = run_of(event("compile_fx_aot", "B"), graph, event("compile_fx_aot", "E"))
    assert run.compiles["status"].to_list() == ["missing"]


def test_a_begin_without_end_is_unfinished_although_another_compile_ends_last():
    begin, end = event("compile_fx_aot", "B"), event("compile_fx_aot", "E")
    assert len(index_of(begin, begin, end).aot_compiles.unfinished) == 1


def test_compiles_that_overlap_in_threads_are_each_in_the_table_with_the_record_that_is_certainly_theirs():
    begin, end = event("compile_fx_aot", "B"), event("compile_fx_aot", "E")
    run = run_of(begin, begin, end, record("graph", aot_inference_graph={}), end)
    assert run.compiles.select("compile_id", "n_records").rows() == [("aoti/0", 1), ("aoti/1", 1)]
    assert run.traces["compile_ids"].to_list() == [["aoti/0", "aoti/1"]]
    assert run.artifacts["compile_id"].to_list() == [None]


def test_an_end_is_not_paired_with_the_begin_of_another_compile():
    run = run_of(event("x", "B", 1, compile_id="0/0"), event("x", "E", 2, compile_id="1/0"))
    assert run.events.select("phase", "duration_us").rows() == [("begin", None), ("end", None)]
    run = run_of(event("x", "B", 1, compile_id="None"), event("x", "E", 2, compile_id="1/0"))
    assert run.events["duration_us"].to_list() == [1]


IDS: dict[str, Any] = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def test_what_is_written_before_a_repeated_dynamo_start_belongs_to_the_compile_that_begins():
    def events(phase: str) -> bytes:
        payload = json.dumps({"name": "dynamo", "ph": phase, "args": {"compile_id": "0/0"}})
        return record(payload, chromium_event={}, **IDS)

    one = (
        events("B")
        + record("why", artifact={"name": "recompile_reasons"}, **IDS)
        + record(str=["a.py", 0])
        + record(dynamo_start={"stack": []}, **IDS)
        + record(compilation_metrics={"graph_op_count": 1, "num_graph_breaks": 3}, **IDS)
        + events("E")
    )
    compiles = run_of(one, one).compiles
    assert compiles["n_records"].to_list() == [5, 5]
    assert compiles["line"].to_list() == [1, 10]
    assert compiles["n_graph_breaks"].to_list() == [0, 0]


def test_a_compile_of_which_no_graph_came_is_empty_though_the_number_of_its_operations_is_null():
    start = record(dynamo_start={"stack": []}, **IDS)
    metrics = record(compilation_metrics={"graph_op_count": None, "has_guarded_code": True}, **IDS)
    graph = record("graph", dynamo_output_graph={"sizes": {}}, **IDS)
    assert run_of(start, metrics).compiles["status"].to_list() == ["empty"]
    assert run_of(start, graph, metrics).compiles["status"].to_list() == ["ok"]


def test_files_of_a_compile_take_no_quadratic_time():
    def work(n: int) -> float:
        records = [record("code", inductor_output_code={"filename": f"/a/{i}.py"}, **IDS) for i in range(n)]
        run = run_of(*records, records[0])
        _ = run.evidence.traces[0].context
        begun = process_time()
        assert run.compiles["files"].list.len().to_list() == [n]
        return process_time() - begun

    work(100)
    assert work(12_000) < 12 * work(3_000) + 0.2


def of_stack(*ids: int) -> bytes:
    frames = [{"line": 1, "name": "f", "filename": number} for number in ids]
    return record(dynamo_start={"stack": frames}, **IDS)


def family(child: bytes, *others: bytes) -> TraceIndex:
    traces: list[TraceIndex] = []
    for number, data in enumerate((child, *others)):
        source = Source(f"{number}.log", Kind.TORCH_TRACE, lambda data=data: data)  # type: ignore[misc]
        traces.append(TraceIndex(source, lambda: traces))
    return traces[0]


def strings_of(trace: TraceIndex, record_: int) -> list[str | None]:
    """The files of a stack, once as a record has them and once as the table does."""
    [*alone] = [frame.file for frame in trace[record_].frames(trace[record_].metadata["stack"])]
    assert [row[7] for row in python_frames.of_trace(trace) if row[1] == trace[record_].line] == alone
    return alone


def test_a_string_that_a_child_lost_is_not_its_parents_of_the_same_id():
    child = of_stack(0, 1, 2, 3) + record(str=["child.py", 1]) + of_stack(0, 1, 2, 3)
    parent = b"".join(record(str=[f"parent{number}.py", number]) for number in range(4))
    trace = family(child, parent)
    assert strings_of(trace, 0) == ["parent0.py", None, None, None]
    assert strings_of(trace, 2) == ["parent0.py", "child.py", None, None]


def test_a_trace_that_does_not_define_all_that_a_child_inherited_is_not_its_parent():
    child = of_stack(0, 1, 2) + record(str=["child.py", 2])
    assert strings_of(family(child, record(str=["a.py", 0])), 0) == [None] * 3
    parent = record(str=["a.py", 0]) + record(str=["b.py", 1])
    assert strings_of(family(child, record(str=["x.py", 0]), parent), 0) == ["a.py", "b.py", None]


def test_a_worker_takes_no_module_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "orjson.py").write_text("raise SystemExit(5)\n")
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        (tmp_path / f"dedicated_log_torch_trace_{number}aaaaaaa.log").write_bytes(event("a", "B"))
    monkeypatch.setattr(_workers, "SMALLEST", 0)
    monkeypatch.setenv(_workers.VARIABLE, "2")
    traces = aoti_logs.load(tmp_path).evidence.traces
    with _workers.Workers(traces, ["strings"]) as workers:
        [worker] = workers._workers
        assert worker.process.wait() == 0


def test_threads_that_torch_2_4_prints_for_processes_share_their_compiles():
    one, two = (f"V1129 12:12:31.417000 14000000000000{n} torch/x.py:1]" for n in (1, 2))
    graph = record("graph", prefix=two, aot_forward_graph={})
    run = run_of(
        record(prefix=one, dynamo_start={"stack": []}, **IDS),
        record(prefix=one, compilation_metrics={"graph_op_count": 1}, **IDS),
        record(prefix=two, bwd_compilation_metrics={"is_forward": False}, **IDS),
        graph,
        record("code", prefix=one, graph_dump={"name": "inductor_aot_code"}),
    )
    assert run.compiles.select("compile_id", "has_backward").rows() == [("0/0", True), ("aoti/0", False)]
    assert run.trace_records["compile_id"].to_list() == [*["0/0"] * 3, *["aoti/0"] * 2]
