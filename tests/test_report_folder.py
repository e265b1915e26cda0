"""Which folder a report may replace: only one that tlparse or this program wrote."""

import shutil
from pathlib import Path

import pytest

from aoti_logs.errors import LoadError
from aoti_logs.report.folder import PAGE, Target, raw_logs

REPORT = (
    "index.html",
    "compile_directory.json",
    "raw.log",
    "raw.jsonl",
    "chromium_events.json",
    "failures_and_restarts.html",
    PAGE,
    "provenance_tracking_-_0_0_0.html",
    "payloads/9dd4e461268c8034f5c8564e155c67a6.txt",
    "dump_file/eval_with_key_1.html",
    "-_0_0_0/torch._functorch.config_5.txt",
    "-_0_0_0/a/b_6.json",
    "-_-_-_-/inductor_provenance_tracking_kernel_stack_traces_5_readable.html",
    "unknown_2/q_0.txt",
    "rank_0/compile_directory.json",
    "rank_0/-_0_0_0/x_1.txt",
    "process_1/index.html",
)


def made(folder: Path, names=REPORT) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


def replaced(folder: Path) -> list[str]:
    target = Target(folder, overwrite=True)
    work = target.build()
    (work / "report").mkdir()
    (work / "report" / "new").write_text("")
    target.place(work / "report")
    shutil.rmtree(work)
    return sorted(path.name for path in folder.iterdir())


def test_a_report_is_replaced_when_asked(tmp_path):
    assert replaced(made(tmp_path / "out")) == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_report_is_not_replaced_unasked(tmp_path):
    with pytest.raises(LoadError, match="--overwrite"):
        Target(made(tmp_path / "out"), overwrite=False)


@pytest.mark.parametrize(
    "foreign",
    [
        "notes.txt",
        "-_0_0_0/notes.txt",
        "rank_0/notes.txt",
        "payloads/notes.txt",
        "dump_file/notes.txt",
        "rank_0/-_0_0_0/deep/notes.md",
        "src/main.py",
        ".git/HEAD",
    ],
)
def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path, foreign):
    folder = made(tmp_path / "out", (*REPORT, foreign))
    with pytest.raises(LoadError, match="so it is not touched"):
        Target(folder, overwrite=True)
    assert (folder / foreign).exists()


@pytest.mark.parametrize("names", [["raw.log"], ["-_0_0_0/x_1.txt"], ["index.html"]])
def test_files_that_only_look_like_parts_of_a_report_are_no_report(tmp_path, names):
    with pytest.raises(LoadError, match="not touched"):
        Target(made(tmp_path / "out", names), overwrite=True)


def test_a_link_in_a_report_is_somebody_elses(tmp_path):
    folder = made(tmp_path / "out")
    (tmp_path / "precious").write_text("x")
    (folder / "chromium_trace_with_runtime.json").symlink_to(tmp_path / "precious")
    with pytest.raises(LoadError, match="not touched"):
        Target(folder, overwrite=True)


def test_a_link_to_a_folder_is_refused(tmp_path):
    made(tmp_path / "real")
    (tmp_path / "out").symlink_to(tmp_path / "real")
    with pytest.raises(LoadError, match="is a link"):
        Target(tmp_path / "out", overwrite=True)


def test_an_empty_folder_is_taken_and_a_file_is_not(tmp_path):
    (tmp_path / "out").mkdir()
    assert replaced(tmp_path / "out") == ["new"]
    (tmp_path / "file").write_text("")
    with pytest.raises(LoadError, match="no folder"):
        Target(tmp_path / "file", overwrite=True)


def test_the_folder_one_is_in_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(made(tmp_path / "out") / "rank_0")
    with pytest.raises(LoadError, match="where you are"):
        Target(tmp_path / "out", overwrite=True)


def test_folders_above_are_made(tmp_path):
    assert replaced(tmp_path / "a" / "b" / "out") == ["new"]


def test_the_traces_of_a_report_are_found(tmp_path):
    folder = made(tmp_path / "out", (*REPORT, "rank_0/raw.log", "rank_0/index.html"))
    assert raw_logs(folder) == [folder / "raw.log", folder / "rank_0" / "raw.log"]
    assert raw_logs(made(tmp_path / "traces", ["raw.log", "run.log"])) == []
