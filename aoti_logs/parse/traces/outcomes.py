"""How the compiles of a trace ended: each compile with the few records that tell of failure, breaks and recompiles.

A compile begins with `dynamo_start` (torch/_dynamo/convert_frame.py) and ends with its metrics. After
`torch._dynamo.reset()` ids begin at 0/0 again: the same id is then another compile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.graphs.partial_graph import export_call, is_torch
from aoti_logs.parse.traces.metrics import OF_COMPILES

if TYPE_CHECKING:
    from aoti_logs.parse.events import Unparsed
    from aoti_logs.records.trace import StackFrame, TraceIndex, TraceRecord

_EVIDENCE = (
    "artifact:dynamo_error",
    "artifact:dynamo_graph_break_reason",
    "artifact:recompile_reasons",
    "artifact:eager_compile_backwards_failure",
    "artifact:make_fx_fail_partial",
    "artifact:fx_interpreter_error",
    "guard_on_data_dependent_error",
)
_CALLBACKS = ("torch/_dynamo/convert_frame.py", "torch/_dynamo/eval_frame.py")
_TORN = "TORCH_TRACE record"  # as `records/scan.py` calls what is left of one
_LOOK = 4096
_NO_FAILURE = re.compile(rb'"fail_type": ?null')


@dataclass
class Outcome:
    """One compile: `compile_id` as `TraceRecord.compile`, None for what belongs to no compile (an export).

    `failed` are the metrics that name a failure, with the backward's; `evidence` the records of
    failures, breaks and recompiles, in file order.
    """

    compile_id: str | None
    start: TraceRecord | None = None
    end: TraceRecord | None = None
    failed: list[TraceRecord] = field(default_factory=list)
    evidence: list[TraceRecord] = field(default_factory=list)

    def of(self, artifact: str) -> list[TraceRecord]:
        """Return the evidence of one name."""
        return [r for r in self.evidence if artifact in {r.artifact, r.name}]

    @property
    def frame(self) -> StackFrame | None:
        """The function that is compiled: the innermost frame of the stack that set it off."""
        own = self._stack[-1] if self._stack else None
        # Torch 2.4 ends the stack with the frames of its own callback, without the function.
        return None if own is None or (own.file or "").endswith(_CALLBACKS) else own

    @property
    def caller(self) -> StackFrame | None:
        """The user's innermost frame, where the function itself is one of torch's (a wrapper of `disable`)."""
        own = self.frame
        if own is None or own.file is None or not is_torch(own.file):
            return None
        return next((f for f in reversed(self._stack) if f.file and not is_torch(f.file)), None)

    @property
    def exported(self) -> bool:
        """Whether `torch.export` asked for it: then no part may run uncompiled."""
        return export_call(self._stack) is not None

    @cached_property
    def _stack(self) -> tuple[StackFrame, ...]:
        if self.start is None or not isinstance(self.start.metadata, dict):
            return ()
        return self.start.frames(self.start.metadata.get("stack"))

    @property
    def first(self) -> TraceRecord | None:
        """Its first record here."""
        known = [r for r in (self.start, *self.evidence[:1], self.end, *self.failed[:1]) if r is not None]
        return min(known, key=lambda r: r.number) if known else None


@dataclass
class Outcomes:
    """All compiles of a trace in file order, and what belongs to none."""

    compiles: list[Outcome]
    loose: Outcome
    unfinished: list[Outcome]
    """Those of which no end was recorded; empty where metrics are damaged, so that this is not known."""

    @cached_property
    def compiled(self) -> dict[tuple[Any, ...], int]:
        """Process, rank, name, file and line of each function that was compiled, and where it last began."""
        found: dict[tuple[Any, ...], int] = {}
        for one in self.compiles:
            start, end = one.start, one.end
            if start is None or end is None or one.failed:
                continue
            code = [metric(end, f"co_{n}") for n in ("name", "filename", "firstlineno")]
            if not all(isinstance(value, str | int) for value in code):
                continue
            key = (start.process, start.rank, *code)
            found[key] = max(found.get(key, -1), start.number)
        return found


def outcomes(trace: TraceIndex) -> Outcomes:
    """Collect them; only the records named above are looked at."""
    found: list[Outcome] = []
    open_: dict[tuple[int, str], Outcome] = {}
    last: dict[tuple[int, str], Outcome] = {}
    loose = Outcome(None)
    damaged = False
    several = trace.several_processes
    for record in trace.find("dynamo_start", *OF_COMPILES, *_EVIDENCE):
        metrics = record.name in OF_COMPILES
        if metrics and not record.envelope:
            damaged = True
            continue
        compile_id = record.compile
        if compile_id is None:
            _take(loose, record, metrics=metrics)
            continue
        key = (record.process if several else 0, compile_id)
        if record.name == "dynamo_start":
            if key not in open_ or open_[key].start is not None:
                open_[key] = Outcome(compile_id)
                found.append(open_[key])
            open_[key].start = record
            continue
        own = open_.get(key)
        if own is None and record.name.startswith(("bwd_", "aot_autograd")) and key in last:
            own = last[key]  # the backward is compiled later, under the id of its forward
        if own is None:
            own = open_[key] = Outcome(compile_id)
            found.append(own)
        _take(own, record, metrics=metrics)
        if metrics:
            last[key] = own
            open_.pop(key, None)
    damaged = damaged or any(
        _TORN in row.expected and b"compilation_metrics" in _bytes(row) for row in trace.unparsed
    )
    unfinished = [] if damaged else [o for o in open_.values() if o.start is not None]
    return Outcomes(found, loose, unfinished)


def _bytes(row: Unparsed) -> bytes:
    return bytes(row.span.source.data[row.span.start : min(row.span.end, row.span.start + _LOOK)])


def _take(outcome: Outcome, record: TraceRecord, *, metrics: bool) -> None:
    if not metrics:
        outcome.evidence.append(record)
        return
    outcome.end = record
    head = record.head
    if _NO_FAILURE.search(bytes(head.source.data[head.start : head.end])) is None:
        fields = record.metadata
        if isinstance(fields, dict) and fields.get("fail_type"):
            outcome.failed.append(record)


def metric(record: TraceRecord | None, name: str) -> Any:
    """Return one field of metrics, None where there is none."""
    fields = record.metadata if record is not None else None
    return fields.get(name) if isinstance(fields, dict) else None
