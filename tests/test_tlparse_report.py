"""What the records of a report say, where its trace is missing."""

import json
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.records.tlparse.events import Events
from aoti_logs.records.tlparse.index import ReportIndex
from aoti_logs.records.trace import TraceIndex, TraceRecord
from aoti_logs.sources.source import Kind, Source
from tests.tlparse_reports import RANKS, TRACES, copy, report_of, trace_of

AOTI = report_of("tlparse_aoti")
COMPILE = report_of("tlparse_compile")


def index_of(path: Path) -> TraceIndex:
    (index,) = aoti_logs.load(path).evidence.traces
    return index


def told(index: TraceIndex) -> list[TraceRecord]:
    return [record for record in index if record.name not in {"str", "chromium_event"}]


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_records_stand_in_the_order_of_the_trace_with_their_prefixes(fixture: str):
    left, right = told(index_of(trace_of(TRACES[fixture]))), told(index_of(report_of(fixture)))
    for one, other in zip(left, right, strict=True):
        assert (one.key, one.time, one.process, one.emitter) == (
            other.key,
            other.time,
            other.process,
            other.emitter,
        )
        assert (one.compile_id, one.compile, one.attempt) == (other.compile_id, other.compile, other.attempt)
        assert other.problem is None


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_payloads_are_those_of_the_trace_and_json_has_the_same_value(fixture: str):
    left, right = told(index_of(trace_of(TRACES[fixture]))), told(index_of(report_of(fixture)))
    for one, other in zip(left, right, strict=True):
        assert one.has_payload == other.has_payload
        check = other.check()
        if check.intact:
            assert one.payload == other.payload
        elif other.has_payload:
            assert one.json() == other.json() is not None


def test_a_record_is_quoted_from_the_line_of_raw_jsonl_that_tells_of_it():
    (record,) = index_of(COMPILE).find("dynamo_output_graph")
    assert record.place.source == "raw.jsonl"
    line = (COMPILE / "raw.jsonl").read_text().splitlines()[record.line - 1]
    assert record.head.text == line + "\n"
    assert json.loads(line)["dynamo_output_graph"] == record.metadata


def test_a_payload_is_quoted_from_its_file():
    index = index_of(COMPILE)
    (record,) = index.find("dynamo_cpp_guards_str")
    file, lines = record.payload_where
    assert (COMPILE / file).read_text().splitlines()[lines[3] - 1] == record.text.splitlines()[3]
    assert index.source.place(record.payload_lines()[3]).source == file


def test_a_line_of_any_file_of_a_report_leads_to_its_record():
    run = aoti_logs.load(COMPILE)
    (record,) = run.evidence.traces[0].find("dynamo_output_graph")
    file, lines = record.payload_where
    assert run.record("raw.jsonl", record.line).number == run.record(file, lines[2]).number == record.number
    event = next(run.evidence.traces[0].find("chromium_event"))
    assert run.record("chromium_events.json", event.line + 1).json() == event.json()
    with pytest.raises(KeyError):
        run.record("compile_directory.json", 1)


def test_an_event_is_quoted_from_chromium_events_json():
    event = next(index_of(COMPILE).find("chromium_event"))
    assert event.place.source == "chromium_events.json"
    assert json.loads(event.head.text) == event.json()
    assert (event.time, event.level, event.emitter) == ("", "", ("", 0))


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_events_stand_between_the_records_of_the_same_milliseconds(fixture: str):
    """Within a millisecond nothing tells the order; begins come before records, ends behind them."""
    trace, report = index_of(trace_of(TRACES[fixture])), index_of(report_of(fixture))
    times = {json.dumps(r.json(), sort_keys=True): r.time for r in trace.find("chromium_event")}
    latest = ""
    for record in report:
        if record.name == "chromium_event":
            time = times[json.dumps(record.json(), sort_keys=True)]
            assert time >= latest or record.json()["ph"] == "i"
        elif record.time:
            latest = max(latest, record.time)


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_events_have_the_compile_id_that_they_name(fixture: str):
    left, right = (
        list(index_of(p).find("chromium_event")) for p in (trace_of(TRACES[fixture]), report_of(fixture))
    )
    assert [(e.compile_id, e.attempt, e.process) for e in left] == [
        (e.compile_id, e.attempt, e.process) for e in right
    ]


def test_an_id_that_begins_again_is_in_its_first_attempt():
    def event(name: str, phase: str) -> dict[str, object]:
        return {"name": name, "ph": phase, "ts": 1.0, "args": {"compile_id": "0/0"}}

    restarted = [event("compile_attempt_0", "B"), event("compile_attempt_1", "B"), event("dynamo", "E")]
    events = [event("dynamo", "B"), *restarted, event("dynamo", "B"), event("dynamo", "E")]
    data = json.dumps(events, indent=2).encode()
    found = Events(Source("chromium_events.json", Kind.TLPARSE_REPORT, lambda: data))
    assert [entry.envelope["attempt"] for entry in found] == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_strings_are_those_of_the_trace(fixture: str):
    assert dict(index_of(trace_of(TRACES[fixture])).strings) == dict(index_of(report_of(fixture)).strings)


def test_strings_of_other_ranks_in_the_table_of_a_rank_are_left_out():
    """tlparse keeps one table for all ranks, so that of the second one has those of the first, too."""
    tables, own = {}, {}
    for rank, fixture in RANKS.items():
        folder = report_of("tlparse_ranks") / f"rank_{rank}"
        first = (folder / "raw.jsonl").read_bytes().split(b"\n", 1)[0]
        tables[rank] = sum(string is not None for string in json.loads(first)["string_table"])
        own[rank] = len(index_of(trace_of(fixture)).strings)
        assert dict(index_of(folder).strings) == dict(index_of(trace_of(fixture)).strings)
    assert any(tables[rank] > own[rank] for rank in RANKS)


def test_a_rank_without_events_of_its_own_has_those_of_the_file_of_all_ranks(tmp_path: Path):
    whole = index_of(copy(report_of("tlparse_ranks"), tmp_path / "whole") / "rank_1")
    report = copy(report_of("tlparse_ranks"), tmp_path / "r")
    (report / "rank_1" / "chromium_events.json").unlink()
    _, second = aoti_logs.load(report).evidence.traces
    left, right = (
        [{k: v for k, v in e.json().items() if k != "pid"} for e in index.find("chromium_event")]
        for index in (whole, second)
    )
    assert left == right != []


def test_a_payload_that_was_not_shared_is_missed_by_name(tmp_path: Path):
    report = copy(COMPILE, tmp_path / "r", without=("dynamo_output_graph_*",))
    (record,) = index_of(report).find("dynamo_output_graph")
    assert not record.has_payload
    assert record.problem == "its payload is not in the report"
    assert record.metadata["sizes"]


def test_a_payload_that_is_not_what_was_written_is_told(tmp_path: Path):
    report = copy(COMPILE, tmp_path / "r")
    (graph,) = report.glob("*/dynamo_output_graph_*.txt")
    graph.write_text("def forward(): pass")
    (record,) = index_of(report).find("dynamo_output_graph")
    assert record.check().intact is False
    assert record.text == "def forward(): pass"


def test_code_is_read_from_its_page_where_the_payload_is_missing(tmp_path: Path):
    (whole,) = index_of(COMPILE).find("inductor_output_code")
    report = copy(COMPILE, tmp_path / "r", without=("[0-9a-f]*.txt",))
    assert not list(report.glob("payloads/*"))
    (record,) = index_of(report).find("inductor_output_code")
    assert record.payload == whole.payload
    file, lines = record.payload_where
    assert file.endswith(".html")
    assert "import torch" in (report / file).read_text().splitlines()[
        lines[record.text.splitlines().index("import torch")] - 1
    ].replace("</span>", "").replace('<span style="color:#323232;">', "")


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_without_raw_jsonl_names_of_files_tell_of_records(fixture: str, tmp_path: Path):
    """Name, compile id and payload are known then, and nothing else."""
    named = index_of(copy(report_of(fixture), tmp_path / "r", without=("raw.jsonl",)))
    listed = json.loads((report_of(fixture) / "compile_directory.json").read_bytes())
    numbers = [
        a["number"]
        for files in listed.values()
        for a in files["artifacts"]
        if a["name"].endswith((".txt", ".json"))
    ]
    records = told(named)
    assert len(records) >= len(numbers)
    whole = {(r.artifact or r.name, r.compile_id, r.payload) for r in told(index_of(report_of(fixture)))}
    assert {(r.artifact or r.name, r.compile_id, r.payload) for r in records} <= whole
    assert {(r.time, r.process, r.emitter) for r in records} == {("", 0, ("", 0))}


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_without_raw_jsonl_code_and_graphs_are_the_same(fixture: str, tmp_path: Path):
    whole, named = (
        aoti_logs.load(report_of(fixture)),
        aoti_logs.load(copy(report_of(fixture), tmp_path / "r", without=("raw.jsonl",))),
    )
    for table in ("kernels", "graphs", "launches"):
        left, right = (
            sorted(map(repr, run.tables[table].select(column).rows()))
            for run, column in (
                (whole, "name" if table != "launches" else "kernel"),
                (named, "name" if table != "launches" else "kernel"),
            )
        )
        assert [text.rpartition("#")[2] for text in left] == [text.rpartition("#")[2] for text in right] != []


def test_links_are_told_and_not_followed(tmp_path: Path):
    (tmp_path / "compile_directory.json").write_text(
        json.dumps(
            {
                "[0/0]": {
                    "artifacts": [
                        {
                            "name": "profile",
                            "number": 0,
                            "readable_url": None,
                            "suffix": "",
                            "url": "file:///etc/hostname",
                        }
                    ]
                }
            },
            indent=2,
        )
    )
    (record,) = index_of(tmp_path)
    assert (record.name, record.metadata) == ("link", {"name": "profile", "url": "file:///etc/hostname"})
    assert record.place.line == 9


def test_a_report_of_export_gives_its_program(corpus_dir: Path):
    index = index_of(corpus_dir / "tlparse-reports" / "export_flag")
    assert isinstance(index, ReportIndex)
    (record,) = index
    assert record.name == "exported_program"
    assert record.text.startswith("ExportedProgram:")


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"a": 1', b"[1]\n", b'"x"\n', b"\xff\n", b'{"timestamp":"x"}\n']
)
def test_a_damaged_line_is_a_row_of_unparsed(damage: bytes, tmp_path: Path):
    report = copy(COMPILE, tmp_path / "r")
    file = report / "raw.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:5], damage, *lines[6:]]))
    run = aoti_logs.load(report)
    rows = [row for row in run.tables["unparsed"].iter_rows(named=True) if row["source"] == "raw.jsonl"]
    assert [row["line"] for row in rows] == ([6] if damage else [])
    assert run.tables["trace_records"].height > 100


def test_what_is_cut_off_of_the_events_is_a_row_of_unparsed(tmp_path: Path):
    report = copy(COMPILE, tmp_path / "r")
    file = report / "chromium_events.json"
    data = file.read_bytes()
    file.write_bytes(data[: data.index(b"\n  },", 3000) + 40])
    run = aoti_logs.load(report)
    (row,) = run.tables["unparsed"].iter_rows(named=True)
    assert (row["source"], row["expected"]) == ("chromium_events.json", "a chromium event")
    assert run.tables["events"].height > 3
