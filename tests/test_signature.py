"""Signatures: the same failure has the same one in another folder, process and rank; another failure has another."""

import shutil
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Finding

ALL = sorted(p.parent.name for p in (Path(__file__).parent.parent / "fixtures").glob("*/run.log"))


def causes(folder: Path, log: str = "run.log") -> list[Finding]:
    return [f for f in aoti_logs.load(folder / log, context=folder).explain().findings if f.role == "cause"]


@pytest.mark.parametrize("name", ALL)
def test_an_unknown_failure_has_no_signature(name: str, fixtures_dir: Path):
    for finding in causes(fixtures_dir / name):
        if finding.confidence == "unknown":
            assert finding.facts["signature"] is None
        elif finding.facts["signature"] is not None:
            assert len(finding.facts["signature"]) == 16


@pytest.mark.parametrize("name", ["gpu_size_outside_range", "cpu_aoti_input_dtype", "cpu_trace_fullgraph"])
def test_paths_addresses_and_times_are_no_part_of_it(name: str, fixtures_dir: Path, tmp_path: Path):
    [before] = causes(fixtures_dir / name)
    copy = tmp_path / "elsewhere"
    shutil.copytree(fixtures_dir / name, copy)
    for path in copy.rglob("*"):
        if path.is_file() and path.suffix in {".log", ".cpp", ".py"}:
            path.write_bytes(path.read_bytes().replace(b"/srv/demo", b"/data/elsewhere/deep"))
    [after] = causes(copy)
    assert before.facts["signature"] == after.facts["signature"] is not None


def test_different_fixtures_have_different_signatures(fixtures_dir: Path):
    seen: dict[str, str] = {}
    for name in (
        "gpu_size_outside_range",
        "gpu_embedding_literal_bound",
        "cpu_aoti_input_dtype",
        "cpu_aoti_input_count",
        "gpu_nan_assert",
    ):
        for finding in causes(fixtures_dir / name):
            signature = finding.facts["signature"]
            assert seen.setdefault(signature, name) == name


def test_the_same_failure_in_two_logs_is_told_once_with_a_count(fixtures_dir: Path, tmp_path: Path):
    shutil.copytree(fixtures_dir / "cpu_aoti_input_dtype", tmp_path / "run")
    for n in ("a.log", "b.log"):
        shutil.copy(fixtures_dir / "cpu_aoti_input_dtype" / "run.log", tmp_path / n)
    answer = aoti_logs.load([tmp_path / "a.log", tmp_path / "b.log"]).explain()
    [cause] = [f for f in answer.findings if f.role == "cause"]
    assert cause.facts["n_seen"] == 2
    assert any(n.startswith("the same failure 2 times (a.log, b.log)") for n in cause.notes)


def test_unknown_failures_of_two_logs_stay_two(fixtures_dir: Path, tmp_path: Path):
    for n in ("a.log", "b.log"):
        shutil.copy(fixtures_dir / "gpu_illegal_read" / "run.log", tmp_path / n)
    answer = aoti_logs.load([tmp_path / "a.log", tmp_path / "b.log"]).explain()
    assert len([f for f in answer.findings if f.role == "cause"]) == 2
