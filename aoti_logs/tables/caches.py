"""What caches answered while compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.logged_caches import logged_caches
from aoti_logs.parse.traces.caches import cache_events
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


class Caches(dy.Schema):
    """One row an answer of a cache; an instant event only where no artifact says the same."""

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    entry = dy.String(nullable=False, description="`artifact` or `chromium_event`; `message` in a log.")
    cache = dy.String(
        nullable=False,
        description="`fx_graph`, `fx_graph_bundled`, `aot_autograd`, `precompile`, `dynamo` or `pgo`.",
    )
    status = dy.String(
        nullable=False,
        description="`hit`, `miss`, `bypass`, `disabled`, ...; `hash`: only the key (2024); `get` and `put` of pgo.",
    )
    detail = dy.String(nullable=True, description="Status in more words, `full_miss`.")
    key = dy.String(nullable=True, description="Key that was looked up.")
    reason = dy.String(nullable=True, description="Why the cache was bypassed.")
    time_saved_us = dy.Float64(nullable=True, description="Microseconds of compiling that a hit saved.")
    components = dy.List(
        dy.String(), nullable=False, description="What the key was made of, `[hash] part: value` each."
    )


SCHEMA = Caches


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells."""
    for c in logged_caches(events.messages):
        m = c.message
        attempt = None if m.compile_id is None else int((m.compile_id.partition("_")[2] or "0")[:9])
        yield (
            *_log.here(source, m, m.span.line), attempt, "message", c.cache, c.status, None, c.key, c.reason, None,
            list(c.components),
        )  # fmt: skip


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for e in cache_events(trace):
        yield (
            *t.here(e.record), e.record.attempt, e.record.name, e.cache, e.status,
            e.text("cache_status_detailed", "cache_state"), e.text("key", "cache_key"),
            e.text("cache_bypass_reason", "reason"), e.time_saved_us, e.components,
        )  # fmt: skip
