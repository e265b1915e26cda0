"""Tables built by other processes are the tables built here."""

import subprocess
import sys
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import aoti_logs
from aoti_logs import _workers
from aoti_logs.sources.source import Kind, Source

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RANKS = ("cpu_compile_gather", "gpu_compile_gather", "cpu_gather_empty_table")


@pytest.fixture
def ranks(tmp_path):
    for rank, name in enumerate(RANKS):
        (trace,) = (FIXTURES / name / "trace").glob("*.log")
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_abcdefgh.log").write_bytes(trace.read_bytes())
    return tmp_path


@pytest.mark.parametrize("processes", [2, 3])
def test_frames_of_workers_equal_frames_of_one_process(ranks, monkeypatch, processes):
    alone = dict(aoti_logs.load(ranks).tables.items())
    monkeypatch.setattr(_workers, "SMALLEST", 0)
    monkeypatch.setenv(_workers.VARIABLE, str(processes))
    started = []
    start = _workers.Workers._start

    def counted(self, number, group):
        started.append(list(group))
        return start(self, number, group)

    monkeypatch.setattr(_workers.Workers, "_start", counted)
    together = dict(aoti_logs.load(ranks).tables.items())
    assert [number for group in started for number in group] == [0, 1, 2]
    assert len(started) == processes - 1
    assert together.keys() == alone.keys()
    for name, frame in alone.items():
        assert_frame_equal(frame, together[name])


def test_small_traces_are_read_here(ranks, monkeypatch):
    monkeypatch.setattr(_workers.Workers, "_start", lambda *_: pytest.fail("a worker was started"))
    aoti_logs.load(ranks).tables.values()


def test_one_process_starts_no_worker(ranks, monkeypatch):
    monkeypatch.setattr(_workers, "SMALLEST", 0)
    monkeypatch.setenv(_workers.VARIABLE, "1")
    monkeypatch.setattr(_workers.Workers, "_start", lambda *_: pytest.fail("a worker was started"))
    aoti_logs.load(ranks).tables.values()


def test_a_worker_that_dies_costs_nothing_but_time(ranks, monkeypatch):
    alone = dict(aoti_logs.load(ranks).tables.items())
    monkeypatch.setattr(_workers, "SMALLEST", 0)
    monkeypatch.setenv(_workers.VARIABLE, "2")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    for name, frame in aoti_logs.load(ranks).tables.items():
        assert_frame_equal(frame, alone[name])


def test_members_of_archives_and_pipes_are_not_given_away(tmp_path):
    packed = tmp_path / "trace.log.gz"
    packed.write_bytes(b"\x1f\x8b\x08\x00")
    assert not _workers.can_be_given_away(Source("a", Kind.TORCH_TRACE, lambda: b"", path=packed))
    assert not _workers.can_be_given_away(Source("stdin", Kind.TORCH_TRACE, lambda: b""))


def test_a_script_without_a_main_guard_may_ask_for_all_tables(ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import aoti_logs, aoti_logs._workers as w\n"
        "w.SMALLEST = 0\n"
        f"print(sum(f.height > 0 for f in aoti_logs.load({str(ranks)!r}).tables.values()) > 10)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
