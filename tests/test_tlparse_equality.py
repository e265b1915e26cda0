"""A trace and the report that tlparse wrote of it give the same tables.

`NOT_CARRIED` is the list of what a report cannot tell, with the reason; docs/tlparse_reports.md has it in words.
Tables are not named here unless they lack something, so that a new table is tested, too.
"""

from pathlib import Path

import polars as pl
import pytest

import aoti_logs
from tests import tlparse_reports as reports
from tests.conftest import CORPUS
from tests.tlparse_reports import TRACES, copy, of_traces, only_trace, report_of, rows, trace_of

PLACE = "quotes name a line of the report's files"
EVENTS = (
    "chromium_events.json has the events without their envelopes: no time, no emitter, no stack, no checksum"
)
STRINGS = "the string table of raw.jsonl has the strings, but not where they were defined"
JSON = "tlparse writes JSON payloads anew"
RUNTIME = "events of a compiled model's runtime name a compile, although their records have no compile id"
NAME = "the report of one trace does not say how the file of the trace was called, which may hold the rank"

NOT_CARRIED: dict[str, dict[str, str]] = {
    "*": {"source": PLACE, "line": PLACE, "rank": NAME},
    "buffers": {"released_line": PLACE},
    "traces": {
        "first_time": STRINGS,
        "last_time": EVENTS,
        "n_unparsed": "text between records is in raw.log only",
        "n_payload_checksum_failures": JSON,
        "n_damaged": JSON,
    },
    "entries": {"bytes": "records of a report have other bytes"},
    "trace_records": {
        "number": EVENTS,
        "level": "raw.jsonl does not have it",
        "time": EVENTS,
        "emitter": EVENTS,
        "emitter_line": EVENTS,
        "payload_bytes": JSON,
        "md5": EVENTS,
        "intact": JSON,
        "problem": JSON,
        "compile_id": STRINGS,
        "attempt": RUNTIME,
    },
    "artifacts": {"payload_bytes": JSON},
    "compiles": {"n_records": RUNTIME},
    "guards": {"tree": PLACE},
    "inputs": {"evidence": PLACE},
    "kernels": {"end_line": PLACE},
}
"""Table -> column -> why a report cannot tell it."""

CODE = (
    "symbols",
    "graphs",
    "kernels",
    "launches",
    "launch_arguments",
    "sizes",
    "inputs",
    "constants",
    "checks",
    "buffers",
)
"""Tables made of the code and graphs in a trace."""

RUNTIME_EVENTS = ("CachingAutotuner.benchmark_all_configs", "cudagraphify", "CUDAGraphTreeManager")


def left_out(table: str, *, ranks: bool) -> set[str]:
    return (set(NOT_CARRIED["*"]) | set(NOT_CARRIED.get(table, {}))) - ({"rank"} if ranks else set())


def frame_of(run: aoti_logs.Run, table: str) -> pl.DataFrame:
    frame = run.tables[table]
    if table == "events":
        return frame.filter(
            ~pl.any_horizontal(pl.col("name").str.starts_with(name) for name in RUNTIME_EVENTS)
        )
    if table == "artifacts":  # of a long one the first characters are shown, and tlparse writes JSON anew
        written_anew = pl.col("encoding").eq_missing("json")
        return frame.with_columns(pl.when(written_anew).then(None).otherwise("text").alias("text"))
    if table != "python_frames":
        return frame
    (trace,) = run.evidence.traces
    events = {record.where for record in trace.find("chromium_event")}
    keep = [place not in events for place in zip(frame["source"], frame["line"], strict=True)]
    return frame.filter(pl.Series(keep, dtype=pl.Boolean))


def differences(trace: Path, report: Path, *, ranks: bool = False) -> dict[str, list[str]]:
    """Return of each table the first rows that only one of the two has; ranks may come from a file's name."""
    one, other = aoti_logs.load(trace), aoti_logs.load(report)
    found = {}
    for table in (*of_traces(), *(name for name in CODE if name in one.tables)):
        left = rows(frame_of(one, table), only_trace(one), left_out(table, ranks=ranks))
        right = rows(frame_of(other, table), only_trace(other), left_out(table, ranks=ranks))
        if left != right:
            found[table] = [
                next((r for r in left if r not in right), ""),
                next((r for r in right if r not in left), ""),
            ]
    return found


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_a_report_without_its_trace_gives_the_tables_of_the_trace(fixture: str):
    assert differences(trace_of(TRACES[fixture]), report_of(fixture)) == {}


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_a_report_with_its_trace_gives_the_tables_of_the_trace(fixture: str, tmp_path: Path):
    trace = trace_of(TRACES[fixture])
    report = copy(report_of(fixture), tmp_path / "report")
    (report / "raw.log").write_bytes(trace.read_bytes())
    one, other = aoti_logs.load(trace), aoti_logs.load(report)
    assert only_trace(other) == "raw.log"
    for table in (*of_traces(), *CODE):
        if table in one.tables:
            assert rows(one.tables[table], only_trace(one), set()) == rows(
                other.tables[table], "raw.log", set()
            ), table


@pytest.mark.parametrize("fixture", sorted(TRACES))
def test_every_row_of_a_report_names_a_line_that_can_be_opened(fixture: str):
    run = aoti_logs.load(report_of(fixture))
    lines = {source.name: bytes(source.data).count(b"\n") + 1 for source in run.files}
    for table in run.tables:
        frame = run.tables[table]
        if not {"source", "line"} <= set(frame.columns):
            continue
        wrong = [
            (table, source, line)
            for source, line in zip(frame["source"], frame["line"], strict=True)
            if line is not None and not 1 <= line <= lines.get(source, 0)
        ]
        assert not wrong


needs_tlparse = pytest.mark.skipif(reports.tlparse() is None, reason="needs tlparse")


@needs_tlparse
def test_reports_of_ranks_give_the_tables_of_their_traces(tmp_path: Path):
    traces = tmp_path / "traces"
    traces.mkdir()
    for rank, fixture in reports.RANKS.items():
        name = f"dedicated_log_torch_trace_rank_{rank}_aaaaaaaa.log"
        (traces / name).write_bytes(trace_of(fixture).read_bytes())
    assert reports.write_report(traces, tmp_path / "report", "--all-ranks-html")
    for path in (tmp_path / "report").rglob("raw.log"):
        path.unlink()
    both = aoti_logs.load(tmp_path / "report")
    assert sorted(t.source.rank or 0 for t in both.evidence.traces) == sorted(reports.RANKS)
    for rank in reports.RANKS:
        name = f"dedicated_log_torch_trace_rank_{rank}_aaaaaaaa.log"
        # Here the name of a file is carried: it gives the folder its name.
        assert differences(traces / name, tmp_path / "report" / f"rank_{rank}", ranks=True) == {}


# What tlparse loses of damaged and edited traces, as the tables that show it.
LOST = {
    "tlparse-inputs/export.log": {"graphs", "artifacts"},  # blank lines in a payload
    "tlparse-inputs/export_guard_added.log": {"graphs", "artifacts"},
    "tlparse-inputs/simple_corrupted_json.log": {"traces", "entries", "trace_records", "metrics"},  # an event
    "collectives_parity": {"events"},  # envelopes and payloads that were edited apart
    "multi_rank_runtime": {"events"},
    "edge_empty_payload": {"traces", "entries", "trace_records"},  # NaN in an envelope
    "edge_rank_early": {"traces", "entries"},  # the payload of `torch_version`, which has no rank
    "inductor_provenance_extended_log": {"compiles"},  # a record appended later
}


def corpus_traces() -> list[Path]:
    folders = ("tlparse-inputs", "cpu-torch2.13/torch_trace", "gpu-torch2.11", "versions")
    found = [
        p
        for folder in folders
        for p in sorted((CORPUS / folder).rglob("*"))
        if "torch_trace" in p.name or folder == folders[0]
    ]
    plain = [p for p in found if p.suffix in {".log", ".txt"} and p.is_file() and "messy" not in str(p)]
    return plain[::8]


@needs_tlparse
@pytest.mark.corpus
@pytest.mark.parametrize("trace", corpus_traces(), ids=lambda path: path.name)
def test_a_report_of_a_real_trace_gives_its_tables(trace: Path, tmp_path: Path):
    assert reports.write_report(trace, tmp_path / "report")
    (tmp_path / "report" / "raw.log").unlink()
    known = next((tables for part, tables in LOST.items() if part in trace.as_posix()), set())
    found = differences(trace, tmp_path / "report")
    assert {table: rows for table, rows in found.items() if table not in known} == {}


@needs_tlparse
def test_the_fixtures_are_what_tlparse_writes(tmp_path: Path):
    from fixtures.record import tlparse_reports as record

    for report in record.REPORTS:
        record.write(report, tmp_path / report.name)
        files = record.content(tmp_path / report.name)
        kept = record.content(record.FIXTURES / report.name / "report")
        written = {path: data for path, data in files.items() if path.endswith(report.keep)}
        for path in list(written) if "--all-ranks-html" in report.options else ():
            # tlparse takes the ranks as the file system lists them, and the first one's strings into all.
            if path.endswith("raw.jsonl"):
                kept[path], written[path] = (data.split(b"\n", 1)[1] for data in (kept[path], written[path]))
        assert kept == written


def test_a_failure_is_explained_alike_with_the_report_as_evidence():
    """Rule, title, facts and steps of the chain are the same; quotes name files of the report."""
    fixture = TRACES["tlparse_aoti"]
    log = reports.FIXTURES / fixture / "run.log"
    evidence = (trace_of(fixture), report_of("tlparse_aoti"))
    one, other = (aoti_logs.load(log, context=path).explain() for path in evidence)
    assert len(one.findings) == len(other.findings) > 0
    for left, right in zip(one.findings, other.findings, strict=True):
        assert (left.rule, left.confidence, left.title) == (right.rule, right.confidence, right.title)
        places = {"kernel_source", "wrapper"}
        facts = [{k: v for k, v in f.facts.items() if k not in places} for f in (left, right)]
        assert facts[0] == facts[1]
        assert [link.step for link in left.chain] == [link.step for link in right.chain]
    files = {link.place.source for f in other.findings for link in f.chain if link.place}
    assert files >= {"raw.jsonl", "-_-_-_-/inductor_aot_wrapper_code_10.txt"}
