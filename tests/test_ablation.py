"""With less evidence an explanation gets weaker, never wrong, and says what it lacks."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import aoti_logs
from tests.ablation import ablations, causes, notes, stronger, unnamed
from tests.conftest import CORPUS

FIXTURES = [
    "cpu_aoti_bag",
    "cpu_aoti_input_count",
    "cpu_aoti_input_dtype",
    "cpu_compile_gather",
    "cpu_embedding_id_beyond_vocab",
    "cpu_input_checks",
    "cpu_nan_assert_input",
    "cpu_printer",
    "cpu_printer_shared_dim",
    "cpu_ranks_one",
    "cpu_trace_cxx_error",
    "cpu_two_asserts_one_kernel",
    "cpu_two_kernels_same_assert",
    "gpu_assert_embedding",
    "gpu_compile_nan_assert",
    "gpu_gather_dynamic_bound",
    "gpu_illegal_read_blocking",
    "gpu_inductor_kernel",
    "gpu_input_device",
    "gpu_names_printed",
    "gpu_position_beyond_table",
    "gpu_product_cpu_input",
    "gpu_sanitizer_triton",
    "gpu_two_kernels_same_assert",
]
"""Failures of different kinds and of different sources; `AOTI_LOGS_ALL_ABLATIONS=1` takes all that there are."""
ALL = bool(os.environ.get("AOTI_LOGS_ALL_ABLATIONS"))
if ALL:
    FIXTURES = sorted(p.parent.name for p in (Path(__file__).parent.parent / "fixtures").glob("*/run.log"))


def less_and_less(folder: Path, log: str, work: Path) -> tuple[list[str], int]:
    """Return what is wrong in the explanations with less evidence, and how many there were."""
    whole, noted = causes(folder, log), notes(folder, log)
    wrong, n = [], 0
    for less in ablations(folder, log, work):
        n += 1
        found = causes(less.folder, log)
        wrong += [f"without {less.name}: {word}" for word in stronger(whole, less, found, noted)]
        wrong += [
            f"without {less.name} it is not said how to record it: {u}" for u in unnamed(whole, less, found)
        ]
    return wrong, n


@pytest.mark.parametrize("name", FIXTURES)
def test_less_evidence_makes_the_answer_weaker_and_never_wrong(name: str, fixtures_dir: Path, tmp_path: Path):
    wrong, n = less_and_less(fixtures_dir / name, "run.log", tmp_path)
    assert n
    assert wrong == []


def _failures(corpus: Path) -> list[tuple[str, str]]:
    """Return (folder, log) of recorded failures that ran code: one of each kind."""
    found: dict[str, tuple[str, str]] = {}
    for name in ("gpu-torch2.11", "cpu-torch2.13", "versions"):
        file = corpus / name / "cases.jsonl"
        for line in file.read_text().splitlines() if file.is_file() else ():
            case = json.loads(line)
            kind, folder = case["expected"].get("kind", "none"), f"{name}/{case['case']}"
            if kind == "none" or "torch_" in case["case"]:
                continue
            found.setdefault(f"{folder} {case['log']}" if ALL else kind, (folder, case["log"]))
    return list(found.values())


@pytest.mark.corpus
@pytest.mark.parametrize(("folder", "log"), _failures(CORPUS))
def test_less_evidence_of_the_corpus_makes_the_answer_weaker_and_never_wrong(
    folder: str, log: str, corpus_dir: Path, tmp_path: Path
):
    case = tmp_path / "case"
    shutil.copytree(corpus_dir / folder, case)
    name = log if (case / log).is_relative_to(case) and ".." not in log else Path(log).name
    shutil.copyfile(corpus_dir / folder / log, case / name)
    assert less_and_less(case, name, tmp_path / "less")[0] == []


def _without(name: str, fixtures_dir: Path, work: Path, part: str) -> aoti_logs.Finding:
    return next(
        causes(less.folder, "run.log")[0]
        for less in ablations(fixtures_dir / name, "run.log", work)
        if less.name == part
    )


@pytest.mark.parametrize("name", ["cpu_two_asserts_one_kernel", "cpu_two_kernels_same_assert"])
def test_of_several_checks_that_fit_no_fact_is_of_one_alone(name: str, fixtures_dir: Path, tmp_path: Path):
    """Without the frames the log does not say whether user or item ids failed."""
    finding = _without(name, fixtures_dir, tmp_path, "native frames")
    assert not re.search(r"user|item", str({k: v for k, v in finding.facts.items() if k.startswith("index")}))
    assert finding.facts["literal_bound"] == {"value": 1000}
    assert any("item_ids" in why for verdict in finding.verdicts for why in verdict.because)
    assert any("item_ids" in str(link.details) for link in finding.chain)
    assert any("Exception raised from" in m.how_to_record for m in finding.missing)


def test_values_that_the_code_prints_and_the_log_lacks_are_asked_for_without_a_recompile(
    fixtures_dir: Path, tmp_path: Path
):
    finding = _without("cpu_printer", fixtures_dir, tmp_path, "printer records")
    assert any("stdout" in m.how_to_record for m in finding.missing)
    assert {e.takes_effect for e in finding.experiments} == {"run"}


@pytest.mark.parametrize("name", ["cpu_aoti_input_dtype", "cpu_aoti_input_count"])
def test_the_name_of_an_input_that_no_source_tells_is_asked_for(
    name: str, fixtures_dir: Path, tmp_path: Path
):
    finding = _without(name, fixtures_dir, tmp_path, "compile.log")
    assert "input_name" not in finding.facts
    assert "input_names" not in finding.facts
    assert any("name" in m.what for m in finding.missing)
