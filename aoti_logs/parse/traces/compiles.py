"""Compiles of a trace, one each, their attempts merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.graphs.partial_graph import is_torch, user_frame
from aoti_logs.parse.traces.metrics import OF_COMPILES

if TYPE_CHECKING:
    from aoti_logs.records.trace import StackFrame, TraceIndex, TraceRecord


_BREAK = "dynamo_graph_break_reason"
_TOLD = {"dynamo_start", "dynamo_output_graph", "inductor_output_code", "graph_dump", *OF_COMPILES}


@dataclass
class Compile:
    """All that a trace says about one compile id, or about one AOTInductor compile.

    Attributes:
        first: its first record.
        compile_id: readable id, as `TraceRecord.compile`.
        n_records: its records, of all attempts.
        attempts: the highest attempt that records name, plus one.
        start: `dynamo_start`, where the user's stack is.
        metrics: fields of its last `compilation_metrics`, None when it never wrote any.
        backward: the same of the backward, which is compiled later under the same id.
        has_graph: whether Dynamo printed the graph that came of it.
        files: paths that generated code was written to, in order, each once.
        n_graph_breaks: `dynamo_graph_break_reason` records. The metric `num_graph_breaks` is no such number: it
            counts those of the whole process until then.
    """

    first: TraceRecord
    compile_id: str
    n_records: int = 0
    attempts: int = 1
    start: TraceRecord | None = None
    metrics: dict[str, Any] | None = None
    backward: dict[str, Any] | None = None
    files: dict[str, None] = field(default_factory=dict)
    n_graph_breaks: int = 0
    has_graph: bool = False

    @property
    def kind(self) -> str:
        """`aot_inductor`, `compiled_autograd` or `dynamo`."""
        if self.compile_id.startswith("aoti/"):
            return "aot_inductor"
        return "compiled_autograd" if self.compile_id.startswith("!") else "dynamo"

    def field(self, *names: str) -> Any:
        """Return the first of these metrics that is not null, the forward's before the backward's."""
        for fields in (self.metrics, self.backward):
            for name in names:
                if fields is not None and fields.get(name) is not None:
                    return fields[name]
        return None

    @property
    def status(self) -> str:
        """How it ended, in the words of tlparse: `ok`, `break`, `empty`, `error`, `missing`."""
        if self.field("fail_type") is not None:
            return "error"
        if self.metrics is None:
            return "missing"
        if self.kind == "aot_inductor":
            return "ok"
        if self.metrics.get("restart_reasons"):
            return "break"
        empty = not self.metrics.get("graph_op_count") and not self.has_graph
        return "empty" if empty or self.metrics.get("has_guarded_code") is False else "ok"


def compiles(trace: TraceIndex) -> list[Compile]:
    """Return the compiles of a trace in order of their first records.

    Several processes in one file may use the same id, and one process uses it again after
    `torch._dynamo.reset()`: each time is a compile of its own.
    """
    found: list[Compile] = []
    open_: dict[tuple[int, str], Compile] = {}
    several, context, columns = trace.several_processes, trace.context, trace.columns
    names = [name for name, _ in columns.keys]
    told = [_tells(name, own) for name, own in columns.keys]
    each = zip(columns.key, context.here, context.ids, strict=True)
    for number, (key_number, (_, _, compile_id, _), (_, _, attempt, _)) in enumerate(each):
        name = names[key_number]
        if compile_id is None or name == "str":
            continue
        key = (context.prefixes[number].process if several else 0, compile_id)
        compile_ = open_.get(key)
        if compile_ is None or (name == "dynamo_start" and compile_.start is not None):
            before = [] if compile_ is None else _before(trace, number, key)
            if compile_ is not None:
                compile_.n_records -= len(before)
            compile_ = open_[key] = Compile(trace[min(before, default=number)], compile_id, len(before))
            found.append(compile_)
        compile_.n_records += 1
        if attempt is not None and attempt >= compile_.attempts:
            compile_.attempts = attempt + 1
        if told[key_number]:
            _take(compile_, trace[number], name)
    return found


def _before(trace: TraceIndex, start: int, key: tuple[int, str]) -> list[int]:
    """Return the records in front of a repeated `dynamo_start` that are of the new compile, not of the old one.

    Its first events begin, and the reasons of its recompilation are written, before `dynamo_start`.
    """
    found: list[int] = []
    context = trace.context
    for number in range(start - 1, max(-1, start - _LOOK), -1):
        process = context.prefixes[number].process if trace.several_processes else 0
        own = context.here[number][2]
        if own is None or process != key[0]:
            continue
        record = trace[number]
        begins = record.name == "chromium_event" and _phase(record) == "B"
        if own != key[1] or not (begins or record.artifact == "recompile_reasons"):
            break
        found.append(number)
    return found


def _phase(record: TraceRecord) -> object:
    value = record.json()
    return value.get("ph") if isinstance(value, dict) else None


_LOOK = 64
"""Records: strings of the stack may stand between."""


def _tells(name: str, own: str | None) -> bool:
    return name in _TOLD or (name == "artifact" and own == _BREAK)


def _take(compile_: Compile, record: TraceRecord, name: str) -> None:
    if name == "dynamo_start":
        compile_.start = record
    elif name == "dynamo_output_graph":
        compile_.has_graph = True
    elif name in ("inductor_output_code", "graph_dump"):
        if record.filename:
            compile_.files[record.filename] = None
    elif name == "artifact":
        compile_.n_graph_breaks += 1
    elif isinstance(record.metadata, dict):
        if name == "compilation_metrics" and record.metadata.get("is_forward") is not False:
            compile_.metrics = record.metadata
        else:
            compile_.backward = record.metadata


def caller(compile_: Compile) -> StackFrame | None:
    """Return the user's frame that called the compiled function: the innermost outside of torch.

    Since torch 2.6 `dynamo_start` ends its stack with the function itself, which nobody has called yet.
    """
    start = compile_.start
    if start is None or not isinstance(start.metadata, dict):
        return None
    frames = start.frames(start.metadata.get("stack"))
    if (
        frames
        and frames[-1].name == compile_.field("co_name")
        and frames[-1].line == compile_.field("co_firstlineno")
    ):
        frames = frames[:-1]
    found = user_frame(frames)
    return found if found is not None and found.file and not is_torch(found.file) else None


def start_us(compile_: Compile) -> float | None:
    """Return microseconds since 1970 at which it began."""
    exact = compile_.field("start_time_us")
    if isinstance(exact, int | float):
        return float(exact)
    seconds = compile_.field("start_time")
    return seconds * 1e6 if isinstance(seconds, int | float) else None


def duration_us(compile_: Compile) -> float | None:
    """Return how many microseconds the forward took, as torch measured it."""
    exact = compile_.field("duration_us")
    if isinstance(exact, int | float):
        return float(exact)
    seconds = compile_.field("entire_frame_compile_time_s")
    if isinstance(seconds, int | float):
        return seconds * 1e6
    begin, end = compile_.field("start_time_us"), compile_.field("end_time_us")
    return float(end - begin) if isinstance(begin, int | float) and isinstance(end, int | float) else None
