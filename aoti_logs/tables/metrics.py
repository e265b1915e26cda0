"""What compiles cost and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.logged_metrics import logged_metrics
from aoti_logs.parse.traces.metrics import CONFIGS, metrics_records
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


class Metrics(dy.Schema):
    """One row a measured field of a metrics record; fields that are null there are left out, whole
    configurations are in `config`.
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    entry = dy.String(
        nullable=False,
        description="`compilation_metrics`, `bwd_...` for the backward, `..._runtime` for what ran later; in a log "
        "`compile_times` (seconds a function of torch took in the whole process) and `cache_metrics`.",
    )
    metric = dy.String(
        nullable=False,
        description="Field as torch names it: `_us` are microseconds, `_s` seconds, `_count` numbers.",
    )
    value = dy.Float64(nullable=True, description="Number, or 1 and 0 for true and false; null for text.")
    text = dy.String(nullable=True, description="Text; lists and objects as JSON; null for numbers.")


SCHEMA = Metrics


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for m in logged_metrics(events.messages):
        yield *_log.here(source, m.message, m.line), None, m.entry, m.metric, m.value, None


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record, fields in metrics_records(trace):
        where = (*t.here(record), record.attempt, record.name)
        for metric, value in fields.items():
            if value is None or (metric in CONFIGS and isinstance(value, str)):
                continue
            value_number = t.number(value)
            yield *where, metric, value_number, None if value_number is not None else t.text(value)
