"""A trace as a whole: counts, ids, processes, strings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.records.catalogue import is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord


_FILE_ID = re.compile(rb'"filename": ?(-?\d{1,18})\b')


@dataclass
class Summary:
    """What `traces` says of one trace; lists in order of appearance, each item once."""

    n_strings: int = 0
    n_payloads: int = 0
    n_changed: int = 0
    n_damaged: int = 0
    n_with_rank: int = 0
    n_without_attempt: int = 0
    n_artifact_names: int = 0
    n_dangling: int = 0
    torch_version: str | None = None
    strings_from: str | None = None
    ranks: list[int] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    compile_ids: list[str] = field(default_factory=list)
    trace_ids: list[str] = field(default_factory=list)
    unknown_entries: list[str] = field(default_factory=list)
    string_ids: list[int] = field(default_factory=list)
    dangling: list[int] = field(default_factory=list)


def summary(trace: TraceIndex) -> Summary:
    """Count what a trace holds; reads and hashes all of it."""
    checks, ids = trace.checks, trace.context.ids
    strings = sum(n for key, n in trace.counts().items() if key == "str")
    out = Summary(pids=list(trace.processes), n_strings=strings)
    out.n_payloads = sum(c.length is not None or r.has_payload for r, c in zip(trace, checks, strict=True))
    out.n_changed = sum(check.intact is False for check in checks)
    out.n_damaged = sum(check.problem is not None for check in checks)
    out.n_with_rank = sum(i.rank is not None for i in ids)
    out.n_without_attempt = sum(i.compile_id is not None and i.attempt is None for i in ids)
    distinct = dict.fromkeys(ids)
    out.ranks = list(dict.fromkeys(i.rank for i in distinct if i.rank is not None))
    out.trace_ids = list(dict.fromkeys(i.trace_id for i in distinct if i.trace_id is not None))
    out.compile_ids = list(_compiles(trace))
    dangling: dict[int, int] = {}
    for record in trace.with_stacks():
        for number in _undefined(record):
            dangling[number] = dangling.get(number, 0) + 1
    out.unknown_entries = list(dict.fromkeys(name for name, _ in trace.columns.keys if not is_known(name)))
    out.n_artifact_names = sum(name == "artifact" and own is not None for name, own in trace.columns.keys)
    defined = trace.string_definitions.of_all
    out.string_ids = [min(defined), max(defined)] if defined else []
    out.dangling, out.n_dangling = sorted(dangling), sum(dangling.values())
    if dangling and trace.parent is not None:
        out.strings_from = trace.parent.source.name
    out.torch_version = version(trace)
    return out


def _compiles(trace: TraceIndex) -> dict[str, None]:
    """Return the readable ids in order of the first record of each."""
    first = {f"aoti/{n}": stretch[0] for n, stretch in enumerate(trace.aot_compiles.stretches)}
    for number, ids in enumerate(trace.context.ids):
        if ids.compile_id is not None and ids.compile_id not in first:
            first[ids.compile_id] = number
    return dict.fromkeys(sorted(first, key=first.__getitem__))


def version(trace: TraceIndex) -> str | None:
    """Return the torch version that a trace names (2.13's `torch_version`, the metrics of 2.9 and later)."""
    for record in trace.find("artifact:torch_version", "compilation_metrics"):
        value = record.metadata if record.name == "compilation_metrics" else record.json()
        found = value.get("pytorch_version") if isinstance(value, dict) else None
        if isinstance(found, str):
            return found
    return None


def _undefined(record: TraceRecord) -> Iterator[int]:
    """Yield the ids of files in the record's frames that its file does not define."""
    defined = record.index.string_definitions.of_all
    for digits in _FILE_ID.findall(record.raw_envelope):
        number = int(digits)
        if number not in defined:
            yield number
