"""`aoti-logs report`: what it writes for each kind of input, what it says, and how it fails."""

import gzip
import re
import stat
import sys
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from aoti_logs.report import tlparse
from aoti_logs.report.tlparse import find_tlparse
from tests.report_text import NO_TLPARSE, artifact, files_below, record, recorded, report, with_rank

needs_tlparse = pytest.mark.skipif(find_tlparse() is None, reason=NO_TLPARSE)
SINGLE = {"index.html", "findings.html", "compile_directory.json", "raw.log", "raw.jsonl"}


@pytest.fixture
def trace(fixtures_dir, tmp_path) -> Path:
    path: Path = tmp_path / "in" / "trace.log"
    path.parent.mkdir()
    path.write_bytes(recorded(fixtures_dir))
    return path


def written(tmp_path: Path, *words: object, data: bytes | None = None) -> tuple[Path, str]:
    """Run the command and return the report and the screen; nothing but the report may appear."""
    outside = files_below(tmp_path)
    out = tmp_path / "out" / "report"
    done = report(*words, "-o", out, data=data)
    assert done.exit_code == 0, done.output
    new = files_below(tmp_path) - outside
    assert {name for name in new if not name.startswith("out/report/")} == set()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report"]
    return out, done.output


@needs_tlparse
def test_a_trace_becomes_a_report_with_our_page(tmp_path, trace):
    out, screen = written(tmp_path, trace)
    assert files_below(out) >= SINGLE
    assert (out / "raw.log").read_bytes() == trace.read_bytes()
    assert "148 records, 24 of them interned strings; tlparse: ok 124, unknown 2" in screen
    assert "given to tlparse" not in screen
    assert (out / "index.html").read_text().count('<a href="findings.html">aoti-logs: ') == 1


@needs_tlparse
def test_every_link_of_our_page_leads_to_a_file(tmp_path, fixtures_dir):
    folder = fixtures_dir / "gpu_gather_dynamic_bound"
    out, _ = written(tmp_path, folder)
    page = (out / "findings.html").read_text()
    links = {unquote(link.partition("#")[0]) for link in re.findall(r'href="([^"]*)"', page)}
    assert {"index.html", "-_-_-_-/inductor_aot_wrapper_code_11.txt"} <= links
    assert [link for link in links if not (out / link).is_file()] == []


@needs_tlparse
def test_our_page_shows_the_finding_with_its_chain(tmp_path, fixtures_dir):
    out, screen = written(tmp_path, fixtures_dir / "gpu_gather_dynamic_bound")
    page = (out / "findings.html").read_text()
    assert "1 finding" in screen
    assert "<b>error AL101</b>" in page
    assert "index out of bounds: 0 &lt;= tmp4 &lt; ks0" in page
    assert 'before_pre_grad_graph_0.txt">before_pre_grad_graph_0.txt, line 4</a>' in page
    assert "the index names no failure; the findings above do" in page
    assert "(2) (trace/dedicated_log_torch_trace_agaom5va.log:16" in page.replace("</span>", "").replace(
        '<span title="trace/dedicated_log_torch_trace_agaom5va.log">', ""
    )


@needs_tlparse
def test_a_linked_line_is_the_quoted_line(tmp_path, fixtures_dir):
    out, _ = written(tmp_path, fixtures_dir / "gpu_gather_dynamic_bound")
    page = (out / "findings.html").read_text()
    number = int(
        re.findall(r"inductor_aot_wrapper_code_11.txt, line (\d+)</a></td><td[^>]*><code>int64", page)[0]
    )
    code = (out / "-_-_-_-" / "inductor_aot_wrapper_code_11.txt").read_text().split("\n")
    assert "int64_t s70 = arg0_1_size[0]" in code[number - 1]


@needs_tlparse
@pytest.mark.parametrize("form", ["folder", "gzip", "zip", "stdin", "report"])
def test_a_trace_may_come_in_any_form(tmp_path, trace, form):
    data = trace.read_bytes()
    given: Path = trace
    if form == "folder":
        given = trace.parent
    elif form == "gzip":
        given = tmp_path / "trace.log.gz"
        given.write_bytes(gzip.compress(data))
    elif form == "zip":
        given = tmp_path / "trace.zip"
        with zipfile.ZipFile(given, "w") as archive:
            archive.writestr("../trace.log", data)
    elif form == "report":
        given = tmp_path / "first"
        assert report(trace, "-o", given).exit_code == 0
    out, _ = written(tmp_path, "-" if form == "stdin" else given, data=data if form == "stdin" else None)
    assert (out / "raw.log").read_bytes() == data


@needs_tlparse
def test_options_reach_tlparse(tmp_path, trace):
    out, _ = written(tmp_path, trace, "-p", "-i")
    assert "provenance_tracking_-_-_-_-.html" in files_below(out)
    exported = report(trace, "-e", "-o", tmp_path / "export")
    assert "Draft Export Report" in (tmp_path / "export" / "index.html").read_text()
    assert 'tlparse says "Congratulations! No issues are found during export", but nothing' in exported.output


@needs_tlparse
def test_an_export_report_carries_no_trace(tmp_path, trace):
    assert report(trace, "-e", "-o", tmp_path / "export").exit_code == 0
    (tmp_path / "export" / "findings.html").unlink()
    done = report(tmp_path / "export", "-o", tmp_path / "again")
    assert (done.exit_code, "carries no trace" in done.output) == (2, True)


GUARD = {
    "guard_added": {
        "expr": "Eq(u0, 3)",
        "prefix": "eval",
        "expr_node_id": 1,
        "user_stack": [],
        "stack": [],
        "symbol_to_sources": {},
        "frame_locals": {"loc": None, "locals": {"n": ["u0"]}, "symbols": {}},
    }
}


@needs_tlparse
def test_a_guard_of_a_draft_export_is_an_issue(tmp_path, trace):
    """tlparse -e refuses the locals that torch 2.13 writes, and would congratulate."""
    trace.write_bytes(trace.read_bytes() + record(GUARD))
    out, screen = written(tmp_path, trace, "-e")
    assert "1 issue(s) were found" in (out / "index.html").read_text()
    assert "locals and symbols of guards were written as plain texts (records: 1)" in screen


# ------------------------------------------------------------ several traces


@needs_tlparse
@pytest.mark.parametrize(
    "names", ["dedicated_log_torch_trace_rank_{}_abc.log", "rank_{}/trace.log", "t{}.log"]
)
def test_ranks_are_compared_on_one_page_whatever_their_files_are_called(tmp_path, fixtures_dir, names):
    data = recorded(fixtures_dir)
    for rank in (0, 1, 10):
        path = tmp_path / "in" / names.format(rank)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(with_rank(data, rank))
    out, screen = written(tmp_path, tmp_path / "in")
    assert "Multi-Rank TLParse Report" in (out / "index.html").read_text()
    for rank in (0, 1, 10):
        assert (out / f"rank_{rank}" / "raw.log").read_bytes() == with_rank(data, rank)
        assert 'href="../findings.html"' in (out / f"rank_{rank}" / "index.html").read_text()
    assert ("takes only files of such names" in screen) == ("dedicated" not in names)
    assert 'href="rank_10/index.html"' in (out / "findings.html").read_text()


@needs_tlparse
def test_findings_of_a_rank_link_into_its_report(tmp_path, fixtures_dir):
    for rank in (0, 1):
        folder = tmp_path / "in" / f"rank_{rank}"
        folder.mkdir(parents=True)
        data = recorded(fixtures_dir, "gpu_gather_dynamic_bound")
        (folder / "trace.log").write_bytes(with_rank(data, rank))
    log = fixtures_dir / "gpu_gather_dynamic_bound" / "run.log"
    (tmp_path / "in" / "rank_1" / "run.log").write_bytes(log.read_bytes())
    out, _ = written(tmp_path, tmp_path / "in")
    page = (out / "findings.html").read_text()
    assert re.search(r'href="rank_\d/-_-_-_-/inductor_aot_wrapper_code_\d+.txt"', page)


@needs_tlparse
def test_processes_without_ranks_have_a_report_each(tmp_path, trace, fixtures_dir):
    (trace.parent / "other.log").write_bytes(recorded(fixtures_dir, "cpu_slice_bound"))
    out, screen = written(tmp_path, trace.parent)
    assert {"process_1/index.html", "process_2/index.html", "index.html"} <= files_below(out)
    assert 'href="process_2/index.html"' in (out / "index.html").read_text()
    assert "each trace has a report of its own" in screen


@needs_tlparse
def test_a_process_without_rank_stands_beside_the_ranks(tmp_path, trace, fixtures_dir):
    for rank in (0, 1):
        path = trace.parent / f"dedicated_log_torch_trace_rank_{rank}.log"
        path.write_bytes(with_rank(recorded(fixtures_dir, "cpu_slice_bound"), rank))
    out, screen = written(tmp_path, trace.parent)
    assert {"rank_0/raw.log", "rank_1/raw.log", "process_1/raw.log"} <= files_below(out)
    assert "trace.log gives no rank and stands apart" in screen


@needs_tlparse
def test_of_two_traces_of_a_rank_the_later_is_compared(tmp_path, fixtures_dir):
    data = recorded(fixtures_dir, "cpu_slice_bound")
    folder = tmp_path / "in"
    folder.mkdir()
    for rank in (0, 1):
        (folder / f"dedicated_log_torch_trace_rank_{rank}_a.log").write_bytes(with_rank(data, rank))
    later = re.sub(rb"(?m)^V\d{4}", b"V1231", with_rank(data, 0))
    (folder / "dedicated_log_torch_trace_rank_0_b.log").write_bytes(later)
    out, screen = written(tmp_path, folder)
    assert (out / "rank_0" / "raw.log").read_bytes() == later
    assert (out / "process_1" / "raw.log").read_bytes() == with_rank(data, 0)
    assert "rank 0 has 2 traces: dedicated_log_torch_trace_rank_0_b.log, which began last" in screen


@needs_tlparse
def test_ranks_mixed_in_one_file_have_a_report_each(tmp_path, trace):
    trace.write_bytes(with_rank(artifact("zero"), 0) + with_rank(artifact("one"), 1))
    out, screen = written(tmp_path, trace)
    assert {"rank_0/-_-_-_-/zero_0.txt", "rank_1/-_-_-_-/one_0.txt"} <= files_below(out)
    assert "has records of ranks 0, 1" in screen


@needs_tlparse
def test_a_copy_is_shown_once_and_equal_ranks_twice(tmp_path, trace, fixtures_dir):
    (trace.parent / "copy.log").write_bytes(trace.read_bytes())
    _, screen = written(tmp_path, trace.parent)
    assert "holds the same bytes as" in screen
    for rank in (0, 1):
        path = tmp_path / "ranks" / f"dedicated_log_torch_trace_rank_{rank}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(trace.read_bytes())
    assert report(tmp_path / "ranks", "-o", tmp_path / "two").exit_code == 0
    assert {"rank_0/raw.log", "rank_1/raw.log"} <= files_below(tmp_path / "two")


@needs_tlparse
def test_a_report_of_ranks_can_be_made_again_from_itself(tmp_path, fixtures_dir):
    folder = tmp_path / "in"
    folder.mkdir()
    for rank in (0, 1):
        data = with_rank(recorded(fixtures_dir), rank)
        (folder / f"dedicated_log_torch_trace_rank_{rank}.log").write_bytes(data)
    assert report(folder, "-o", tmp_path / "first").exit_code == 0
    assert report(tmp_path / "first", "-o", tmp_path / "first", "--overwrite").exit_code == 0
    assert {"rank_0/raw.log", "rank_1/raw.log", "index.html"} <= files_below(tmp_path / "first")
    assert (tmp_path / "first" / "rank_0" / "index.html").read_text().count("aoti-logs-findings") == 1


# ------------------------------------------------------------ failing


@needs_tlparse
def test_a_report_that_is_there_is_replaced_only_when_asked(tmp_path, trace):
    assert report(trace, "-o", tmp_path / "out").exit_code == 0
    done = report(trace, "-o", tmp_path / "out")
    assert (done.exit_code, "--overwrite" in done.output) == (2, True)
    assert report(trace, "-o", tmp_path / "out", "--overwrite").exit_code == 0


def test_what_holds_no_trace_is_said(tmp_path, fixtures_dir):
    done = report(fixtures_dir / "cpu_printer" / "fixture.json", "-o", tmp_path / "out")
    assert (done.exit_code, "no TORCH_TRACE file" in done.output) == (2, True)
    assert report(tmp_path / "nothing").exit_code == 2
    assert not (tmp_path / "out").exists()


def test_without_tlparse_our_page_is_written_and_the_exit_code_says_so(tmp_path, trace, monkeypatch):
    monkeypatch.setattr(tlparse, "find_tlparse", lambda: None)
    done = report(trace, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "pip install tlparse" in done.output
    assert "pip install tlparse" in (tmp_path / "out" / "findings.html").read_text()
    assert files_below(tmp_path / "out") == {"findings.html", "index.html"}


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a shell script in tlparse's place."""
    program = tmp_path / "tlparse"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(tlparse, "find_tlparse", lambda: program)


needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for tlparse is a shell script")


@needs_shell
def test_a_tlparse_that_hangs_is_stopped(tmp_path, trace, monkeypatch):
    stand_in(tmp_path, monkeypatch, '[ "$1" = --version ] || exec sleep 100')
    monkeypatch.setattr(tlparse, "_SECONDS", 1)
    done = report(trace, "-o", tmp_path / "out")
    assert (done.exit_code, "it was stopped after 1 seconds" in done.output) == (2, True)
    assert files_below(tmp_path / "out") == {"findings.html", "index.html"}


@needs_shell
def test_when_tlparse_fails_its_last_words_are_shown(tmp_path, trace, monkeypatch):
    stand_in(tmp_path, monkeypatch, "echo 'Stats { ok: 1 }' >&2\necho 'thread main panicked' >&2\nexit 101")
    done = report(trace, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "tlparse made no page of trace.log: it ended with exit code 101" in done.output
    assert "thread main panicked" in done.output
    assert "thread main panicked" in (tmp_path / "out" / "findings.html").read_text()


@needs_tlparse
def test_ranks_that_tlparse_cannot_compare_have_a_report_each(tmp_path, fixtures_dir):
    """A schedule that is no JSON stops `--all-ranks-html` after all the ranks were written."""
    folder = tmp_path / "in"
    folder.mkdir()
    bad = record({"artifact": {"name": "inductor_collective_schedule", "encoding": "json"}}, "no json")
    for rank in (0, 1):
        data = with_rank(recorded(fixtures_dir) + bad, rank)
        (folder / f"dedicated_log_torch_trace_rank_{rank}.log").write_bytes(data)
    done = report(folder, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "tlparse made no page of all ranks" in done.output
    assert {"rank_0/index.html", "rank_1/index.html", "index.html"} <= files_below(tmp_path / "out")
    assert 'href="rank_1/index.html"' in (tmp_path / "out" / "index.html").read_text()
