"""What may be taken for the failing run's own: its numbers, its stacks, its code."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.sources.source import Kind, Source, Span

PRINTER = "cpu_printer"
"""An id beyond the vocabulary, with the value printer's records before it."""


@pytest.fixture
def explain(fixtures_dir: Path, tmp_path: Path):
    """Explain a text with the code of a fixture as context."""

    def run(text: bytes | str, context: str) -> aoti_logs.Finding:
        (tmp_path / "run.log").write_bytes(text if isinstance(text, bytes) else text.encode())
        answer = aoti_logs.load(tmp_path / "run.log", context=fixtures_dir / context).explain()
        return next(f for f in answer if f.role == "cause")

    return run


@pytest.fixture
def printed(fixtures_dir: Path) -> str:
    return (fixtures_dir / PRINTER / "run.log").read_text()


def test_the_numbers_of_the_failing_call_prove(explain, printed: str):
    assert explain(printed, PRINTER).confidence == "proven"


def test_the_numbers_of_an_earlier_process_prove_nothing(explain, printed: str):
    """A command line between the records and the failure starts another run."""
    at = printed.index("Error: index out of bounds")
    finding = explain(printed[:at] + "exit code: 0\n$ python serve.py\n" + printed[at:], PRINTER)
    assert finding.confidence == "possible"
    assert {v.code for v in finding.verdicts} >= {"AL103", "AL105", "AL106"}


def test_records_of_another_model_prove_nothing(explain, printed: str):
    finding = explain(printed.replace("cpp_fused_embedding_tanh_0", "cpp_fused_other_0", 1), PRINTER)
    assert finding.confidence == "possible"


def test_records_prove_nothing_about_code_that_prints_none(explain, printed: str, fixtures_dir: Path):
    """The wrapper at hand has no value printer, so the records are another model's."""
    plain = (fixtures_dir / "cpu_int32_ids" / "run.log").read_text()
    at = printed.index("Error: index out of bounds")
    start = printed.index("[  aoti_model_inputs")
    finding = explain(printed[start:at] + plain, "cpu_int32_ids")
    assert finding.confidence == "possible"


def test_an_error_of_a_later_process_does_not_follow(explain, printed: str):
    later = (
        "exit code: 1\n$ python other.py\nterminate called after throwing an instance of 'std::bad_alloc'\n"
    )
    finding = explain(printed + later, PRINTER)
    assert not any("bad_alloc" in c.text for c in finding.consequences)


@pytest.mark.parametrize(
    ("log", "context"),
    [
        ("cpu_gather_empty_table", "cpu_embedding_id_beyond_vocab"),
        ("cpu_size_expression", "cpu_gather_empty_table"),
        ("gpu_empty_events", "cpu_gather_empty_table"),
    ],
)
def test_the_code_of_another_model_is_not_taken(explain, fixtures_dir: Path, log: str, context: str):
    finding = explain((fixtures_dir / log / "run.log").read_bytes(), context)
    assert finding.rule == "AL100"
    assert finding.facts.get("bound") is None


def test_the_code_of_another_compile_is_at_most_possible(explain, fixtures_dir: Path):
    """Same kernel name, same check, other file: the names in the log say so."""
    text = (fixtures_dir / "cpu_gather_empty_table" / "run.log").read_text()
    stem = text.partition(".kernel.cpp")[0][-52:]
    finding = explain(text.replace(stem, "c" + "a" * 51), "cpu_gather_empty_table")
    assert finding.confidence == "possible"
    own = {"assertion", "called"}  # what the log itself says
    assert all(link.strength != "proven" for link in finding.chain if link.step not in own)


def test_an_assertion_of_aten_is_a_failure(explain):
    line = (
        "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1289: indexSelectLargeIndex: block: [3,0,0], "
        "thread: [32,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"
    )
    finding = explain(line * 3 + "CUDA error: device-side assert triggered\n", "cpu_ok")
    assert finding.kind == "aten_index_assert"
    assert finding.consequences


def test_an_exit_code_alone_is_a_failure(explain):
    finding = explain("loading the model\nexit code: 139\n", "cpu_ok")
    assert (finding.kind, finding.facts["signal"]) == ("segfault", "SIGSEGV")


def test_findings_of_other_ranks_are_counted_not_lost(tmp_path: Path):
    line = "[rank{}]: x.py:3: unknown: block: [0,0,0], thread: [0,0,0] Assertion `index out of bounds: 0 <= tmp0 < {}` failed.\n"
    (tmp_path / "run.log").write_text("".join(line.format(n, n + 10) for n in range(3)))
    answer = aoti_logs.load(tmp_path / "run.log").explain(rank=1)
    assert [f.rank for f in answer] == [1]
    assert any("other ranks" in p for p in answer.problems)


def test_each_run_of_a_log_has_its_own_errors(fixtures_dir: Path, tmp_path: Path):
    """Two recorded runs in one log: the lost assertion of the second is no note of the first."""
    names = ("gpu_gather_dynamic_bound", "gpu_assert_text_lost")
    (tmp_path / "run.log").write_bytes(b"".join((fixtures_dir / n / "run.log").read_bytes() for n in names))
    causes = [f.rule for f in aoti_logs.load(tmp_path / "run.log").explain() if f.role == "cause"]
    assert causes == ["AL100", "AL109"]


@pytest.mark.parametrize(
    ("shape", "stride", "dense"),
    [
        ((3,), (1,), True),
        ((4, 4), (1, 4), True),
        ((1, 4), (1, 1), True),
        ((3,), (2,), False),
        ((3, 3), (5, 1), False),
        ((4, 4), (0, 1), False),
    ],
)
def test_a_transposed_tensor_has_the_memory_of_a_contiguous_one(shape, stride, dense):
    from aoti_logs.parse.events import Dump
    from aoti_logs.rules.al110_index_layout import _dense

    span = Span(Source("run.log", Kind.LOG, lambda: b""), 0, 0)
    assert _dense(Dump("cpp", "inputs", None, "a", span, shape=shape, stride=stride)) is dense
