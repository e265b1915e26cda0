"""A failure that a log and a trace tell is one finding only where it is sure that they are of one run."""

import shutil
from pathlib import Path

import pytest

import aoti_logs

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
FAILED = FIXTURES / "cpu_trace_failing_backend"


@pytest.fixture
def run(tmp_path):
    shutil.copyfile(FAILED / "run.log", tmp_path / "run.log")
    (trace,) = (FAILED / "trace").glob("*.log")
    shutil.copyfile(trace, tmp_path / "dedicated_log_torch_trace_aaaaaaaa.log")
    return tmp_path


def causes(folder):
    return [finding for finding in aoti_logs.load(folder).explain().findings if finding.role == "cause"]


def test_a_log_and_its_trace_are_one_finding_with_a_link_to_the_trace(run):
    (finding,) = causes(run)
    assert [link.step for link in finding.chain].count("trace") == 1


def test_of_two_traces_with_the_same_failure_neither_is_a_link(run):
    (trace,) = run.glob("*trace*")
    other = trace.read_bytes().replace(b" torch/", b" x/torch/", 1)
    (run / "dedicated_log_torch_trace_bbbbbbbb.log").write_bytes(other)
    (finding,) = causes(run)
    assert "trace" not in [link.step for link in finding.chain]
    assert sum("cannot be told" in note for note in finding.notes) == 2


def test_of_two_logs_with_the_same_failure_neither_gets_the_trace_as_a_link(run):
    shutil.copyfile(run / "run.log", run / "again.log")
    [found] = causes(run)
    assert found.facts["n_seen"] == 2
    assert not [link for link in found.chain if link.step == "trace"]


def test_a_trace_torn_before_the_metrics_does_not_lay_the_failure_to_a_backward(tmp_path):
    (trace,) = (FIXTURES / "cpu_trace_fullgraph" / "trace").glob("*.log")
    data = trace.read_bytes()
    (tmp_path / "torn.log").write_bytes(data[: data.index(b'"compilation_metrics"')])
    explanation = aoti_logs.load(tmp_path / "torn.log").explain()
    kinds = [finding.kind for finding in explanation.findings]
    assert "dynamo_unsupported" in kinds
    assert "backward" not in str(explanation)
