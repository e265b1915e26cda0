"""`terminate` without a text, with the generated code at hand: checks in parallel regions are possible causes."""

import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.rules.parallel_checks import parallel_regions

# What libstdc++ prints when several threads throw at once (corpus of torch 2.9: a kernel that ran on two threads).
TERMINATED = (
    "terminate called after throwing an instance of 'c10::Error'\n  what():  terminate called recursively\n"
)


def explained(tmp_path: Path, fixture: Path, *, parallel: bool, text: str = TERMINATED):
    """Explain with the code of a fixture, in which Inductor's pragma for two threads stands or does not."""
    shutil.copytree(fixture / "sources", tmp_path / "sources")
    for kernel in (tmp_path / "sources").rglob("*.kernel.cpp"):
        code = kernel.read_text()
        assert "omp parallel" not in code and "AOTI_TORCH_CHECK" in code
        if parallel:
            kernel.write_text(
                code.replace("\n    {\n", "\n    #pragma omp parallel num_threads(2)\n    {\n", 1)
            )
    (tmp_path / "run.log").write_text(text)
    (finding,) = (
        f
        for f in aoti_logs.load(tmp_path / "run.log", context=tmp_path / "sources").explain()
        if f.rule == "AL315"
    )
    return finding


def test_each_check_in_a_parallel_region_is_possible_with_its_input(tmp_path: Path, fixtures_dir: Path):
    finding = explained(tmp_path, fixtures_dir / "cpu_aoti_input_count", parallel=True)
    checks = [link for link in finding.chain if link.step == "check"]
    assert [link.text.partition(" tests ")[2] for link in checks] == [
        "0 <= tmp2 < 10L in a parallel region",
        "0 <= tmp11 < ks1 in a parallel region",
    ]
    assert all(link.strength == "possible" for link in checks)
    assert "values of `" in checks[0].details[0] and checks[0].details[0].endswith("the bound is 10")
    assert finding.confidence == "unknown"


def test_checks_outside_of_parallel_regions_are_raised_with_their_text(tmp_path: Path, fixtures_dir: Path):
    finding = explained(tmp_path, fixtures_dir / "cpu_aoti_input_count", parallel=False)
    assert [link.step for link in finding.chain] == ["error"]
    assert not any("possible" in because for because in finding.verdicts[0].because)


def test_an_exception_with_a_text_needs_no_guess(tmp_path: Path, fixtures_dir: Path):
    text = TERMINATED.replace("terminate called recursively", "no data")
    finding = explained(tmp_path, fixtures_dir / "cpu_aoti_input_count", parallel=True, text=text)
    assert [link.step for link in finding.chain] == ["error"]


def test_a_region_ends_with_the_brace_that_closes_it():
    lines = ["{", "  #pragma omp parallel num_threads(2)", "  {", '    f("}"); // }', "  }", "  g();", "}"]
    assert parallel_regions(lines) == [(1, 4)]


@given(st.lists(st.text(alphabet='{}"/ #x', max_size=12) | st.just("#pragma omp parallel for"), max_size=30))
def test_regions_of_any_text_lie_inside_of_it_and_do_not_overlap(lines: list[str]):
    found = parallel_regions(lines)
    ends = [n for region in found for n in region]
    assert ends == sorted(ends) and all(0 <= n <= len(lines) for n in ends)
