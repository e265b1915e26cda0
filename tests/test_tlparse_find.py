"""Reports of tlparse are found by what is in their files, and nothing in them is counted twice."""

import os
import tarfile
import zipfile
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.sources.report_files import Part, is_member, part_of
from aoti_logs.sources.source import Kind, Role
from tests.tlparse_reports import FIXTURES, RANKS, TRACES, copy, report_of, trace_of

AOTI = report_of("tlparse_aoti")
COMPILE = report_of("tlparse_compile")


def traces_of(path: Path) -> list[str]:
    return [trace.source.name for trace in aoti_logs.load(path).evidence.traces]


def with_trace(report: Path, to: Path, fixture: str) -> Path:
    copy(report, to)
    (to / "raw.log").write_bytes(trace_of(fixture).read_bytes())
    return to


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("raw.jsonl", Part.RECORDS),
        ("compile_directory.json", Part.DIRECTORY),
        ("chromium_events.json", Part.EVENTS),
        ("index.html", Part.INDEX),
        ("failures_and_restarts.html", None),
        ("-_0_0_0/dynamo_output_graph_1.txt", None),
    ],
)
def test_a_file_says_itself_which_one_it_is(file: str, part: Part | None):
    data = (
        (COMPILE / file).read_bytes()
        if (COMPILE / file).exists()
        else (AOTI / file).read_bytes()
        if (AOTI / file).exists()
        else b""
    )
    assert part_of(data) is part


def test_a_page_of_generated_code_says_so():
    (page,) = COMPILE.glob("*/inductor_output_code_*.html")
    assert part_of(page.read_bytes()) is Part.CODE_PAGE


def test_lines_of_raw_jsonl_without_its_first_line_are_told_too():
    lines = (AOTI / "raw.jsonl").read_bytes().split(b"\n", 1)[1]
    assert part_of(lines) is Part.RECORDS
    assert part_of(b'{"level":"info","timestamp":"2026-01-01T00:00:00Z"}\n') is None


@pytest.mark.parametrize(
    "path",
    [
        "-_0_0_0/a/b/c_3.txt",
        "0_-_-_0/x_1.json",
        "unknown_12/x_1.html",
        "payloads/" + "a" * 32 + ".txt",
        "raw.jsonl",
    ],
)
def test_paths_that_tlparse_writes_to_are_members(path: str):
    assert is_member(path)


@pytest.mark.parametrize(
    "path",
    [
        "stderr.log",
        "-_0_0_0/stderr.log",
        "payloads/notes.txt",
        "model/x_1.txt",
        "rank_0/raw.log",
        "a/raw.jsonl",
    ],
)
def test_other_files_in_the_folder_are_not_of_the_report(path: str):
    assert not is_member(path)


def test_with_its_trace_the_rest_of_a_report_is_only_accounted_for(tmp_path: Path):
    run = aoti_logs.load(with_trace(AOTI, tmp_path / "r", TRACES["tlparse_aoti"]))
    assert [t.source.name for t in run.evidence.traces] == ["raw.log"]
    assert {s.kind for s in run.files} == {Kind.TORCH_TRACE, Kind.TLPARSE_REPORT}
    assert [s.name for s in run.subjects] == ["raw.log"]
    alone = aoti_logs.load(trace_of(TRACES["tlparse_aoti"]))
    for table in ("kernels", "symbols", "graphs", "launches"):
        assert run.tables[table].height == alone.tables[table].height > 0


def test_every_byte_of_every_file_of_a_report_is_accounted_for(tmp_path: Path):
    for number, path in enumerate(
        (AOTI, COMPILE, report_of("tlparse_ranks"), with_trace(AOTI, tmp_path / "r", TRACES["tlparse_aoti"]))
    ):
        run = aoti_logs.load(path)
        assert run.files, number
        for source in run.files:
            records, unparsed = run.spans_of(source)
            at = 0
            for _, start, end in sorted([*records, *unparsed], key=lambda r: r[1]):
                assert start == at, (source, start)
                at = end
            assert at == source.size


def test_without_its_trace_raw_jsonl_is_asked_about_and_says_what_it_lacks():
    run = aoti_logs.load(AOTI)
    (subject,) = run.subjects
    assert (subject.name, subject.kind, subject.role) == ("raw.jsonl", Kind.TLPARSE_REPORT, Role.SUBJECT)
    assert "raw.log" in run.explain().problems[0]


def test_a_report_is_not_given_to_processes_that_read_traces():
    from aoti_logs._workers import can_be_given_away

    (trace,) = aoti_logs.load(AOTI).evidence.traces
    assert not can_be_given_away(trace.source)


def packed(tmp_path: Path, form: str) -> Path:
    path = tmp_path / f"report.{form}"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(AOTI.rglob("*")):
                if file.is_file():
                    archive.write(file, f"out/{file.relative_to(AOTI).as_posix()}")
        return path
    with tarfile.open(path, "w:gz" if form == "tar.gz" else "w") as archive:
        archive.add(AOTI, "./out")
    return path


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
def test_a_packed_report_is_read_like_a_folder(tmp_path: Path, form: str):
    run, plain = aoti_logs.load(packed(tmp_path, form)), aoti_logs.load(AOTI)
    (trace,) = run.evidence.traces
    assert trace.source.name.endswith("out/raw.jsonl")
    assert len(trace) == len(plain.evidence.traces[0])
    assert run.tables["kernels"].height == plain.tables["kernels"].height
    assert trace[-1].place.source in {s.name for s in run.files}


def test_a_report_packed_in_a_package_of_reports_is_found(tmp_path: Path):
    outer = tmp_path / "all.zip"
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(packed(tmp_path, "zip"), "day/one.zip")
    assert traces_of(outer) == ["all.zip!day/one.zip!out/raw.jsonl"]


def test_files_packed_one_by_one_are_parts_too(tmp_path: Path):
    import gzip

    report = copy(AOTI, tmp_path / "r")
    for name in ("raw.jsonl", "chromium_events.json"):
        (report / f"{name}.gz").write_bytes(gzip.compress((report / name).read_bytes()))
        (report / name).unlink()
    (trace,) = aoti_logs.load(report).evidence.traces
    assert trace.source.name == "raw.jsonl.gz"
    assert trace.counts()["chromium_event"] > 0


def test_two_reports_in_one_folder_are_two(tmp_path: Path):
    copy(AOTI, tmp_path / "one")
    copy(COMPILE, tmp_path / "two")
    assert traces_of(tmp_path) == ["one/raw.jsonl", "two/raw.jsonl"]


def test_a_report_in_a_report_is_its_own(tmp_path: Path):
    copy(COMPILE, copy(AOTI, tmp_path / "r") / "again")
    assert traces_of(tmp_path / "r") == ["raw.jsonl", "again/raw.jsonl"]


def test_other_files_beside_a_report_stay_what_they_are(tmp_path: Path):
    report = copy(AOTI, tmp_path / "job" / "tl_out")
    log = FIXTURES / "cpu_gather_empty_table" / "run.log"
    (tmp_path / "job" / "stderr.log").write_bytes(log.read_bytes())
    (report / "stderr.log").write_bytes(log.read_bytes())
    run = aoti_logs.load(tmp_path / "job")
    assert [s.name for s in run.subjects if s.kind is Kind.LOG] == ["stderr.log", "tl_out/stderr.log"]
    assert len(run.evidence.traces) == 1


def test_a_trace_beside_its_report_is_there_once(tmp_path: Path):
    fixture = TRACES["tlparse_aoti"]
    (tmp_path / "trace.log").write_bytes(trace_of(fixture).read_bytes())
    copy(AOTI, tmp_path / "without")
    with_trace(AOTI, tmp_path / "with", fixture)
    assert traces_of(tmp_path) == ["trace.log"]


def test_a_report_with_fewer_records_than_another_one_of_the_same_trace_is_left_out(tmp_path: Path):
    copy(AOTI, tmp_path / "a")
    copy(AOTI, tmp_path / "b")
    cut = tmp_path / "a" / "raw.jsonl"
    cut.write_bytes(b"".join(cut.read_bytes().splitlines(keepends=True)[:20]))
    assert traces_of(tmp_path) == ["b/raw.jsonl"]


def test_the_rank_of_a_report_is_that_of_its_folder(tmp_path: Path):
    whole = copy(report_of("tlparse_ranks"), tmp_path / "r")
    assert [(t.source.name, t.source.rank) for t in aoti_logs.load(whole).evidence.traces] == [
        ("rank_0/raw.jsonl", 0),
        ("rank_1/raw.jsonl", 1),
    ]
    for rank, fixture in RANKS.items():
        (whole / f"rank_{rank}" / "raw.log").write_bytes(trace_of(fixture).read_bytes())
    assert [(t.source.name, t.source.rank) for t in aoti_logs.load(whole).evidence.traces] == [
        ("rank_0/raw.log", 0),
        ("rank_1/raw.log", 1),
    ]
    assert [t.source.rank for t in aoti_logs.load(whole / "rank_1").evidence.traces] == [1]


def test_what_was_made_of_all_ranks_is_no_trace_of_its_own():
    run = aoti_logs.load(report_of("tlparse_ranks"))
    assert {s.kind for s in run.files} == {Kind.TLPARSE_REPORT}
    assert run.tables["traces"].height == 2


def test_two_raw_jsonl_in_one_folder_are_two_reports(tmp_path: Path):
    report = copy(AOTI, tmp_path / "r")
    (report / "other.jsonl").write_bytes((COMPILE / "raw.jsonl").read_bytes())
    run = aoti_logs.load(report)
    with_payloads = {t.source.name: sum(r.has_payload for r in t) > 0 for t in run.evidence.traces}
    assert sorted(with_payloads) == ["other.jsonl", "raw.jsonl"]
    assert with_payloads["raw.jsonl"]


@pytest.mark.parametrize("name", ["raw.jsonl", "compile_directory.json", "chromium_events.json"])
def test_a_file_that_was_shared_alone_is_read(name: str):
    (trace,) = aoti_logs.load(COMPILE / name).evidence.traces
    assert trace.source.name == name
    assert (len(trace) > 0) == (name != "compile_directory.json")


def test_a_page_of_generated_code_that_was_shared_alone_gives_its_kernels():
    (page,) = COMPILE.glob("*/inductor_output_code_*.html")
    run = aoti_logs.load(page)
    assert run.tables["kernels"].height == aoti_logs.load(COMPILE).tables["kernels"].height == 1
    assert run.tables["kernels"]["source"].to_list() == [page.name]


def test_an_extracted_payload_that_was_shared_alone_is_read_for_what_it_is():
    (wrapper,) = AOTI.glob("*/inductor_aot_wrapper_code_*.txt")
    assert [s.kind for s in aoti_logs.load(wrapper).files] == [Kind.WRAPPER_CPP]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_link_that_leads_out_of_a_report_is_not_read(tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("graph():\n    do not read me\n")
    report = copy(AOTI, tmp_path / "r")
    (payload,) = report.glob("*/aot_inference_graph_*.txt")
    payload.unlink()
    payload.symlink_to(secret)
    run = aoti_logs.load(report)
    assert any("leads out of the report" in problem for problem in run.problems)
    assert not [s for s in run.all_sources if b"do not read me" in bytes(s.data)]
    (record,) = run.evidence.traces[0].find("aot_inference_graph")
    assert (record.has_payload, record.problem) == (False, "its payload is not in the report")
