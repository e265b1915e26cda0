"""Commands that a log shows, of which variables and tools reach one part only."""

from __future__ import annotations

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.commands import in_one

_FAULT = """Traceback (most recent call last):
  File "/srv/demo/serve.py", line 10, in <module>
    y = model(x)
RuntimeError: CUDA error: an illegal memory access was encountered
"""


@pytest.mark.parametrize(
    "text",
    [
        "cd build && python serve.py",
        "python a.py; python b.py",
        "for i in 1 2; do python a.py; done",
        "cat ids.txt | python serve.py",
    ],
)
def test_a_command_of_several_parts_is_run_by_one_shell(text: str) -> None:
    told = in_one(text)
    assert told is not None and told.startswith("bash -c '")


@pytest.mark.parametrize(
    "text",
    [
        "python serve.py 2>&1 | tee log",
        "nohup python a.py > log 2>&1 &",
        "python -c 'a; b && c'",
        "python a.py &> log",
    ],
)
def test_a_command_of_one_program_stays_as_it_is(text: str) -> None:
    assert in_one(text) == text


def test_variables_of_an_experiment_reach_the_program_behind_a_change_of_folder(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("$ cd build && python serve.py\n" + _FAULT)
    text = str(aoti_logs.load(tmp_path / "run.log").explain())
    assert "CUDA_LAUNCH_BLOCKING=1 bash -c 'cd build && python serve.py'" in text
    assert "memcheck bash -c 'cd build && python serve.py'" in text


def test_variables_of_env_are_those_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("$ env CUDA_LAUNCH_BLOCKING=1 python serve.py\n" + _FAULT)
    text = str(aoti_logs.load(tmp_path / "run.log").explain())
    assert "launches were waited for: CUDA_LAUNCH_BLOCKING=1 in the command" in text


def test_a_log_of_many_runs_is_taken_apart_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aoti_logs.code.index.episode import Episodes

    made = []
    begin = Episodes.__init__

    def counted(self: Episodes, events: object) -> None:
        made.append(1)
        begin(self, events)  # type: ignore[arg-type]

    monkeypatch.setattr(Episodes, "__init__", counted)
    (tmp_path / "run.log").write_text("".join(f"$ A={n} python serve.py\n{_FAULT}" for n in range(40)))
    aoti_logs.load(tmp_path / "run.log").explain()
    assert len(made) < 10
