"""Configuration that compiles ran with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.traces.metrics import CONFIGS, metrics_records
from aoti_logs.records.envelope import decode_json
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord


class Config(dy.Schema):
    """One row a value of each different configuration; a trace repeats the same one with every compile."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    config = dy.String(nullable=False, description="Whose: `dynamo`, `inductor`, `functorch`, `compiler`.")
    variant = dy.Int64(
        nullable=False, description="Number of the configuration among those of its kind in the file, from 0."
    )
    n_records = dy.Int64(
        nullable=False, description="Records with exactly this configuration; the first is named."
    )
    name = dy.String(
        nullable=False, description="Name, `max_autotune`; empty where the configuration is no JSON object."
    )
    value = dy.String(nullable=True, description="Value as text; lists and objects as JSON.")


SCHEMA = Config


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    seen: dict[tuple[str, str], tuple[TraceRecord, list[int]]] = {}
    for record, config, text in _configs(trace):
        seen.setdefault((config, text), (record, [0]))[1][0] += 1
    variants: dict[str, int] = {}
    for (config, text), (record, count) in seen.items():
        variant = variants[config] = variants.get(config, -1) + 1
        where = (*t.here(record), config, variant, count[0])
        for name, value in _values(text):
            yield *where, name, value


def _configs(trace: TraceIndex) -> Iterator[tuple[TraceRecord, str, str]]:
    for record, fields in metrics_records(trace):
        for field, config in CONFIGS.items():
            if isinstance(fields.get(field), str):
                yield record, config, fields[field]
    # Of torch's own only this artifact is a configuration, as JSON although it says `string`.
    for record in trace.find("artifact:torch._functorch.config"):
        yield record, "functorch", record.text


def _values(text: str) -> list[tuple[str, str | None]]:
    try:
        value = decode_json(text.encode("utf-8", "replace"))
    except ValueError:
        return [("", text)]
    if not isinstance(value, dict):
        return [("", text)]
    return [(str(name), t.text(item)) for name, item in value.items()]
