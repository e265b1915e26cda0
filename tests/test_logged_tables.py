"""Tables made of what torch's loggers wrote: the same rows as a trace of the same run has, and those that no trace has."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs._run import Run
from aoti_logs.sources.source import Kind, Source

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
NAME = "cpu_trace_logged_breaks"
_NUMBERS = count(1)


@pytest.fixture(scope="module")
def logged():
    return aoti_logs.load(FIXTURES / NAME / "run.log")


@pytest.fixture(scope="module")
def traced():
    return aoti_logs.load(FIXTURES / NAME / "trace")


def run_of(text: str) -> Run:
    return Run([Source("run.log", Kind.LOG, text.encode)], [], ())


def message(text: str, module: str = "torch/_inductor/codecache.py", artifact: str | None = None) -> str:
    """Lines of one message; no two calls are of the same line of torch."""
    tag = f" [__{artifact}]" if artifact else ""
    prefix = f"V1129 12:26:30.819000 11 {module}:{next(_NUMBERS)}] [0/1_2]{tag}"
    return "".join(f"{prefix} {line}\n" for line in text.split("\n"))


def test_a_log_tells_the_graph_breaks_that_its_trace_tells(logged, traced):
    columns = ["compile_id", "file", "user_line", "kind", "gb_id", "explanation", "hints", "context", "url"]
    assert logged.graph_breaks.select(columns).rows() == traced.graph_breaks.select(columns).rows()
    assert logged.graph_breaks.height == 4


def test_the_stack_of_a_graph_break_told_before_is_not_told_again(logged):
    assert logged.graph_breaks["n_user_frames"].to_list()[2:] == [0, 0]


@pytest.mark.parametrize(
    "stage", ["dynamo_output_graph", "aot_joint_graph", "aot_forward_graph", "aot_backward_graph"]
)
def test_a_log_tells_the_graphs_that_its_trace_tells(stage, logged, traced):
    columns = ["compile_id", "inputs", "annotations", "n_nodes"]
    one, other = (
        [str(row) for row in run.graphs.filter(run.graphs["stage"] == stage).select(columns).rows()]
        for run in (logged, traced)
    )
    assert one == other
    assert one


def test_a_graphs_title_is_kept(logged):
    assert {"Joint graph 0", "Forward graph 0", "Backward graph 0"} <= set(logged.graphs["title"])


def test_a_log_is_summed_up(logged):
    (row,) = logged.log_formats.to_dicts()
    assert (row["log_format"], row["n_records"], row["n_graphs"]) == ("default", row["n_glog_records"], 20)
    assert row["compile_ids"][:3] == ["0/0", "0/0_1", "1/0"]
    assert row["n_lines"] == row["n_records"] + row["n_unprefixed_lines"]
    tags = {r["tag"]: r["n_records"] for r in logged.log_summary.to_dicts() if r["tag"]}
    assert set(tags) == {
        "__graph_breaks", "__graph_code", "__aot_graphs", "__aot_joint_graph", "__trace_source", "__trace_call",
    }  # fmt: skip
    assert sum(logged.log_summary["n_records"]) == row["n_records"]


def test_steps_tell_functions_restarts_and_why_a_graph_ends(logged):
    steps = logged.compile_steps
    restart = steps.filter(steps["step"] == "restart").to_dicts()[0]
    assert (restart["compile_id"], restart["attempt"], restart["function"]) == (
        "0/0",
        0,
        "fail_and_restart_analysis",
    )
    assert restart["reason"].startswith("_dynamo/symbolic_convert.py:")
    started = steps.filter(steps["step"] == "start tracing").to_dicts()
    assert [(s["function"], s["attempt"]) for s in started[:2]] == [("step", 0), ("step", 1)]


def test_traced_lines_have_their_code(logged):
    lines = logged.traced_lines.to_dicts()
    assert [x["code"] for x in lines if x["what"] == "line"][:3] == [
        "def step(x):",
        "y = torch.sin(x)",
        'print("rows", x.shape[0])',
    ]
    assert [x["callee"] for x in lines if x["what"] == "graph node"][:1] == ["sin"]


def test_a_log_and_a_trace_of_one_run_tell_of_graph_breaks_once():
    answer = aoti_logs.load(FIXTURES / NAME).explain()
    assert [f.kind for f in answer].count("graph_break") == 1


def test_a_log_alone_tells_of_graph_breaks_in_a_note(logged):
    (finding,) = [f for f in logged.explain() if f.kind == "graph_break"]
    assert (finding.role, finding.confidence, finding.facts["n_graph_breaks"]) == ("note", "proven", 4)
    place = finding.chain[0].place
    assert place is not None
    lines = (FIXTURES / NAME / "run.log").read_text().splitlines()
    assert "Graph break in user code at" in lines[place.line - 1]


def test_text_that_only_speaks_of_graph_breaks_is_none():
    text = (
        message("Graph break in user code at a.py:1", artifact="trace_source")
        + "Graph break in user code at a.py:1\n"
    )
    run = run_of(text)
    assert run.graph_breaks.is_empty()
    assert not [f for f in run.explain() if f.kind == "graph_break"]


def test_a_graph_break_of_which_the_beginning_was_cut_off_is_left_out():
    assert run_of(message("   f(x)\n   ^^^^", artifact="graph_breaks")).graph_breaks.is_empty()


def test_commands_are_taken_apart():
    text = (
        "aot wrapper compilation command: g++ /a/b.wrapper.cpp -D X -O3 -I/usr/include -c -o /a/b.wrapper.o"
    )
    (row,) = run_of(message(text)).commands.to_dicts()
    assert (row["step"], row["program"], row["inputs"], row["output"]) == (
        "aot wrapper compilation",
        "g++",
        ["/a/b.wrapper.cpp"],
        "/a/b.wrapper.o",
    )
    assert row["flags"] == ["-D", "X", "-O3", "-I/usr/include", "-c"]
    assert (row["compile_id"], row["text"]) == ("0/1", text.partition(": ")[2])


def test_a_command_with_a_torn_quote_is_kept():
    (row,) = run_of(message("aot linkage command: g++ 'a.o -o b.so")).commands.to_dicts()
    assert row["program"] == "g++"


def test_fusions_have_their_round():
    text = "".join(
        message(line, "torch/_inductor/scheduler.py", "fusion")
        for line in (
            "===== attempting fusion (1/10): 4 nodes =====",
            "cannot fuse op1 with op3: no shared data",
            "fusing op1 with op2",
            "completed fusion round (1/10): fused 4 nodes into 3 nodes\n",
            "===== fusion complete (1 iterations) =====",
            "cannot fuse op0_op1 with op3: no shared data",
        )
    )
    rows = run_of(text).fusions.select("round", "decision", "first", "second", "reason", "n_after").rows()
    assert rows == [
        (1, "refused", "op1", "op3", "no shared data", None),
        (1, "fused", "op1", "op2", None, None),
        (1, "round", None, None, None, 3),
        (None, "refused", "op0_op1", "op3", "no shared data", None),
    ]


def test_caches_answer_once_with_what_the_key_was_made_of():
    text = (
        message(
            "FX graph cache hash details for key fab1:\n[h1] gm: GraphModule()\n\ndef forward(self):\n[h2] b: 1"
        )
        + message("fx graph cache miss for key fab1")
        + message("Bypassing autograd cache due to: why")
    )
    rows = run_of(text).caches.select("cache", "status", "key", "reason", "components").rows()
    assert rows == [
        ("fx_graph", "miss", "fab1", None, ["[h1] gm: GraphModule()\n\ndef forward(self):", "[h2] b: 1"]),
        ("aot_autograd", "bypass", None, "why", []),
    ]


@pytest.mark.parametrize("row", ["_compile.inner      3.6468", "_compile.inner, 3.6468"])
def test_compile_times_with_and_without_the_package_tabulate(row):
    text = message(f"TorchDynamo compilation metrics:\nFunction, Runtimes (s)\n---------  -------\n{row}")
    assert run_of(text).metrics.select("entry", "metric", "value").rows() == [
        ("compile_times", "_compile.inner", 3.6468)
    ]


def test_what_caches_counted():
    text = message("Cache Metrics:\n  LocalFxGraphCache: {hit: 0, miss: 1}\n")
    assert run_of(text).metrics.select("line", "metric", "value").rows() == [
        (2, "LocalFxGraphCache.hit", 0.0),
        (2, "LocalFxGraphCache.miss", 1.0),
    ]


def test_titles_of_printed_texts_are_counted_with_what_was_written():
    text = message("Output code:\nimport torch", artifact="output_code") + message(
        "Output code written to: /a/b.py", artifact="output_code"
    )
    rows = run_of(text).code_blocks.select("title", "count", "paths").rows()
    assert rows == [("Output code", 1, []), ("Output code written to", 1, ["/a/b.py"])]


def test_a_graph_from_a_cache_is_a_graph():
    text = message(
        'Forward graph (from cache)\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, a: "f32[2]"):\n'
        "        return (a,)",
        artifact="aot_graphs",
    )
    assert run_of(text).graphs.select("stage", "title", "inputs").rows() == [
        ("aot_inference_graph", "Forward graph (from cache)", ["a"])
    ]


def test_tables_of_an_empty_log_have_no_rows():
    run = run_of("printed\n")
    for name in (
        "log_formats", "log_summary", "code_blocks", "compile_steps", "traced_lines", "fusions", "commands", "autotuning",
    ):  # fmt: skip
        assert run.tables[name].is_empty(), name


SAMPLES = [
    line.partition(": ")[2].partition(": ")[2]
    for name in ("compile_log", "autotune", "graph_break")
    for line in (ROOT / "grammars" / f"{name}.lark").read_text().splitlines()
    if line.startswith("// sample: ")
]
TABLES = (
    "log_formats", "log_summary", "code_blocks", "compile_steps", "traced_lines", "fusions", "commands", "autotuning",
    "caches", "metrics", "graph_breaks",
)  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(SAMPLES), st.sampled_from([None, "fusion", "graph_breaks"]), st.text(max_size=8)
        ),
        min_size=1,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=60)
def test_no_message_however_damaged_raises(parts, random):
    text = ""
    for sample, artifact, damage in parts:
        at = random.randrange(len(sample) + 1)
        end = random.choice([at, len(sample), min(len(sample), at + 3)])
        text += message((sample[:at] + damage + sample[end:]).replace("\r", " "), artifact=artifact)
    run = run_of(text)
    for name in TABLES:
        run.tables[name]
