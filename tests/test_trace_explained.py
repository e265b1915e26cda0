"""What a trace says went wrong: one finding a failure, and nothing certain that is not."""

from pathlib import Path

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
        {
            "what": "size 0 of `x`",
            "kind": "size",
            "n_reasons": 2,
            "values": ["2", "3", "4"],
            "compile_ids": ["0/0", "0/1"],
        }
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


def test_a_finding_has_the_ranks_of_its_traces(ranks: Path):
    run = aoti_logs.load(ranks)
    (cause,) = [f for f in run.explain() if f.role == "cause"]
    assert (cause.rank, cause.facts["ranks"]) == (0, [0, 2])
    assert [f.rank for f in run.explain(rank=2)] == [2]


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
