"""From paths to sources: folders, files, stdin, and what stops the reading."""

import io
import os
import sys
from collections.abc import Iterable

import pytest

from aoti_logs.errors import LoadError
from aoti_logs.sources.find import find
from aoti_logs.sources.source import Kind, Role, Source

LOG = "Traceback (most recent call last):\n"
TRACE = 'V1129 12:10:21.164000 4741 torch/_logging/structured.py:28] {"str": ["a.py", 0]}\n'
WRAPPER = "\n#include <torch/csrc/inductor/aoti_include/cpu.h>\n"


@pytest.fixture
def folder(tmp_path):
    run = tmp_path / "run"
    files = {
        "stderr.log": LOG,
        "rank_3/stdout.txt": "hello\n",
        "trace/dedicated_log_torch_trace_rank_5_ab_c.log": TRACE,
        "cache/c/x.wrapper.cpp": WRAPPER,
        ".git/config": "x",
        "__pycache__/a.log": LOG,
        ".hidden_trace": TRACE,
        ".notes": "not ours",
    }
    for name, text in files.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (run / "x.so").write_bytes(b"\x7fELF" + bytes(100))
    return run


def names(sources: Iterable[Source]) -> list[str]:
    return [source.name for source in sources]


def test_in_a_folder_logs_and_traces_are_subjects_and_code_is_context(folder):
    found = find([folder])
    assert names(found.subjects) == [
        ".hidden_trace",
        "stderr.log",
        "rank_3/stdout.txt",
        "trace/dedicated_log_torch_trace_rank_5_ab_c.log",
    ]
    assert [(s.name, s.kind) for s in found.context] == [("cache/c/x.wrapper.cpp", Kind.WRAPPER_CPP)]
    assert found.problems == ()
    assert set(found.skipped) == {"x.so", ".notes"}


def test_ranks_come_from_names_of_files_and_folders(folder):
    assert [s.rank for s in find([folder]).subjects] == [None, None, 3, 5]


def test_a_context_folder_gives_no_subjects_and_nothing_twice(folder):
    found = find([folder / "stderr.log"], context=[folder])
    assert names(found.subjects) == ["stderr.log"]
    assert "stderr.log" not in names(found.context)
    assert {s.role for s in found.context} == {Role.CONTEXT}
    assert len(found.context) == 4


def test_what_is_named_itself_is_a_subject(folder):
    assert find([folder / "cache/c/x.wrapper.cpp"]).subjects[0].kind is Kind.WRAPPER_CPP


def test_a_report_with_a_log_in_it_is_read_as_a_log_when_named(tmp_path):
    report = tmp_path / "issue.md"
    report.write_text("It fails:\n```\n" + LOG)
    (tmp_path / "stdout").write_text("x")
    assert find([report]).subjects[0].kind is Kind.LOG
    assert names(find([tmp_path]).subjects) == ["stdout"]


def test_files_of_one_name_are_told_apart(tmp_path):
    for rank in ("a", "b"):
        (tmp_path / rank).mkdir()
        (tmp_path / rank / "stderr.log").write_text(rank)
    found = find([tmp_path / "a" / "stderr.log", tmp_path / "b" / "stderr.log"])
    assert names(found.subjects) == ["stderr.log", str(tmp_path / "b" / "stderr.log")]


def test_links_in_a_circle_end(folder):
    (folder / "rank_3" / "up").symlink_to(folder)
    (folder / "dangling").symlink_to(folder / "nowhere")
    found = find([folder])
    assert len(found.subjects) == 4
    assert [p.sentence for p in found.problems] == ["the link leads nowhere"]


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    path = tmp_path / "big.log"
    path.write_text("x" * 3_000_000)
    source = find([path]).subjects[0]
    path.unlink()
    assert source.data == b""
    assert "could be found, but not read" in source.problems[0]


def test_large_files_are_mapped(tmp_path):
    import mmap

    path = tmp_path / "big.log"
    path.write_text("x\n" * 1_000_000)
    source = find([path]).subjects[0]
    assert isinstance(source.data, mmap.mmap)
    assert source.line_text(1_000_000) == "x"


def test_an_empty_log_is_a_log(tmp_path):
    (tmp_path / "stderr.txt").touch()
    assert find([tmp_path]).subjects[0].data == b""


def test_utf16_logs_are_read(tmp_path):
    (tmp_path / "out.log").write_text("Fehler: ü\n", encoding="utf-16")
    assert find([tmp_path]).subjects[0].lines[0] == "Fehler: ü"


def test_stdin_is_a_log(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    (source,) = find(["-"]).subjects
    assert (source.name, source.kind, source.text) == ("stdin", Kind.LOG, LOG)


def test_a_pipe_is_a_log(tmp_path):
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LOG,))
    writer.start()
    (source,) = find([pipe])
    writer.join()
    assert (source.kind, source.text) == (Kind.LOG, LOG)


def test_a_missing_path_is_an_error(tmp_path):
    with pytest.raises(LoadError, match="nowhere does not exist"):
        find([tmp_path / "nowhere"])
    with pytest.raises(LoadError, match="does not exist"):
        find([str(tmp_path / "x")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_is_an_error_alone_and_a_problem_in_a_folder(folder):
    (folder / "stderr.log").chmod(0)
    with pytest.raises(LoadError, match="Permission denied"):
        find([folder / "stderr.log"])
    assert len(find([folder]).problems) == 1


def test_an_empty_folder_is_an_error_as_subject_and_a_problem_as_context(folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(LoadError, match="the folder is empty"):
        find([empty])
    assert "empty" in find([folder], context=[empty]).problems[0].sentence


def test_a_folder_of_binary_files_is_an_error(tmp_path):
    (tmp_path / "x.so").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(LoadError, match=r"nothing to read in it \(1 files\)"):
        find([tmp_path])


def test_a_binary_file_alone_is_an_error_and_beside_others_is_skipped(folder):
    with pytest.raises(LoadError, match="binary"):
        find([folder / "x.so"])
    assert find([folder / "stderr.log", folder / "x.so"]).skipped == ("x.so",)
