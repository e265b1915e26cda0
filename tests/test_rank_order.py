"""Which rank failed first, and whether logs are of one run: times and names tell, else it is said that nothing does."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.rules.rank_order import of_one_run

_CRASH = """Traceback (most recent call last):
  File "/srv/app/run.py", line 9, in <module>
    step({value})
KeyError: '{value}'
"""


def _findings(folder: Path, **logs: str):
    for name, text in logs.items():
        (folder / f"{name}.log").write_text(text)
    return aoti_logs.load(folder).explain().findings


def _rank(rank: int, text: str, time: str = "") -> str:
    stamp = f"{time} " if time else ""
    return "".join(f"{stamp}[rank{rank}]: {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("names", "same"),
    [
        (("run/attempt_0/0/stderr.log", "run/attempt_0/1/stderr.log"), True),
        (("rank_0.log", "rank_1.log"), True),
        (("x.log", "x.log"), True),
        (("run/attempt_0/0/stderr.log", "run/attempt_1/1/stderr.log"), False),
        (("monday/rank_0.log", "tuesday/rank_1.log"), False),
    ],
)
def test_logs_whose_names_differ_in_the_rank_only_are_of_one_run(names: tuple[str, str], same: bool):
    assert of_one_run([(names[0], 0), (names[1], 1)]) is same


def test_that_nothing_joins_two_logs_is_said_beside_the_same_failure(tmp_path: Path):
    (finding,) = _findings(
        tmp_path,
        monday=_rank(0, _CRASH.format(value="a")),
        tuesday=_rank(1, _CRASH.format(value="a")),
    )
    assert "nothing tells that these logs are of one run" in finding.notes[0]
    assert "which was first is not known" in finding.notes[0]


def test_the_rank_with_the_earliest_time_leads_whatever_was_collected_first(tmp_path: Path):
    text = _rank(1, _CRASH.format(value="a"), "2026-03-01T10:00:05.120Z")
    text += _rank(0, _CRASH.format(value="a"), "2026-03-01T10:00:01.004Z")
    (finding,) = _findings(tmp_path, run=text)
    assert finding.rank == 0
    assert "rank 0 printed it first, at 2026-03-01T10:00:01.004Z" in finding.notes[0]


def test_different_failures_of_ranks_are_ordered_by_time(tmp_path: Path):
    text = _rank(1, _CRASH.format(value="late"), "2026-03-01T10:00:05.120Z")
    text += _rank(0, _CRASH.format(value="first"), "2026-03-01T10:00:01.004Z")
    assert [f.rank for f in _findings(tmp_path, run=text) if f.role == "cause"] == [0, 1]


def test_the_same_failure_in_two_runs_of_one_log_is_not_one_of_two_ranks(tmp_path: Path):
    runs = [f"$ python run.py {n}\n" + _rank(n, _CRASH.format(value="a")) for n in (0, 1)]
    found = _findings(tmp_path, run="".join(runs))
    assert [f.facts["run_in_log"] for f in found] == [1, 2]


def test_what_a_launcher_heard_stands_under_the_rank_that_it_names(tmp_path: Path):
    table = """Traceback (most recent call last):
  File "/opt/torch/distributed/run.py", line 9, in main
    run(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
run.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-29_21:44:54
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 15899)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""
    text = _CRASH.format(value="handled") + _rank(0, _CRASH.format(value="zero"))
    text += _rank(1, _CRASH.format(value="one")) + table
    found = [f for f in _findings(tmp_path, run=text) if f.role == "cause"]
    assert found[0].rank == 1
    assert [[k.step for k in f.consequences] for f in found] == [["follows"], [], []]


def test_a_run_that_ended_without_a_word_is_told_beside_another_run_that_failed(tmp_path: Path):
    text = "$ python a.py\n" + _CRASH.format(value="a") + "exit code: 1\n$ python b.py\nexit code: 139\n"
    found = [f for f in _findings(tmp_path, run=text) if f.role == "cause"]
    assert [f.facts.get("exit_code") for f in found] == [None, 139]


def test_a_rank_that_waited_does_not_lead_before_one_that_failed_by_itself(tmp_path: Path):
    waited = (
        "RuntimeError: [/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation "
        "to complete"
    )
    text = _rank(0, _CRASH.format(value="x").replace("KeyError: 'x'", waited)) + _rank(
        1, _CRASH.format(value="a")
    )
    found = [f for f in _findings(tmp_path, run=text) if f.role == "cause"]
    assert [f.rank for f in found] == [1, 0]
