"""From the records of a failed compile to the case that the rules judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.code.wrapper_release import Releases, releases_of_text
from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.data_dependent import symbols_in
from aoti_logs.parse.compiles.failure import Failure, FailureKind, Undecided, UserFrame
from aoti_logs.parse.graphs.partial_graph import export_call, is_torch, read_partial
from aoti_logs.parse.traces.outcomes import metric
from aoti_logs.parse.traces.payload_text import line_place, row_of
from aoti_logs.parse.traces.summary import version
from aoti_logs.rules.al609_backward import raised
from aoti_logs.rules.failure_case import FailureCase, Function, Reached
from aoti_logs.rules.recompile_words import reason_text, reasons_of
from aoti_logs.rules.trace_words import frame_words
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.traces.outcomes import Outcome, Outcomes
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.sources.source import Place, Source

_SOFT = {"Unsupported", "UserError", "StepUnsupported"}
"""Exceptions after which Dynamo runs the function uncompiled, unless fullgraph=True."""
_RECORDS_SKIPS = (2, 13)
"""From this version on (torch/_dynamo/symbolic_convert.py, `run`) a function that is given up leaves a graph break."""
RETRIED = "the same function was compiled later without failing: the program went on"
_CODE = {Kind.WRAPPER_CPP, Kind.KERNEL_CPP, Kind.OUTPUT_CODE}


def case_of(record: TraceRecord, outcome: Outcome, found: Outcomes, evidence: Evidence) -> FailureCase:
    """Gather a failed compile.

    Args:
        record: its metrics; or `dynamo_error`, where the trace ends before them.
        outcome: the compile.
        found: all compiles of the trace.
        evidence: what else is at hand.
    """
    error = next(iter(reversed(outcome.of("dynamo_error"))), None)
    told = raised(error) if error is not None else None
    if record is error:
        failure = read_failure(told.exception_type, told.text) if told else read_failure(None, record.text)
    else:
        failure = read_failure(str(metric(record, "fail_type")), str(metric(record, "fail_reason") or ""))
    # Metrics of a backward say so in their name; a traceback alone (`dynamo_error`) is of what Dynamo traced.
    backward = (
        record.name.startswith(("bwd_", "aot_autograd_backward"))
        and failure.kind is not FailureKind.RECOMPILE_LIMIT
    )
    function = _function(record, outcome, found)
    frames = read_failure(told.exception_type, told.text).user_frames if told else failure.user_frames
    user = _user(record, frames)
    user_place = _user_place(error, user) if error is not None and user is not None else None
    reached, why = _reached(failure, record, outcome, found, function)
    doubt = None
    if reached is Reached.RAISED and function is not None and _compiled_later(record, found, function):
        reached, why, doubt = Reached.UNKNOWN, None, RETRIED
    return FailureCase(
        failure=failure,
        place=record.place,
        compile_id=outcome.compile_id,
        function=function,
        backward=backward,
        reached=reached,
        why_reached=why,
        doubt=doubt,
        exported=outcome.exported if outcome.start is not None else None,
        user=user,
        user_place=user_place or (record.place if user is not None else None),
        told=tuple(_told(outcome, error)),
        generated=_generated(evidence) if failure.kind is FailureKind.CXX_ERROR else (),
        rank=record.rank if record.rank is not None else record.index.source.rank,
        log=record.index.source.name,
        facts=_facts(failure, record, outcome, function),
        releases=releases_at_hand(failure, evidence, version(record.index)),
    )


def undecided_case(record: TraceRecord, partial: TraceRecord, rank: int | None) -> FailureCase:
    """Make a case of a `guard_on_data_dependent_error` whose exception left the export."""
    fields = record.metadata
    expression = str(fields.get("expr"))
    detail = Undecided(expression, str(fields.get("unhinted_expr")), symbols_in(expression), None)
    text = f"Could not guard on data-dependent expression {expression}"
    graph = read_partial(partial)
    last = graph.last
    user = (
        UserFrame(last.file, last.line, last.function, last.code)
        if last is not None and last.file is not None and last.line is not None
        else None
    )
    links = [Link("broke off", "make_fx_fail_partial: the graph ends here", partial.place)]
    if last is not None:
        links.append(Link("last node", graph.last_text or last.name, last.place))
    call = export_call(record.frames(fields.get("stack")) or record.frames())
    if call is not None:
        links.append(Link("export", frame_words(call), record.place))
    return FailureCase(
        failure=Failure(
            FailureKind.DATA_DEPENDENT, "GuardOnDataDependentSymNode", (), text, text, detail=detail
        ),
        place=record.place,
        reached=Reached.RAISED if call is not None and not is_torch(call.file or "") else Reached.UNKNOWN,
        doubt="the exception left the export; whether the caller went on without is not recorded",
        exported=call is not None or None,
        user=user,
        user_place=graph.code_place if user is not None else None,
        told=tuple(links),
        rank=rank,
        log=record.index.source.name,
        facts={"last_partial_node": graph.last_text, "process": record.process},
        releases=releases_of_text(version(record.index)),
    )


def releases_at_hand(failure: Failure, evidence: Evidence, told: str | None = None) -> Releases:
    """Return what is known of the release, where an advice depends on it: what its own trace tells, or what is at hand."""
    if failure.kind is not FailureKind.DATA_DEPENDENT:
        return Releases()
    own = releases_of_text(told)
    return evidence.releases if own.at_least is None else own


def _function(record: TraceRecord, outcome: Outcome, found: Outcomes) -> Function | None:
    name, file = metric(record, "co_name"), metric(record, "co_filename")
    line = metric(record, "co_firstlineno")
    if isinstance(name, str):
        return Function(
            name, file if isinstance(file, str) else None, line if isinstance(line, int) else None
        )
    frame = outcome.frame
    if frame is None and outcome.compile_id is not None and not outcome.compile_id.startswith("aoti/"):
        # A compile that is refused at once has no start: an earlier one of the same function has.
        same = outcome.compile_id.rpartition("/")[0]
        earlier = (o for o in found.compiles if (o.compile_id or "").rpartition("/")[0] == same)
        frame = next((o.frame for o in earlier if o.frame is not None), None)
    return Function(frame.name, frame.file, frame.line) if frame is not None and frame.name else None


def _user(record: TraceRecord, frames: tuple[UserFrame, ...]) -> UserFrame | None:
    file, line = metric(record, "fail_user_frame_filename"), metric(record, "fail_user_frame_lineno")
    own = [f for f in frames if not is_torch(f.file)]
    if isinstance(file, str) and isinstance(line, int) and not (own and is_torch(file)):
        same = next((f for f in reversed(frames) if (f.file, f.line) == (file, line)), None)
        return same or UserFrame(file, line, None, None)
    return (own or frames)[-1] if frames else None


def _user_place(error: TraceRecord, user: UserFrame) -> Place | None:
    text = error.text
    after = max(text.find("from user code:"), 0)
    row = row_of(text, f'File "{user.file}", line {user.line}', after)
    return None if row is None else line_place(error, row)


def _reached(
    failure: Failure, record: TraceRecord, outcome: Outcome, found: Outcomes, function: Function | None
) -> tuple[Reached, str | None]:
    """Tell whether the exception reached the program, and how that is known."""
    name = failure.class_name or ""
    if metric(record, "config_suppress_errors") is True:
        return Reached.HANDLED, "torch._dynamo.config.suppress_errors is set: the function ran uncompiled"
    if failure.kind is FailureKind.RECOMPILE_LIMIT:
        hard = name.startswith("FailOn")
        return (Reached.RAISED, None) if hard else (Reached.HANDLED, None)
    if name not in _SOFT:
        return Reached.RAISED, None
    if outcome.of("dynamo_graph_break_reason"):
        return Reached.HANDLED, "a graph break is recorded for it: Dynamo ran the function uncompiled"
    if function is not None and _ran_later(outcome, found, function):
        return Reached.HANDLED, "functions that it calls were compiled later: it ran uncompiled"
    if outcome.exported:
        return Reached.RAISED, None
    if outcome.of("dynamo_error") and _at_least(version(record.index), _RECORDS_SKIPS):
        return (
            Reached.RAISED,
            "torch records a graph break where it goes on without compiled code; here is none",
        )
    return Reached.UNKNOWN, None


def _at_least(text: str | None, wanted: tuple[int, int]) -> bool:
    parts = (text or "").split(".")
    return (
        len(parts) > 1
        and parts[0].isdigit()
        and parts[1].isdigit()
        and (int(parts[0]), int(parts[1])) >= wanted
    )


def _ran_later(outcome: Outcome, found: Outcomes, function: Function) -> bool:
    """Tell whether the function stands in the stack of a later compile, not as what is compiled."""
    last = outcome.end.number if outcome.end is not None else -1
    for other in found.compiles[:200]:
        start = other.start
        if start is None or start.number < last or not isinstance(start.metadata, dict):
            continue
        frames = start.frames(start.metadata.get("stack"))[:-1]
        if any(f.name == function.name and f.file == function.file for f in frames):
            return True
    return False


def _compiled_later(record: TraceRecord, found: Outcomes, function: Function) -> bool:
    """Tell whether the same function was compiled after its failure, which shows that this was caught."""
    if function.file is None or function.line is None:
        return False
    # Processes that write one file compile the same function side by side.
    key = (record.process, record.rank, function.name, function.file, function.line)
    return found.compiled.get(key, -1) > record.number


def _told(outcome: Outcome, error: TraceRecord | None) -> Iterator[Link]:
    for record in outcome.of("make_fx_fail_partial")[-1:]:
        partial = read_partial(record)
        if partial.last is not None:
            yield Link("last node", partial.last_text or partial.last.name, partial.last.place)
    for record in outcome.of("fx_interpreter_error")[-1:]:
        text = record.text
        row = row_of(text, "While executing ")
        if row is not None:
            yield Link("node", text.split("\n")[row].strip(), line_place(record, row))
    for record in outcome.of("eager_compile_backwards_failure")[-1:]:
        yield Link(
            "kept quiet", "eager_compile_backwards_failure: the first attempt failed, too", record.place
        )
    for record in outcome.of("recompile_reasons")[-1:]:
        reasons = reasons_of(record)
        if reasons:
            yield Link("reason", reason_text(reasons[0][0]), reasons[0][1])
    if error is not None:
        yield Link("traceback", "dynamo_error holds the whole traceback", error.place, Confidence.PROVEN)


def _facts(
    failure: Failure, record: TraceRecord, outcome: Outcome, function: Function | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {"fail_type": failure.class_name, "process": record.process}
    if failure.kind is FailureKind.RECOMPILE_LIMIT:
        reasons = [reason.text for r in outcome.of("recompile_reasons")[-1:] for reason, _ in reasons_of(r)]
        facts |= {"limit": _limit(record), "reasons": reasons}
        if function is not None:
            facts["function"] = function.name
    return facts


def _limit(record: TraceRecord) -> int | None:
    """Return the limit that was set, from the configuration in the metrics."""
    import orjson

    text = metric(record, "dynamo_config")
    if not isinstance(text, str):
        return None
    try:
        config = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    for name in ("recompile_limit", "cache_size_limit"):
        value = config.get(name) if isinstance(config, dict) else None
        if isinstance(value, int):
            return value
    return None


def _generated(evidence: Evidence) -> tuple[Source, ...]:
    return tuple(s for s in evidence.sources if s.kind in _CODE)
