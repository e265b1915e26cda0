"""Payloads of a trace, whatever they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.traces.metrics import ENTRIES
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

_SHOWN = 1000
# Records of these are small, many, and whole rows of other tables.
_ELSEWHERE = frozenset(
    [
        "str",
        "chromium_event",
        "dynamo_start",
        "describe_storage",
        "describe_tensor",
        "describe_source",
        "create_symbol",
        "create_unbacked_symbol",
        "guard_added_fast",
        "guard_added",
        "expression_created",
        "symbolic_shape_specialization",
        "propagate_real_tensors",
        "propagate_real_tensors_provenance",
        "guard_on_data_dependent_error",
        *ENTRIES,
    ]
)


class Artifacts(dy.Schema):
    """One row an artifact, graph, dump, link, or entry of unknown kind; what other tables take apart is here too."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    entry = dy.String(
        nullable=False, description="Entry name, `artifact`, `graph_dump`, `dynamo_output_graph`, ..."
    )
    name = dy.String(nullable=True, description="Own name: of an artifact, dump, link or file.")
    encoding = dy.String(
        nullable=True, description="`json` or `string` as declared, which is no promise about the payload."
    )
    ordinal = dy.Int64(
        nullable=False,
        description="How many of this entry and name the compile had before: forward and backward write the same names.",
    )
    metadata = dy.String(
        nullable=True, description="The entry's other fields as a JSON object, `url` of a link."
    )
    payload_bytes = dy.Int64(nullable=True, description="Bytes of the payload; null without one.")
    text = dy.String(
        nullable=True,
        description="The payload, at most 1,000 characters; `Run.record(source, line).text` is all of it.",
    )


SCHEMA = Artifacts


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    names = {name for name, _ in trace.columns.keys} - _ELSEWHERE
    before: dict[tuple[str | None, ...], int] = {}
    for record in trace.find(*names):
        fields = t.mapping(record.metadata)
        name = t.text(fields.get("name"))
        where = t.here(record)
        key = (where[2], record.name, name)
        ordinal = before[key] = before.get(key, -1) + 1
        rest = {field: value for field, value in fields.items() if field not in ("name", "encoding")}
        payload = record.payload if record.has_payload else None
        shown = None if payload is None else payload[: 4 * _SHOWN].decode("utf-8", "replace")[:_SHOWN]
        yield (
            *where, record.attempt, record.name, name, t.text(fields.get("encoding")), ordinal,
            t.to_json(rest) if rest else None, None if payload is None else len(payload), shown,
        )  # fmt: skip
