"""Why functions were compiled again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.guards.logged_recompile import recompiles_in
from aoti_logs.parse.guards.recompile_reason import read_recompile_reasons
from aoti_logs.tables import _log
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Source


class RecompileReasons(dy.Schema):
    """One row a cached compilation that did not fit when a function was compiled again (`recompile_reasons`,
    TORCH_LOGS=recompiles), the most recently used first: each call moves the one that fits to the front.
    """

    source = t.source()
    line = t.line()
    compile_id = dy.String(nullable=True, description="Compile id of the new compilation.")
    rank = t.rank()
    position = dy.Int64(
        nullable=False, description="Position among the reasons of one recompilation, from 0."
    )
    n_reasons = dy.Int64(nullable=False, description="How many there are.")
    cached_compile_id = dy.String(
        nullable=True, description="Compile id of the cached compilation that did not fit."
    )
    tensor = dy.String(
        nullable=True, description="The tensor that did not fit, a Dynamo source without its `L[...]`."
    )
    what = dy.String(
        nullable=True,
        description="What differs: `size`, `stride`, `dtype`, `rank`, `requires_grad`, `dispatch_key_set`, `device_index` or "
        "`type` of the tensor; `key`, `attribute`, `global_state`, `aliasing`, `deallocated`, `backend`, "
        "`dimension_marking`, `unexpected`. Of a guard what it tests: `size`, `stride` of one tensor, `sizes` of several, "
        "`int_equality`, `float_equality`, `bool_equality`, `str_equality`, `length` of a container, `type`, `identity`, "
        "`none`, `keys`, `default_device`, ...; null for another one.",
    )
    index = dy.Int64(nullable=True, description="Dimension whose size or stride differs or is tested.")
    expected = dy.String(nullable=True, description="What was compiled for, as printed.")
    actual = dy.String(nullable=True, description="What came, as printed.")
    subject = dy.String(
        nullable=True,
        description="The key, the attribute, the names of the state that changed, the Dynamo source that a guard tests.",
    )
    guard = dy.String(nullable=True, description="The guard that failed, Python text.")
    code = dy.String(nullable=True, description="The user's line of code that the guard comes from.")
    user_file = dy.String(nullable=True, description="Its file; torch cuts off its first characters.")
    user_line = dy.Int64(nullable=True, description="Its line, from 1.")
    user_function = dy.String(nullable=True, description="Its function.")
    framework = dy.String(
        nullable=True, description="Line of torch that made the guard, `FILE:LINE in FUNCTION`."
    )
    hint = dy.String(nullable=True, description="What else torch remarks.")
    n_user_frames = dy.Int64(
        nullable=False, description="Frames of the user's stack that is printed with it."
    )
    text = dy.String(nullable=False, description="The reason as printed, without that stack.")


SCHEMA = RecompileReasons


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find("artifact:recompile_reasons"):
        here = t.here(record)
        reasons = read_recompile_reasons(record.text)
        for position, reason in enumerate(reasons):
            yield (*here, position, len(reasons), *_values(reason))


def of_log(source: Source, events: LogEvents) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that a log tells; `line` is that of each reason."""
    for told in recompiles_in(events.messages):
        reasons = told.recompile.reasons
        for position, reason in enumerate(reasons):
            here = _log.here(source, told.message, told.line_of(position))
            yield (*here, position, len(reasons), *_values(reason))


def _values(r: RecompileReason) -> tuple[Any, ...]:
    return (
        r.cached_compile_id, r.tensor, r.what, r.index, r.expected, r.actual, r.subject, r.guard, r.code, r.user_file,
        r.user_line, r.user_function, r.framework, r.hint, len(r.user_stack), r.text,
    )  # fmt: skip
