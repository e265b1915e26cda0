"""What failed while compiling or exporting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.traces.metrics import ENTRIES
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex, TraceRecord

_TEXTS = (
    "artifact:dynamo_error",
    "artifact:eager_compile_backwards_failure",
    "artifact:make_fx_fail_partial",
    "artifact:fx_interpreter_error",
    "artifact:aotautograd_cache_pickle_failure",
)
_KERNELS = ("missing_fake_kernel", "mismatched_fake_kernel")
_UNDECIDED = "guard_on_data_dependent_error"


class Failures(dy.Schema):
    """One row a record that tells of a failure; one failing compile may have several (metrics and traceback).

    An export that fails leaves no record of it in a TORCH_TRACE, at most what it had traced until then
    (`make_fx_fail_partial`).
    """

    source = t.source()
    line = t.line()
    compile_id = t.compile_id()
    rank = t.rank()
    attempt = t.attempt()
    entry = dy.String(
        nullable=False,
        description="Metrics, `dynamo_error` (traceback), `guard_on_data_dependent_error`, `missing_fake_kernel`, "
        "`make_fx_fail_partial` (the graph until it broke off), ...",
    )
    kind = dy.String(
        nullable=True,
        description="What kind of failure the text certainly is, `cpp_compile_error`; null for none.",
    )
    exception_type = dy.String(nullable=True, description="Class of the exception.")
    inner_types = dy.List(
        dy.String(), nullable=False, description="Classes of the exceptions inside of it, outermost first."
    )
    message = dy.String(nullable=True, description="First line of the innermost message.")
    operator = dy.String(nullable=True, description="Operator that it is about, `mylib.foo.default`.")
    backend = dy.String(nullable=True, description="Backend that raised it.")
    expression = dy.String(nullable=True, description="Condition that nothing could decide.")
    file = dy.String(nullable=True, description="User's file in which it arose.")
    file_line = dy.Int64(nullable=True, description="Line there.")
    text = dy.String(nullable=True, description="Whole text of the failure.")


SCHEMA = Failures


def of_trace(trace: TraceIndex) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one trace, values in the order of the columns."""
    for record in trace.find(*ENTRIES, *_TEXTS, *_KERNELS, _UNDECIDED):
        row = _row(record)
        if row is not None:
            yield (*t.here(record), record.attempt, record.artifact or record.name, *row)


def _row(record: TraceRecord) -> tuple[Any, ...] | None:
    fields = t.mapping(record.metadata)
    if record.name == "artifact":
        return None, None, [], None, None, None, None, None, None, record.text
    if record.name in ENTRIES:
        if fields.get("fail_type") is None and fields.get("fail_reason") is None:
            return None
        reason = t.text(fields.get("fail_reason"))
        failure = read_failure(t.text(fields.get("fail_type")), reason or "")
        return (
            str(failure.kind), failure.exception_type, list(failure.inner), failure.message or None,
            failure.operator, failure.backend, getattr(failure.detail, "expression", None),
            t.text(fields.get("fail_user_frame_filename")), t.integer(fields.get("fail_user_frame_lineno")), reason,
        )  # fmt: skip
    frame = t.innermost(record, fields.get("user_stack"))
    file, line = (frame.file, frame.line) if frame is not None else (None, None)
    if record.name == _UNDECIDED:
        return "data_dependent", None, [], None, None, None, t.text(fields.get("expr")), file, line, None
    kind = "unsupported_operator" if record.name == "missing_fake_kernel" else "mismatched_fake_kernel"
    reason = t.text(fields.get("reason"))
    return kind, None, [], reason, t.text(fields.get("op")), None, None, file, line, reason
