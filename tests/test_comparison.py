"""Whether two runs failed alike: never on too little evidence."""

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.rules.comparison import Comparison

PAIRS = [
    ("cpu_aoti_input_dtype", "cpu_aoti_input_rank", "unlike"),
    (
        "gpu_size_outside_range",
        "gpu_gather_dynamic_bound",
        "alike but for",
    ),  # the same check; the cause is open in both
    (
        "cpu_printer_negative_index",
        "cpu_gather_negative_index",
        "not known to be alike",
    ),  # decided for one only
    ("cpu_printer_negative_index", "cpu_printer_empty_table", "unlike"),  # the same check, for another reason
    ("gpu_illegal_read", "gpu_illegal_read_blocking", "not known to be alike"),
    ("gpu_illegal_read", "gpu_illegal_read", "not known to be alike"),
    ("gpu_ranks_one", "gpu_ranks_tee", "not known to be alike"),
    ("cpu_trace_fullgraph", "cpu_trace_fullgraph", "alike"),
    ("cpu_nan_assert_input", "gpu_nan_assert", "unlike"),
    ("cpu_ok", "gpu_illegal_read", "unlike"),
    ("cpu_ok", "cpu_ok", "not known to be alike"),
]


def of(fixtures: Path, first: str, second: str) -> Comparison:
    one, other = (aoti_logs.load(fixtures / n / "run.log", context=fixtures / n) for n in (first, second))
    return one.compare(other, (first, second))


@pytest.mark.parametrize(("first", "second", "likeness"), PAIRS)
def test_likeness_of_two_recorded_runs(first: str, second: str, likeness: str, fixtures_dir: Path, golden):
    told = of(fixtures_dir, first, second)
    assert told.likeness == likeness, told.why
    assert of(fixtures_dir, second, first).likeness == likeness
    golden(f"screens/compare/{first}-{second}.txt", str(told))


def test_another_size_is_named_and_does_not_make_it_another_failure(fixtures_dir: Path, tmp_path: Path):
    before = fixtures_dir / "cpu_aoti_input_count" / "run.log"
    (tmp_path / "run.log").write_text(re.sub(r"to be 2, but got 1", "to be 3, but got 1", before.read_text()))
    told = aoti_logs.load(before).compare(aoti_logs.load(tmp_path / "run.log"))
    assert (told.likeness, told.why) == ("alike but for", "size")
    assert [(d.name, d.first, d.second) for d in told.pairs[0].differences] == [("expected_inputs", "2", "3")]


def test_a_line_that_moved_is_named(fixtures_dir: Path, tmp_path: Path):
    before = fixtures_dir / "cpu_aoti_input_dtype" / "run.log"
    text = before.read_text()
    line = re.search(r'aoti_errors_demo.py", line (\d+), in serve', text)
    assert line is not None
    (tmp_path / "run.log").write_text(text.replace(f"line {line[1]}, in serve", "line 9999, in serve"))
    told = aoti_logs.load(before).compare(aoti_logs.load(tmp_path / "run.log"))
    assert (told.likeness, told.why) == ("alike but for", "line number")


def test_two_releases_may_word_one_failure_in_two_ways():
    from aoti_logs.explain import Confidence, Finding
    from aoti_logs.rules.comparison import compared
    from aoti_logs.rules.signature import Signature

    finding = Finding("AL602", "dynamo_unsupported", "cause", "error", Confidence.PROVEN, "x", {})
    sides = [[(finding, Signature({"kind": "dynamo_unsupported", "said": said}, {}))] for said in ("a", "b")]
    assert compared(("A", "B"), sides[0], sides[1], ("2.9", "2.13")).likeness == "not known to be alike"
    assert compared(("A", "B"), sides[0], sides[1], ("2.9", "2.9")).likeness == "unlike"


def test_the_command_compares_folders_and_tells_it_by_its_exit_code(fixtures_dir: Path, tmp_path: Path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        shutil.copytree(fixtures_dir / "cpu_aoti_input_dtype", folder)
    done = CliRunner().invoke(app, ["compare", str(one), str(other), "--check"])
    assert done.exit_code == 0
    assert done.output.startswith("the runs failed alike: the same signature\n")
    other = fixtures_dir / "cpu_aoti_input_rank"
    done = CliRunner().invoke(app, ["compare", str(one), str(other), "--check", "-f", "json"])
    assert done.exit_code == 1
    assert json.loads(done.output)["likeness"] == "unlike"


def test_a_text_that_differs_is_quoted_as_its_log_words_it(fixtures_dir: Path, tmp_path: Path):
    # The CUDA runtime's text for cudaErrorInvalidAddressSpace; what is compared has lost `global/` and the number.
    log = (fixtures_dir / "gpu_illegal_read" / "run.log").read_text()
    words = ("operation not supported on global/shared address space", "device 3 of /dev/nvidia3 is lost")
    for name, text in zip("ab", words, strict=True):
        (tmp_path / f"{name}.log").write_text(log.replace("an illegal memory access was encountered", text))
    told = aoti_logs.load(tmp_path / "a.log").compare(aoti_logs.load(tmp_path / "b.log"))
    said = next(d for d in told.pairs[0].other if d.name == "said")
    for quoted, text in zip((said.first, said.second), words, strict=True):
        assert quoted.endswith(text)
    assert said.first in str(told)
