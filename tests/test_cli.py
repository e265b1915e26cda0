"""The command line: answers, exit codes, and clear sentences for bad input."""

import json
import shutil
import zipfile
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app

runner = CliRunner()


def call(*words: object, data: bytes | None = None):
    return runner.invoke(app, [str(w) for w in words], input=data)


@pytest.fixture
def demo(fixtures_dir: Path) -> Path:
    return fixtures_dir / "gpu_empty_events"


def test_explain_exits_with_zero_even_when_something_failed(demo: Path):
    result = call("explain", demo / "run.log", "--context", demo)
    assert result.exit_code == 0
    assert "events" in result.output


def test_check_exits_with_one_when_something_failed(demo: Path):
    assert call("explain", demo / "run.log", "--check").exit_code == 1


def test_check_exits_with_zero_when_nothing_failed(fixtures_dir: Path):
    assert call("explain", fixtures_dir / "cpu_ok" / "run.log", "--check").exit_code == 0


def test_json_is_the_contract(demo: Path):
    answer = json.loads(call("explain", demo / "run.log", "-c", demo, "--format", "json").output)
    assert answer["schema"] == 1
    assert answer["findings"][0]["facts"]["bound"]["input_name"] == "events"


def test_a_log_may_come_from_stdin(demo: Path):
    result = call("explain", "-", data=(demo / "run.log").read_bytes())
    assert result.exit_code == 0
    assert "index out of bounds" in result.output


def test_tables_lists_them_all(demo: Path):
    output = call("tables", demo).output
    assert "launch_arguments" in output and "assertions" in output


def test_show_prints_a_table(demo: Path):
    output = call("show", demo, "inputs", "--format", "csv").output
    assert "lengths" in output


def test_show_answers_sql(demo: Path):
    output = call(
        "show", demo, "--sql", "select user_name from inputs order by index", "--format", "csv"
    ).output
    assert output.split() == ["user_name", "events", "lengths"]


def test_show_names_the_tables_when_one_is_unknown(demo: Path):
    result = call("show", demo, "nonsense")
    assert result.exit_code == 2
    assert "launches" in result.output


def test_a_broken_query_is_a_sentence(demo: Path):
    result = call("show", demo, "--sql", "select nothing from inputs")
    assert result.exit_code == 2
    assert "query failed" in result.output


def test_timeline_writes_parquet(demo: Path, tmp_path: Path):
    assert call("timeline", demo, "-o", tmp_path / "k.parquet").exit_code == 0
    frame = pl.read_parquet(tmp_path / "k.parquet")
    assert {"kernel", "index", "inputs", "outputs", "sizes"} <= set(frame.columns)
    assert frame["index"].is_sorted()
    assert frame.height > 1


def test_rules_prints_a_page():
    assert "AL101" in call("rules").output
    assert "Evidence it needs" in call("rules", "al101").output
    assert call("rules", "AL999").exit_code == 2


def test_a_path_that_is_not_there_is_a_sentence():
    result = call("explain", "no/such/file.log")
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert "no/such/file.log" in result.output


def test_an_empty_folder_is_a_sentence(tmp_path: Path):
    result = call("explain", tmp_path)
    assert result.exit_code == 2
    assert str(tmp_path) in result.output.replace("\n", "")


def test_a_binary_is_a_sentence(tmp_path: Path):
    (tmp_path / "x.so").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    result = call("explain", tmp_path / "x.so")
    assert result.exit_code == 2
    assert "x.so" in result.output


def test_a_truncated_zip_is_a_sentence(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
        archive.writestr("m/data/aotinductor/model/a.wrapper.cpp", "int x;\n" * 5000)
    whole = (tmp_path / "m.pt2").read_bytes()
    (tmp_path / "m.pt2").write_bytes(whole[:20])
    result = call("explain", tmp_path / "m.pt2")
    assert (result.exit_code, "Traceback" in result.output) == (2, False)


def test_bytes_that_are_not_utf8_do_not_stop_it(demo: Path, tmp_path: Path):
    log = (demo / "run.log").read_bytes()
    (tmp_path / "run.log").write_bytes(b"\xff\xfe\x80 torn \xc3\n" + log + b"\xe2\x82")
    result = call("explain", tmp_path / "run.log", "-c", demo)
    assert result.exit_code == 0
    assert "`events`" in result.output


def test_escape_codes_of_a_log_never_reach_the_terminal(tmp_path: Path):
    (tmp_path / "run.log").write_bytes(
        b"Traceback (most recent call last):\n"
        b'  File "a.py", line 1, in <module>\n    f()\n'
        b"RuntimeError: \x1b[31mred\x1b]0;title\x07 \x9b31m \xe2\x80\xae evil\n"
    )
    result = runner.invoke(app, ["explain", str(tmp_path / "run.log")])
    for bad in ("\x1b", "\x07", "\x9b", "\u202e"):
        assert bad not in result.output


def test_a_table_wider_than_the_screen_is_written_row_by_row():
    import polars as pl

    from aoti_logs.render.table import render_table

    frame = pl.DataFrame({"name": ["a\x1b[31m", "b"], "long": ["x" * 100, None], "list": [["p", "q"], []]})
    assert render_table(frame, width=40) == (
        "--- 0\nname  a\nlong  " + "x" * 33 + "…\nlist  p, q\n--- 1\nname  b\n--- 2 rows\n"
    )
    assert "│ name" in render_table(frame.select("name"), width=40)
    assert "x" * 79 in render_table(frame)


def test_explain_of_a_rule_prints_its_page():
    assert call("explain", "al101").output == call("rules", "AL101").output


def test_an_empty_log_is_called_empty(tmp_path: Path):
    (tmp_path / "run.log").write_bytes(b"")
    assert "the file is empty" in call("explain", str(tmp_path / "run.log")).output


def test_a_text_of_something_else_is_not_called_free_of_failures(tmp_path: Path):
    (tmp_path / "run.log").write_text("root:x:0:0\n")
    assert "nothing in it is known as output of torch" in call("explain", str(tmp_path / "run.log")).output


def test_a_folder_of_logs_is_counted(fixtures_dir: Path, tmp_path: Path):
    shutil.copy(fixtures_dir / "gpu_printer" / "run.log", tmp_path / "a.log")
    shutil.copy(fixtures_dir / "cpu_ok" / "run.log", tmp_path / "b.log")
    (tmp_path / "c.log").write_bytes(b"")
    told = call("explain", str(tmp_path)).output
    assert "3 logs and traces: 1 failed, 1 without a failure, 1 that say nothing" in told


def test_the_version_is_printed():
    assert call("--version").output == f"aoti-logs {aoti_logs.__version__}\n"
