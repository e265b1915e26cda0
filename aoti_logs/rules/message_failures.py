"""What messages of torch tell of failed compiles: a limit that was reached, an operator that refused its inputs,
a condition that could not be decided. The last two are written before the exception is raised, so that they
alone do not say that it reached the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.data_dependent import read_evaluation, symbols_in
from aoti_logs.parse.compiles.failure import Failure, FailureKind, Undecided
from aoti_logs.parse.compiles.unconverted import HEAD, read_unconverted
from aoti_logs.parse.logs.log_totals import prefixed_lines
from aoti_logs.parse.logs.whole_messages import whole_messages
from aoti_logs.parse.shape import fields, first
from aoti_logs.rules.al507_assumed_value import note
from aoti_logs.rules.failure_case import FailureCase, Function, Reached
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.fake_kernels import fake_kernel
from aoti_logs.rules.limit_cases import limit_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents, LogLine, Note
    from aoti_logs.sources.source import Source

_META = "failed while attempting to run meta for "
_DOUBT = "torch writes this before the exception is raised; the program may have caught it"
_SUPPRESSED = (
    "torch says that it does not convert the function and goes on: torch._dynamo.config.suppress_errors makes a warning "
    "of the exception, and the function runs uncompiled"
)
_GUARD = "Error while creating guard"
_MOST = 20  # records of one failure that are listed


def message_findings(events: LogEvents, source: Source, told: Sequence[Finding]) -> list[Finding]:
    """Return what the messages tell that no exception of the same log does.

    Args:
        events: the log's events.
        source: the log.
        told: the findings of its exceptions.
    """
    known = {f.kind for f in told}
    texts = [str(f.facts.get("message")) for f in told]
    prefixed = sum(prefixed_lines(m) for m in events.messages if m.style == "default")
    found: dict[tuple[str, str, int | None], Finding] = {}
    records: dict[tuple[str, str, int | None], list[dict[str, Any]]] = {}
    cases = (case for message in events.messages for case in _cases(message, source, known, texts))
    left = whole_messages(m for m in events.messages if "convert_frame" in m.module)
    uncompiled = (case for m in left if m.text.startswith(HEAD) for case in _unconverted(m, source))
    for case in (*limit_cases(events, source), *uncompiled, *cases):
        case.facts["n_glog_records"] = prefixed
        finding = failure_finding(case)
        key = finding.kind, finding.title, finding.rank
        found.setdefault(key, finding)
        records.setdefault(key, []).extend(finding.facts.get("records", ()))
    for key, rows in records.items():
        if rows:
            found[key] = replace(found[key], facts={**found[key].facts, "records": rows[:_MOST]})
    return [*found.values(), *_draft_findings(events.notes, source)]


def with_limits(told: Sequence[Finding], messages: Sequence[Finding]) -> list[Finding]:
    """Give the exception of a limit what the warning before it says: function, limit and reason."""
    limits = [f for f in messages if f.kind == FailureKind.RECOMPILE_LIMIT]
    raised = [f for f in told if f.kind == FailureKind.RECOMPILE_LIMIT and f.role == "cause"]
    if not raised or not limits:
        return [*told, *messages]
    lead, warned = raised[0], limits[-1]
    facts = {**lead.facts, **{k: v for k, v in warned.facts.items() if lead.facts.get(k) is None}}
    facts["innermost"] = warned.facts.get("innermost")  # function and place, by which a trace knows it
    title = warned.title.partition(", and runs")[0] + ", and that is an error here"
    fixes = warned.verdicts[0].fixes
    verdicts = tuple(
        replace(v, title=title, because=warned.verdicts[0].because, fixes=fixes) for v in lead.verdicts
    )
    joined = replace(
        lead,
        title=title,
        facts=facts,
        chain=(*lead.chain, *warned.chain),
        experiments=warned.experiments,
        verdicts=verdicts,
    )
    return [joined if f is lead else f for f in told] + [f for f in messages if f is not warned]


def _cases(message: LogLine, source: Source, known: set[str], texts: Sequence[str]) -> Iterator[FailureCase]:
    text = message.text
    if text.startswith(_META):
        failure = _refused(text)
        if not any(failure.message and failure.message in t for t in texts):
            yield _case(message, source, failure, doubt=_DOUBT)
    elif text.startswith("failed ") and FailureKind.DATA_DEPENDENT not in known:
        expression = read_evaluation(text.partition("\n")[0])
        if expression is not None and symbols_in(expression):
            said = f"could not evaluate {expression}"
            detail = Undecided(expression, None, symbols_in(expression), None)
            failure = Failure(FailureKind.DATA_DEPENDENT, None, (), said, text, detail=detail)
            yield _case(message, source, failure, doubt=_DOUBT)
    elif (
        (text.startswith(_GUARD) or message.module.endswith("torch/_guards.py"))
        and FailureKind.CONSTRAINT not in known
        and "ConstraintViolationError: " in text
    ):
        at = text.index("ConstraintViolationError: ")
        failure = read_failure("ConstraintViolationError", text[at:].partition(": ")[2])
        yield _case(message, source, failure, doubt=_DOUBT)


def _unconverted(message: LogLine, source: Source) -> Iterator[FailureCase]:
    """Yield the failure that left a function uncompiled; the program went on."""
    found = read_unconverted(message.text)
    if found is None:
        return
    failure = read_failure(found.exception_type, found.text)
    if not found.text:
        failure = replace(failure, message=message.text.partition("\n")[0].strip())
    case = _case(message, source, failure)
    places = case.text_places[found.row :]
    yield replace(
        case,
        place=places[0] if places else case.place,
        text_places=places,
        function=Function(found.function, found.file, found.line),
        reached=Reached.HANDLED,
        why_reached=_SUPPRESSED if message.level[:1] == "W" else None,
        user=failure.user_frames[-1] if failure.user_frames else None,
    )


def _refused(text: str) -> Failure:
    """Read `failed while attempting to run meta for OP` with the traceback below it."""
    lines = text.split("\n")
    operator = lines[0].removeprefix(_META).strip()
    told = fields("traceback", "exception", lines[-1].strip()[:4096]) if len(lines) > 1 else None
    cause = first(told, "TYPE") if told else None
    said = (first(told, "MESSAGE") or "") if told else lines[0]
    inner = (cause,) if cause and cause[:1].isalpha() else ()
    if read_failure(cause, said).kind is FailureKind.UNSUPPORTED_OPERATOR:
        return Failure(FailureKind.UNSUPPORTED_OPERATOR, None, inner, said, text, operator=operator)
    return Failure(FailureKind.FAKE_TENSOR, None, inner, said, text, operator=operator)


def _case(
    message: LogLine,
    source: Source,
    failure: Failure,
    *,
    doubt: str | None = None,
) -> FailureCase:
    own: Source = message.span.source
    places = tuple(own.place(n) for n in message.lines)
    return FailureCase(
        failure=failure,
        place=places[0] if places else message.span.place,
        text_places=places,
        compile_id=message.compile_id,
        doubt=doubt,
        rank=message.rank if message.rank is not None else source.rank,
        log=source.name,
        facts={"log_level": message.level[:1], "process": message.process, "records": [_record(message)]},
    )


def _record(message: LogLine) -> dict[str, Any]:
    """Return who logged a message, when and where."""
    return {
        "level": message.level[:1],
        "time": message.time,
        "pid": message.process,
        "file": message.module,
        "line": message.module_line,
        "compile_id": message.compile_id,
    }


def _draft_findings(notes: Sequence[Note], source: Source) -> Iterator[Finding]:
    """Yield what the report of a draft export says."""
    rows: list[dict[str, Any]] = []
    links: list[Link] = []
    for found in notes:
        if found.kind != "draft_export":
            continue
        facts, place = dict(found.facts), found.span.place
        issue = facts.get("issue")
        if issue == "data_dependent" and "expression" in facts:
            rows.append(_row(facts))
            where = (
                f"{facts['file']}:{facts.get('line')} in {facts.get('function')}" if "file" in facts else ""
            )
            text = f"{facts['expression']} is {facts.get('result')}"
            links.append(Link("assumed", text, place, details=(where,) if where else ()))
        elif issue in {"missing_fake_kernel", "mismatched_fake_kernel"} and "op" in facts:
            yield _with_issues(
                fake_kernel(facts["op"], facts.get("reason"), place, source.name, source.rank), facts
            )
    if rows:
        made = note(rows, tuple(links[:12]), source.name, source.rank)
        yield _with_issues(made, dict(next(n for n in notes if n.kind == "draft_export").facts))


def _with_issues(finding: Finding, facts: dict[str, str]) -> Finding:
    return replace(finding, facts={**finding.facts, "n_issues": int(facts.get("n_issues", "0")[:9])})


def _row(facts: dict[str, str]) -> dict[str, Any]:
    user: dict[str, Any] | None = None
    if "file" in facts:
        line = int(facts.get("line", "0")[:9])
        user = {
            "file": facts["file"],
            "line": line,
            "function": facts.get("function"),
            "code": facts.get("code"),
        }
    return {
        "expression": facts["expression"],
        "result": facts.get("result"),
        "user_frame": user,
        "code": facts.get("code"),
    }
