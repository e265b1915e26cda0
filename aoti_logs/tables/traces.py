"""Each trace as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.traces.summary import summary
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Traces(dy.Schema):
    """One row a TORCH_TRACE log, or report that tlparse wrote of one."""

    source = t.source()
    rank = dy.Int64(nullable=True, description="Rank in the file's name.")
    ranks = dy.List(dy.Int64(), nullable=False, description="Ranks that records give; they may differ.")
    pid = dy.Int64(nullable=True, description="Process of the first record (thread in torch 2.4).")
    pids = dy.List(dy.Int64(), nullable=False, description="Processes that wrote into the file.")
    torch_version = dy.String(nullable=True, description="Version, where the trace or its metrics say it.")
    first_time = dy.String(nullable=True, description="Time of the first record, `MMDD HH:MM:SS.uuuuuu`.")
    last_time = dy.String(nullable=True, description="Time of the last record.")
    n_records = dy.Int64(nullable=False, description="Records, strings included.")
    n_str_records = dy.Int64(nullable=False, description="Definitions of strings among them.")
    n_payloads = dy.Int64(nullable=False, description="Records with a payload.")
    n_payload_checksum_failures = dy.Int64(
        nullable=False, description="Payloads that are not what was written."
    )
    n_damaged = dy.Int64(nullable=False, description="Records with anything wrong, those included.")
    n_unparsed = dy.Int64(nullable=False, description="Ranges of bytes that belong to no record.")
    n_records_with_rank = dy.Int64(nullable=False, description="Records that give a rank.")
    records_without_attempt = dy.Int64(
        nullable=False,
        description="Records that give a compile id and no attempt: torch 2.7 writes them while the compiled code runs.",
    )
    n_artifact_names = dy.Int64(nullable=False, description="Different names of artifacts.")
    n_compile_ids = dy.Int64(nullable=False, description="Different compile ids, attempts not counted.")
    compile_ids = dy.List(dy.String(), nullable=False, description="Those ids in order of appearance.")
    trace_ids = dy.List(
        dy.String(), nullable=False, description="Ids as torch prints them, with attempts: `0/0_1`."
    )
    unknown_entries = dy.List(dy.String(), nullable=False, description="Entry names that torch does not use.")
    string_ids = dy.List(
        dy.Int64(), nullable=False, description="Smallest and largest id of the strings; empty without any."
    )
    strings_from = dy.String(nullable=True, description="Trace that defines the ids which this one lacks.")
    n_dangling_frames = dy.Int64(
        nullable=False, description="Stack frames whose file name this file does not define."
    )
    dangling_string_ids = dy.List(dy.Int64(), nullable=False, description="Their ids.")


SCHEMA = Traces


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the row of one trace, values in the order of the columns."""
    s = summary(trace)
    # A tlparse report does not tell the time of every record.
    first = next((record.time for record in trace if record.time), None)
    last = next((trace[n].time for n in range(len(trace) - 1, -1, -1) if trace[n].time), None)
    yield (
        trace.source.name, trace.source.rank, s.ranks, s.pids[0] if s.pids else None, s.pids, s.torch_version, first,
        last, len(trace), s.n_strings, s.n_payloads, s.n_changed, s.n_damaged, len(trace.unparsed), s.n_with_rank,
        s.n_without_attempt,
        s.n_artifact_names, len(s.compile_ids), s.compile_ids, s.trace_ids, s.unknown_entries, s.string_ids,
        s.strings_from, s.n_dangling, s.dangling,
    )  # fmt: skip
