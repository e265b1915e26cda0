"""`run.doctor()` and `aoti-logs doctor`: what is at hand of a run, and how to record what is not."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.rules.checkup import Checkup, EvidenceKind, State
from tests.code_damage import Damaged, damaged

FIXTURES = Path(__file__).parent.parent / "fixtures"
runner = CliRunner()


def doctor(*path: str) -> Checkup:
    return aoti_logs.load([FIXTURES / p for p in path]).doctor()


def line(one: EvidenceKind) -> str:
    assert one.recording is not None
    return one.recording.line


@pytest.mark.parametrize(
    "name",
    [
        "cpu_gather_empty_table",
        "gpu_illegal_read_blocking",
        "gpu_ranks_one",
        "cpu_printer",
        "cpu_package_plain",
    ],
)
def test_screen_of_a_checkup(name: str, golden):
    done = runner.invoke(app, ["doctor", str(FIXTURES / name)])
    assert done.exit_code == 0, done.output
    golden(f"screens/doctor/{name}.txt", done.output)


def test_whole_evidence_of_a_failure_is_found():
    found = doctor("cpu_gather_empty_table")
    here = {e.kind for e in found.evidence if e.state is State.HERE}
    assert here >= {
        "error text (stderr)",
        "Python stack",
        "native stack",
        "generated wrapper",
        "kernels' text",
        "trace (TORCH_TRACE)",
        "ranges of sizes",
        "names of inputs",
    }


def test_a_log_alone_lacks_all_code_and_keeps_the_command():
    found = doctor("cpu_gather_empty_table/run.log")
    assert found["generated wrapper"].state is State.MISSING
    assert line(found["input check"]) == (
        "AOTI_RUNTIME_CHECK_INPUTS=1 python /srv/demo/demo.py serve cpu_gather_empty_table"
    )


def test_what_the_compile_records_is_built_from_the_command_that_compiled():
    assert line(doctor("cpu_gather_empty_table")["printed values"]) == (
        "TORCHINDUCTOR_CACHE_DIR=/srv/demo/cpu_gather_empty_table/cache "
        "TORCH_TRACE=/srv/demo/cpu_gather_empty_table/trace "
        "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2 python /srv/demo/demo.py build cpu_gather_empty_table"
    )


def test_a_package_that_is_run_has_no_command_that_compiles():
    assert "<the command that compiles the model>" in line(
        doctor("cpu_gather_empty_table/run.log")["trace (TORCH_TRACE)"]
    )


def test_launches_wait_only_where_the_command_says_so():
    assert doctor("gpu_illegal_read_blocking")["launches that wait"].state is State.HERE
    assert doctor("gpu_illegal_read")["launches that wait"].state is State.MISSING
    assert doctor("cpu_gather_empty_table")["launches that wait"].state is State.NOT_NEEDED


def test_reports_of_tools_are_found():
    assert doctor("gpu_sanitizer_write")["memory checker"].state is State.HERE
    assert doctor("gpu_illegal_read_core")["core dump, debugger"].state is State.HERE
    assert doctor("cpu_death_gdb")["core dump, debugger"].state is State.HERE


def test_ranks_that_left_nothing_are_named_with_the_launcher_that_keeps_their_logs():
    found = doctor("gpu_ranks_one")["other ranks"]
    assert found.state is State.PARTLY
    assert "nothing of 0" in found.found
    assert "--redirects 3" in line(found)


def test_printed_values_are_evidence_and_names_alone_only_in_part():
    assert doctor("cpu_printer")["printed values"].state is State.HERE
    assert doctor("cpu_names_printed")["printed values"].state is State.PARTLY


def test_code_that_prints_without_a_log_of_it_asks_for_stdout():
    found = doctor("cpu_printer/sources")["printed values"]
    assert found.state is State.MISSING
    assert line(found).startswith("PYTHONUNBUFFERED=1")


def test_versions_are_told_by_trace_and_package():
    assert set(doctor("cpu_gather_empty_table").versions.values()) >= {"2.13.0+cpu"}
    assert doctor("cpu_package_plain").versions == {"model.pt2": "2.12 or later"}


def test_bytes_that_no_reader_knows_add_up():
    path = FIXTURES / "cpu_gather_empty_table" / "run.log"
    [log] = doctor("cpu_gather_empty_table/run.log").logs
    assert log.bytes == path.stat().st_size
    run = aoti_logs.load(path)
    [(source, _)] = run.logs()
    assert log.unparsed_bytes == sum(end - start for _, start, end in run.spans_of(source)[1])


def test_a_log_that_ends_within_a_line_may_be_cut(tmp_path: Path):
    data = (FIXTURES / "cpu_gather_empty_table" / "run.log").read_bytes()
    (tmp_path / "run.log").write_bytes(data[:3000])
    [log] = aoti_logs.load(tmp_path).doctor().logs
    assert "cut off" in log.doubts[0]


def test_json_has_every_kind_with_its_recording():
    done = runner.invoke(app, ["doctor", str(FIXTURES / "gpu_ranks_one"), "-f", "json"])
    told = json.loads(done.output)
    assert told["schema"] == 1
    assert {e["state"] for e in told["evidence"]} <= {str(s) for s in State}
    assert all(e["recording"] for e in told["evidence"] if e["state"] == "missing")


@settings(max_examples=25)
@given(damaged((FIXTURES / "cpu_printer" / "run.log").read_text()))
def test_damage_never_raises(tmp_path_factory, text: Damaged):
    path = tmp_path_factory.mktemp("damaged") / "run.log"
    path.write_bytes(text.data or b"\n")
    found = aoti_logs.load(path).doctor()
    assert str(found)
    assert found.to_dict()["evidence"]
