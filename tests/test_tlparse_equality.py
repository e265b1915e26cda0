"""A trace and the report that tlparse wrote of it give the same tables.

`NOT_CARRIED` is the list of what a report cannot tell, with the reason; docs/tlparse_reports.md has it in words.
Tables are not named here unless they lack something, so that a new table is tested, too.
"""

from pathlib import Path

import polars as pl
import pytest

import aoti_logs
from tests import tlparse_reports as reports
from tests.tlparse_reports import TRACES, copy, of_traces, only_trace, report_of, rows, trace_of

PLACE = "quotes name a line of the report's files"
EVENTS = (
    "chromium_events.json has the events without their envelopes: no time, no emitter, no stack, no checksum"
)
STRINGS = "the string table of raw.jsonl has the strings, but not where they were defined"
JSON = "tlparse writes JSON payloads anew"
NAME = "the report of one trace does not say how the file of the trace was called, which may hold the rank"

NOT_CARRIED: dict[str, dict[str, str]] = {
    "*": {"source": PLACE, "line": PLACE},
    "traces": {
        "first_time": STRINGS,
        "last_time": EVENTS,
        "n_unparsed": "text between records is in raw.log only",
        "n_payload_checksum_failures": JSON,
        "n_damaged": JSON,
        "rank": NAME,
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
    },
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

# Events of torch's runtime name a compile, although their records have no compile id: EVENTS.
AFTER_COMPILING = ("CachingAutotuner.benchmark_all_configs", "cudagraphify", "CUDAGraphTreeManager")


def left_out(table: str) -> set[str]:
    return set(NOT_CARRIED["*"]) | set(NOT_CARRIED.get(table, {}))


def frame_of(run: aoti_logs.Run, table: str) -> pl.DataFrame:
    frame = run.tables[table]
    if table != "python_frames":
        return frame
    (trace,) = run.evidence.traces
    events = {record.where for record in trace.find("chromium_event")}
    keep = [place not in events for place in zip(frame["source"], frame["line"], strict=True)]
    return frame.filter(pl.Series(keep, dtype=pl.Boolean))


def differences(trace: Path, report: Path, *, also_not: set[str] = frozenset()) -> dict[str, list[str]]:
    """Return of each table the first rows that only one of the two has."""
    one, other = aoti_logs.load(trace), aoti_logs.load(report)
    found = {}
    for table in (*of_traces(), *(name for name in CODE if name in one.tables)):
        left = rows(frame_of(one, table), only_trace(one), left_out(table) | also_not)
        right = rows(frame_of(other, table), only_trace(other), left_out(table) | also_not)
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


@pytest.mark.skipif(reports.tlparse() is None, reason="needs tlparse")
def test_the_fixtures_are_what_tlparse_writes(tmp_path: Path):
    from fixtures.record import tlparse_reports as record

    for report in record.REPORTS:
        record.write(report, tmp_path / report.name)
        files = record.content(tmp_path / report.name)
        kept = record.content(record.FIXTURES / report.name / "report")
        assert kept == {path: data for path, data in files.items() if path.endswith(report.keep)}
