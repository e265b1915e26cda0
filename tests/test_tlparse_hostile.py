"""Reports come from strangers: no path in them is followed, nothing raises, nothing is lost silently."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.records.tlparse import payloads as _payloads
from aoti_logs.records.tlparse.clock import milliseconds, offset
from aoti_logs.records.tlparse.events import Events
from aoti_logs.records.tlparse.index import ReportIndex
from aoti_logs.records.tlparse.page import code_of
from aoti_logs.sources.report import Report, group
from aoti_logs.sources.report_files import part_of
from aoti_logs.sources.source import Kind, Source
from tests.tlparse_reports import report_of

COMPILE = report_of("tlparse_compile")
LINES = (COMPILE / "raw.jsonl").read_bytes().splitlines(keepends=True)
EVENTS = (COMPILE / "chromium_events.json").read_bytes()

PREFIX = {"timestamp": "2026-11-29T12:10:21.164000Z", "thread": 4741, "pathname": " torch/_x.py", "lineno": 1}


def source(name: str, data: bytes) -> Source:
    out = Source(name, Kind.TLPARSE_REPORT, lambda: data)
    out.part = part_of(data)
    return out


def jsonl(*records: dict[str, Any], strings: list[str | None] | None = None) -> bytes:
    table = {"string_table": strings or [None]}
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in (table, *records))


def index_of(records: bytes, *, events: bytes | None = None, **files: bytes) -> ReportIndex:
    report = Report("r", records=source("raw.jsonl", records))
    if events is not None:
        report.events = source("chromium_events.json", events)
    report.files = {name.replace("__", "/"): source(name, data) for name, data in files.items()}
    return ReportIndex(report)


def assert_partition(index: ReportIndex) -> None:
    report = index.report
    for file in (report.records, report.events):
        if file is None:
            continue
        records, unparsed = index.spans_in(file)
        at = 0
        for _, start, end in sorted([*records, *unparsed], key=lambda r: r[1]):
            assert start == at < end
            at = end
        assert at == file.size


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "/etc/hostname",
        "a/../../secret.txt",
        "..\\secret.txt",
        "C:\\secret.txt",
        "-_0_0_0/../../secret.txt",
    ],
)
def test_a_payload_path_that_leads_out_of_the_report_is_not_opened(tmp_path: Path, path: str):
    (tmp_path / "secret.txt").write_text("def forward(self): do not read me\n")
    report = tmp_path / "report"
    report.mkdir()
    record = {"aot_inference_graph": {}, "has_payload": "0" * 32, "payload_filename": path} | PREFIX
    (report / "raw.jsonl").write_bytes(jsonl(record))
    run = aoti_logs.load(report)
    (found,) = run.evidence.traces[0]
    assert (found.has_payload, found.problem) == (False, "the path of its payload leads out of the report")
    assert [s.name for s in run.all_sources] == ["raw.jsonl"]


def test_a_path_through_the_report_stays_in_it():
    record = {
        "artifact": {"name": "a/b/../c"},
        "payload_filename": "-_-_-_-/a/b/../c_0.txt",
        "has_payload": "0" * 32,
    }
    index = index_of(jsonl(record | PREFIX), **{"-_-_-_-__a__c_0.txt": b"text"})
    assert index[0].text == "text"


def test_a_url_in_the_directory_names_no_file(tmp_path: Path):
    (tmp_path / "secret.txt").write_text("graph():\n    do not read me\n")
    report = tmp_path / "report"
    report.mkdir()
    artifact = {"name": "x_0.txt", "number": 0, "readable_url": None, "suffix": "", "url": "../secret.txt"}
    (report / "compile_directory.json").write_text(json.dumps({"[0/0]": {"artifacts": [artifact]}}, indent=2))
    run = aoti_logs.load(report)
    assert [s.name for s in run.all_sources] == ["compile_directory.json"]
    assert [r.name for r in run.evidence.traces[0]] == ["link"]


def test_a_string_table_of_nulls_defines_no_strings():
    index = index_of(
        jsonl(
            {"dynamo_start": {"stack": [{"filename": 200_000, "line": 1, "name": "f"}]}} | PREFIX,
            strings=[*[None] * 200_000, "a.py"],
        )
    )
    assert index.counts() == {"str": 1, "dynamo_start": 1}
    assert index[1].frames(index[1].metadata["stack"])[0].file == "a.py"


@pytest.mark.parametrize(
    "table", ['{"string_table":3}', '{"string_table":[1,{"a":2},["b"]]}', '{"string_table":null,"x":1}']
)
def test_a_string_table_of_other_things_defines_none(table: str):
    index = index_of(table.encode() + b"\n" + jsonl({"link": {}} | PREFIX))
    assert len(index.strings) == 0
    assert_partition(index)


def test_a_payload_named_a_million_times_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_payloads, "_LEAST_BUDGET", 10_000)
    record = {
        "artifact": {"name": "x"},
        "payload_filename": "payloads/x.txt",
        "has_payload": "0" * 32,
    } | PREFIX
    index = index_of(jsonl(*[record] * 100), payloads__x=b"")
    index.report.files["payloads/x.txt"] = source("payloads/x.txt", b"x" * 1000)
    assert sum(r.has_payload for r in index) == 10
    assert index[-1].problem == _payloads.TOO_MUCH
    assert index.source.size < 50_000


@pytest.mark.parametrize(
    "prefix",
    [
        {"timestamp": 1, "thread": "x", "pathname": None, "lineno": []},
        {"timestamp": "yesterday", "thread": -1, "pathname": 3, "lineno": 10**30},
        {
            "timestamp": "2026-13-45T99:99:99.0Z",
            "thread": 10**25,
            "pathname": " a\nV1129 12:10:21.164000 1 b:1] {",
            "lineno": True,
        },
        {},
    ],
)
def test_a_prefix_of_wrong_types_is_not_known(prefix: dict[str, Any]):
    index = index_of(jsonl({"link": {"name": "x", "url": "y"}} | prefix))
    (record,) = index
    assert (record.name, record.process) == ("link", 0)
    assert record.metadata == {"name": "x", "url": "y"}


def test_a_path_with_line_ends_begins_no_record_of_its_own():
    from aoti_logs.records.scan import scan

    index = index_of(
        jsonl({"link": {}} | PREFIX | {"pathname": ' a\nV1129 12:10:21.164000 1 b:1] {"x": {}}\n'})
    )
    assert len(scan(index.source.data).start) == len(index) == 1


def test_numbers_that_are_not_json_and_deep_nesting_do_not_raise():
    deep = b'{"link":' + b"[" * 5000 + b"]" * 5000 + b"}\n"
    index = index_of(jsonl() + b'{"link":{"x":NaN},"rank":-1}\n' + deep + b'{"link":"\\ud800"}\n')
    assert next(record.name for record in index) == "link"
    assert_partition(index)


@given(
    st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=30), st.just(b"\n")), max_size=20),
    st.integers(0, 3000),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_lines_in_any_order_cut_anywhere_add_up(lines: list[bytes], cut: int):
    data = b"".join(lines)
    assert_partition(index_of(data[cut % (len(data) + 1) :]))


@given(st.integers(0, len(EVENTS)), st.integers(0, len(EVENTS)), st.binary(max_size=10))
@settings(max_examples=60)
def test_events_with_a_hole_add_up_and_whole_ones_are_found(start: int, length: int, instead: bytes):
    data = EVENTS[:start] + instead + EVENTS[start + length :]
    index = index_of(jsonl(), events=data)
    assert_partition(index)
    whole = data.count(b'\n  {\n    "args"') - instead.count(b'\n  {\n    "args"')
    assert len(list(index.find("chromium_event"))) >= whole - 2


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "ts", "args", "ph", "compile_id", "pid"]), inner, max_size=4
            )
        ),
    )
)
def test_events_of_any_form_do_not_raise(value: Any):
    events = [
        {"name": "compile_attempt_1", "args": value, "ts": value, "ph": "B", "cat": "dynamo_timed"},
        value,
    ]
    index = index_of(jsonl({"link": {}} | PREFIX), events=json.dumps(events).encode())
    assert len(index) >= 1
    assert_partition(index)


@given(st.binary(max_size=200))
def test_a_page_of_anything_does_not_raise(data: bytes):
    code_of(source("x.html", b'<pre style="background-color:#ffffff;">\n' + data))
    code_of(source("x.html", data))


def test_a_time_in_february_of_any_year_is_a_time():
    assert milliseconds("0229 00:00:00.000000", 1_700_000_000_000.0) == 1_709_164_800_000
    assert milliseconds("0230 00:00:00.000000", 1_700_000_000_000.0) is None
    assert milliseconds("", 0.0) is None


def test_without_a_word_about_the_clocks_events_go_behind_all_records():
    record = {"link": {}} | PREFIX
    events = [{"name": "dynamo", "ph": "B", "ts": 1e15, "cat": "dynamo_timed"}]
    index = index_of(jsonl(record, record), events=json.dumps(events).encode())
    assert [r.name for r in index] == ["link", "link", "chromium_event"]
    assert offset(jsonl(record), 1e12, 1e12) is None


def test_sources_without_a_report_are_left_as_they_are():
    sources = [Source("a.log", Kind.LOG, lambda: b"x"), source("b.html", b"<html>")]
    assert group(sources, set()) == (sources, [])


def test_one_event_is_enough():
    events = Events(source("e.json", b'{"name": "x", "cat": "dynamo_timed"}'))
    assert [e.envelope for e in events] == [{"chromium_event": {}}]
