"""What a trace says went wrong: one finding a failure, and nothing certain that is not."""

import json
from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.explain import Explanation, Finding

FAILING = sorted(p.name for p in (Path(__file__).parent.parent / "fixtures").glob("cpu_trace_*"))
HEALTHY = (
    "cpu_gather_empty_table",
    "cpu_compile_gather",
    "gpu_empty_events",
    "tlparse_compile",
    "tlparse_ranks",
)


def findings(answer: Explanation, kind: str) -> list[Finding]:
    return [f for f in answer if f.kind == kind]


@pytest.fixture(scope="module")
def explained(fixtures_dir: Path):
    known: dict[str, Explanation] = {}

    def explain(name: str) -> Explanation:
        if name not in known:
            known[name] = aoti_logs.load(fixtures_dir / name / "trace").explain()
        return known[name]

    return explain


@pytest.mark.parametrize("name", FAILING)
def test_the_screen_of_a_trace_alone(name: str, explained, golden):
    from aoti_logs.render.text import render_text

    golden(f"screens/{name}.trace.txt", render_text(explained(name), everything=True))


@pytest.mark.parametrize("name", FAILING)
def test_the_screen_of_the_folder(name: str, fixtures_dir: Path, golden):
    golden(f"screens/{name}.folder.txt", str(aoti_logs.load(fixtures_dir / name).explain()))


@pytest.mark.parametrize("name", FAILING)
def test_every_link_quotes_a_line_that_exists(name: str, fixtures_dir: Path):
    run = aoti_logs.load(fixtures_dir / name)
    sources = {s.name: s for s in run.files}
    for finding in run.explain():
        for link in (*finding.chain, *finding.consequences):
            if link.place is not None:
                source = sources[link.place.source]
                assert 1 <= link.place.line <= link.place.end_line <= source.line_at(source.size), link


@pytest.mark.parametrize("name", FAILING)
def test_what_is_possible_is_worded_so(name: str, explained):
    for finding in explained(name):
        for verdict in finding.verdicts:
            if verdict.confidence == "possible":
                assert " may " in verdict.title
        if finding.confidence != "proven":
            assert finding.doubt


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_trace_has_no_cause_and_no_warning(name: str, fixtures_dir: Path):
    folder = fixtures_dir / name
    answer = aoti_logs.load(folder / "trace" if (folder / "trace").is_dir() else folder / "report").explain()
    assert not [f for f in answer if f.role == "cause" or f.severity == "warning"]


CAUSES = {
    "cpu_trace_fullgraph": ("dynamo_unsupported", "proven"),
    "cpu_trace_failing_backend": ("backend_compiler_failed", "proven"),
    "cpu_trace_data_dependent": ("data_dependent", "likely"),
    "cpu_trace_cxx_error": ("cpp_compile_error", "proven"),
    "cpu_trace_no_fake_kernel": ("export_failed", "likely"),
    "cpu_trace_quiet_backward": ("compile_failed", "proven"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_trace_has_the_cause_that_it_can_tell(name: str, explained):
    causes = [(f.kind, str(f.confidence)) for f in explained(name) if f.role == "cause"]
    assert causes == ([CAUSES[name]] if name in CAUSES else [])
    assert explained(name).failed == (name in CAUSES)


@pytest.mark.parametrize(
    ("name", "kind", "severity"),
    [
        ("cpu_trace_recompile_limit", "recompile_limit", "warning"),
        ("cpu_trace_recompile_limit", "recompile", "note"),
        ("cpu_trace_graph_break", "graph_break", "note"),
        ("cpu_trace_killed", "compile_unfinished", "warning"),
        ("cpu_trace_constraint", "specialization", "warning"),
        ("cpu_trace_specialized_auto", "specialization", "note"),
        ("cpu_trace_draft_export", "data_dependent", "warning"),
        ("cpu_trace_draft_export", "unsupported_operator", "warning"),
    ],
)
def test_what_is_no_failure_is_a_note(name: str, kind: str, severity: str, explained):
    (finding,) = findings(explained(name), kind)
    assert (finding.role, finding.severity) == ("note", severity)


def test_the_same_specialization_is_never_certain(explained):
    """One export failed for it, the other did not; their traces differ in the quoted call alone."""
    (failed,) = findings(explained("cpu_trace_constraint"), "specialization")
    (meant,) = findings(explained("cpu_trace_specialized_auto"), "specialization")
    assert (failed.confidence, meant.confidence) == ("likely", "possible")
    assert failed.facts["symbol"] == meant.facts["symbol"]
    assert (failed.facts["input"], failed.facts["dim"], failed.facts["value"]) == ("x", 0, 8)


def test_an_error_in_generated_code_quotes_that_code(explained):
    (finding,) = findings(explained("cpu_trace_cxx_error"), "cpp_compile_error")
    (code,) = [k for k in finding.chain if k.step == "code"]
    assert code.text == "auto tmp1 = compile error!;"


def test_generated_code_is_not_blamed_for_an_error_elsewhere(fixtures_dir: Path, tmp_path: Path):
    """The compiler fails on another file: the kernel in the trace is not the one."""
    (trace,) = (fixtures_dir / "cpu_trace_cxx_error" / "trace").iterdir()
    data = trace.read_bytes()
    at = data.index(b'"fail_reason"')
    other = data[at:].replace(b".kernel.cpp:16:33", b"x.cpp:16:33")
    (tmp_path / trace.name).write_bytes(data[:at] + other)
    (finding,) = findings(aoti_logs.load(tmp_path).explain(), "cpp_compile_error")
    assert not [k for k in finding.chain if k.step == "code"]


def test_a_recompile_names_what_changed_and_its_values(explained):
    (finding,) = findings(explained("cpu_trace_recompile_limit"), "recompile")
    assert finding.facts["changed"] == [
        {"what": "size 0 of `x`", "values": ["2", "3", "4"], "compile_ids": ["0/0", "0/1"]}
    ]
    assert finding.facts["n_events"] == 2
    assert finding.fixes[0].startswith("torch._dynamo.mark_dynamic(x, 0)")


def test_a_failure_has_function_and_users_line(explained):
    (finding,) = findings(explained("cpu_trace_fullgraph"), "dynamo_unsupported")
    assert finding.facts["function"] == "forward"
    assert finding.facts["user_frame"]["code"] == 'print("rows", x.shape[0])'
    assert finding.facts["n_failures"] == 1


def test_log_and_trace_of_one_failure_are_one_finding(fixtures_dir: Path):
    for name in ("cpu_trace_fullgraph", "cpu_trace_failing_backend", "cpu_trace_data_dependent", "cpu_trace_cxx_error",
                 "cpu_trace_no_fake_kernel", "cpu_trace_quiet_backward", "cpu_trace_constraint"):  # fmt: skip
        (cause,) = [f for f in aoti_logs.load(fixtures_dir / name).explain() if f.severity != "note"]
        assert cause.role == "cause"
        assert {k.place.source.partition("/")[0] for k in cause.chain if k.place} == {"run.log", "trace"}, (
            name
        )


def test_findings_of_a_trace_that_is_only_context_are_not_shown(fixtures_dir: Path):
    folder = fixtures_dir / "cpu_trace_recompile_limit"
    answer = aoti_logs.load(fixtures_dir / "cpu_ok" / "run.log", context=folder / "trace").explain()
    assert not answer.findings


@pytest.fixture
def ranks(fixtures_dir: Path, tmp_path: Path) -> Path:
    """A folder of three ranks, of which one fails and one is healthy."""
    for rank, name in enumerate(("cpu_trace_fullgraph", "cpu_trace_graph_break", "cpu_trace_fullgraph")):
        (trace,) = (fixtures_dir / name / "trace").iterdir()
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_abc.log").write_bytes(trace.read_bytes())
    return tmp_path


def test_a_finding_has_the_rank_of_its_trace(ranks: Path):
    run = aoti_logs.load(ranks)
    assert [f.rank for f in run.explain() if f.role == "cause"] == [0, 2]
    assert [f.rank for f in run.explain(rank=2)] == [2]


# ---------------------------------------------------------------- made traces


class Trace:
    """Records as torch writes them, for what takes many programs to record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dedicated_log_torch_trace_made.log"
        self.lines: list[str] = []

    def add(self, entry: str, fields: Any, payload: str | None = None, **ids: Any) -> None:
        envelope: dict[str, Any] = {entry: fields, **ids}
        if payload is not None:
            from hashlib import md5

            envelope["has_payload"] = md5(payload.encode()).hexdigest()
        self.lines.append(f"V1129 12:00:00.000000 77 torch/_dynamo/x.py:1] {json.dumps(envelope)}")
        if payload is not None:
            self.lines += [f"\t{line}" for line in payload.split("\n")]

    def start(self, number: int = 0, name: str = "f", frame: int = 0, above: tuple[str, ...] = ()) -> None:
        stack = [{"line": 5, "name": n, "filename": 0} for n in (*above, name)]
        self.add("dynamo_start", {"stack": stack}, frame_id=frame, frame_compile_id=number, attempt=0)

    def end(self, number: int = 0, frame: int = 0, **fields: Any) -> None:
        metrics = {
            "fail_type": None,
            "fail_reason": None,
            "co_name": "f",
            "co_filename": "m.py",
            "co_firstlineno": 5,
        }
        self.add("compilation_metrics", metrics | fields, frame_id=frame, frame_compile_id=number, attempt=0)

    def artifact(self, name: str, payload: str, number: int = 0) -> None:
        fields = {"name": name, "encoding": "string"}
        self.add("artifact", fields, payload, frame_id=0, frame_compile_id=number, attempt=0)

    def explain(self) -> Explanation:
        text = ['V1129 12:00:00.000000 77 torch/_logging/structured.py:28] {"str": ["m.py", 0]}', *self.lines]
        self.path.write_text("\n".join(text) + "\n")
        return aoti_logs.load(self.path).explain()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return Trace(tmp_path)


UNSUPPORTED: dict[str, Any] = {"fail_type": "Unsupported", "fail_reason": "builtin: print [] False"}


def test_what_old_torch_could_not_trace_may_have_run_as_python(trace: Trace):
    """Before 2.13 a trace does not tell fullgraph=True from a function that is given up: no cause."""
    trace.start()
    trace.end(**UNSUPPORTED)
    (finding,) = trace.explain()
    assert (finding.role, finding.severity, str(finding.confidence)) == ("note", "warning", "likely")


def test_what_was_exported_cannot_have_run_as_python(trace: Trace):
    stack = [{"line": 1, "name": "main", "filename": 0}, {"line": 2, "name": "export", "filename": 1}]
    trace.lines.append(
        'V1129 12:00:00.000000 77 torch/x.py:1] {"str": ["/opt/lib/site-packages/torch/export/__init__.py", 1]}'
    )
    trace.add("dynamo_start", {"stack": [*stack, *stack[:1]]}, frame_id=0, frame_compile_id=0, attempt=0)
    trace.end(**UNSUPPORTED)
    (finding,) = trace.explain()
    assert (finding.role, str(finding.confidence)) == ("cause", "proven")


def test_a_graph_break_in_the_same_compile_tells_that_it_was_handled(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_graph_break_reason", "Graph break in user code at m.py:7\nReason: Unsupported: builtin: print"
    )
    trace.end(**UNSUPPORTED)
    assert {(f.kind, f.role, f.severity) for f in trace.explain()} == {
        ("dynamo_unsupported", "note", "note"),
        ("graph_break", "note", "note"),
    }


def test_a_later_compile_under_the_function_tells_that_it_was_handled(trace: Trace):
    trace.start()
    trace.end(**UNSUPPORTED)
    trace.start(frame=1, name="g", above=("main", "f"))
    trace.end(frame=1, co_name="g")
    (finding,) = trace.explain()
    assert (finding.role, str(finding.confidence)) == ("note", "proven")


def test_suppressed_errors_are_no_cause(trace: Trace):
    trace.start()
    trace.end(
        fail_type="BackendCompilerFailed",
        fail_reason="backend='b' raised:\nValueError: boom",
        config_suppress_errors=True,
    )
    (finding,) = trace.explain()
    assert (finding.role, finding.severity) == ("note", "warning")


def test_the_limit_is_a_cause_only_where_it_was_raised(trace: Trace):
    trace.start()
    trace.end()
    trace.artifact("recompile_reasons", "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3", 1)
    trace.end(
        1,
        fail_type="FailOnRecompileLimitHit",
        fail_reason="Hard failure due to fullgraph=True",
        dynamo_config='{"recompile_limit": 1}',
    )
    (limit,) = findings(trace.explain(), "recompile_limit")
    assert (limit.role, limit.facts["limit"], limit.facts["function"]) == ("cause", 1, "f")
    assert limit.facts["last_reason"]["actual"] == 3


def test_a_failure_at_every_call_is_one_finding(trace: Trace):
    for number in range(20):
        trace.start(number)
        trace.end(number, fail_type="TorchRuntimeError", fail_reason="Failed running f(*(), **{}):\nno")
    (finding,) = findings(trace.explain(), "fake_tensor_error")
    assert finding.facts["n_times"] == 20
    assert finding.facts["compile_ids"][:2] == ["0/0", "0/1"]


def test_metrics_and_traceback_of_one_compile_are_one_finding(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_error",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: boom',
    )
    trace.end(fail_type="ValueError", fail_reason="boom")
    assert len(trace.explain().findings) == 1


def test_a_traceback_without_metrics_is_a_failure_of_an_unfinished_trace(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_error",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: boom',
    )
    assert {f.kind for f in trace.explain()} == {"compile_failed", "compile_unfinished"}


def test_an_id_that_begins_again_is_another_compile(trace: Trace):
    """After torch._dynamo.reset() ids begin at 0/0."""
    for _ in range(2):
        trace.start()
        trace.end()
    trace.start()
    assert [f.kind for f in trace.explain()] == ["compile_unfinished"]


def test_damaged_metrics_leave_open_whether_a_compile_ended(trace: Trace):
    trace.start()
    trace.lines.append(
        'V1129 12:00:00.000000 77 torch/_dynamo/x.py:1] {"compilation_metrics": {"fail_type": nul'
    )
    assert not trace.explain().findings


def test_a_partial_graph_of_a_compile_that_recovered_is_nothing(trace: Trace):
    trace.start()
    trace.artifact("make_fx_fail_partial", 'def forward(self, x):\n    y: "Sym(u0 > 5)" = x > 5\n')
    trace.end()
    assert not trace.explain().findings


def test_many_functions_that_were_given_up_are_no_pile(trace: Trace):
    for frame in range(30):
        trace.start(frame=frame, name=f"f{frame}")
        trace.end(frame=frame, co_name=f"f{frame}", **UNSUPPORTED)
    answer = trace.explain()
    assert sum(f.severity == "warning" for f in answer) == 3
    assert len(answer.findings) == 30


@pytest.mark.parametrize("value", [None, 7, [], {}, "x\x00\x1b[31m", True])
def test_fields_that_hold_anything_do_not_raise(trace: Trace, value: Any):
    trace.add("dynamo_start", {"stack": value}, frame_id=0, frame_compile_id=0, attempt=0)
    for entry in ("symbolic_shape_specialization", "propagate_real_tensors_provenance", "guard_on_data_dependent_error",
                  "missing_fake_kernel", "mismatched_fake_kernel", "compilation_metrics", "bwd_compilation_metrics"):  # fmt: skip
        trace.add(entry, value)
        trace.add(entry, dict.fromkeys(("expr", "op", "reason", "stack", "user_stack", "sources", "symbol", "fail_type",
                                        "fail_reason", "dynamo_config", "restart_reasons", "co_name"), value))  # fmt: skip
    trace.artifact("recompile_reasons", str(value))
    trace.artifact("dynamo_graph_break_reason", str(value))
    trace.artifact("make_fx_fail_partial", str(value))
    str(trace.explain())


# ---------------------------------------------------------------- the corpus


@pytest.mark.corpus
def test_no_trace_of_the_corpus_raises(corpus_dir: Path):
    for path in sorted(corpus_dir.rglob("dedicated_log_torch_trace*.log"))[:400]:
        str(aoti_logs.load(path).explain())


@pytest.mark.corpus
def test_traces_of_compiles_that_succeeded_have_no_cause(corpus_dir: Path):
    folders = [
        p
        for p in corpus_dir.glob("versions/*/*/trace*")
        if not p.parent.name.startswith(("fail", "jit_err", "jit_event"))
    ]
    assert len(folders) > 60
    for folder in folders:
        assert not aoti_logs.load(folder).explain().failed, folder
