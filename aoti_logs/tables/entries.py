"""Which kinds of records a trace holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.records.catalogue import is_known
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex


class Entries(dy.Schema):
    """One row a trace and entry kind: how many records, and which of them are unknown to this reader."""

    source = t.source()
    entry = dy.String(nullable=False, description="Entry name, `artifact`, `chromium_event`, ...")
    known = dy.Bool(nullable=False, description="Whether torch 2.4 to 2.13 writes entries of this name.")
    n_records = dy.Int64(nullable=False, description="Records.")
    n_payloads = dy.Int64(nullable=False, description="Records with a payload.")
    bytes = dy.Int64(nullable=False, description="Bytes of the records, payloads included.")
    names = dy.List(
        dy.String(), nullable=False, description="Own names, each once: of artifacts and graph dumps."
    )
    unknown_fields = dy.List(
        dy.String(), nullable=False, description="Fields that torch does not write, each once."
    )


SCHEMA = Entries


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    columns, checks, unknown = trace.columns, trace.checks, trace.context.unknown
    counts: dict[str, list[int]] = {}
    names: dict[str, list[str]] = {}
    for (name, own), numbers in zip(columns.keys, columns.by_key, strict=True):
        count = counts.setdefault(name, [0, 0, 0])
        count[0] += len(numbers)
        count[1] += sum(checks[n].length is not None or trace[n].has_payload for n in numbers)
        count[2] += sum(trace.size_of(n) for n in numbers)
        names.setdefault(name, []).extend([] if own is None else [own])
    fields: dict[str, dict[str, None]] = {}
    for number, found in unknown.items():
        fields.setdefault(trace[number].name, {}).update(dict.fromkeys(found))
    for entry, (n_records, n_payloads, size) in counts.items():
        yield (
            trace.source.name, entry, is_known(entry), n_records, n_payloads, size, names[entry],
            list(fields.get(entry, ())),
        )  # fmt: skip
