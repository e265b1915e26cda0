"""From a failed compile to a finding: the rule of its kind words it, the chain quotes who tells of it."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.compiles.failure import CompilerRun, FailureKind, Undecided, Violations
from aoti_logs.rules.failure_case import Reached
from aoti_logs.rules.user_frames import frame_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.compiles.failure import UserFrame
    from aoti_logs.rules.failure_case import FailureCase, Told

_RULES = {
    FailureKind.KERNEL_IMAGE: "al216_kernel_image",
    FailureKind.VERSIONS: "al217_version_mismatch",
    FailureKind.RECOMPILE_LIMIT: "al502_recompile_limit",
    FailureKind.CONSTRAINT: "al505_constraint",
    FailureKind.DATA_DEPENDENT: "al506_data_dependent",
    FailureKind.OTHER: "al601_compile_failed",
    FailureKind.DYNAMO_UNSUPPORTED: "al602_dynamo_unsupported",
    FailureKind.BACKEND_FAILED: "al603_backend_failed",
    FailureKind.FAKE_TENSOR: "al604_fake_tensor",
    FailureKind.UNSUPPORTED_OPERATOR: "al605_no_fake_kernel",
    FailureKind.INVALID_CXX: "al606_no_cxx_compiler",
    FailureKind.NO_TRITON: "al621_no_triton",
    FailureKind.GPU_TOO_OLD: "al621_no_triton",
    FailureKind.CXX_ERROR: "al607_cxx_error",
    FailureKind.LOWERING: "al608_lowering",
    FailureKind.TRITON: "al612_triton_compilation",
    FailureKind.RESOURCES: "al614_triton_resources",
    FailureKind.TRITON_DUMP: "al613_triton_dump",
    FailureKind.SUBPROCESS: "al615_subprocess",
}
_CELL = re.compile(r"Cell In ?\[(\d{1,9})\]$")
_DEPRECATED = re.compile(r"\btorch\._export\.aot_(?:compile|load)\b")
_LONGEST = 8000  # characters of an exception's text that go into the facts
_NOT_KNOWN = "nothing tells whether it was raised, or the function ran uncompiled"


def failure_finding(case: FailureCase) -> Finding:
    """Let the rule of a failure's kind speak."""
    module = import_module(f"aoti_logs.rules.{_RULES[case.failure.kind]}")
    tell: Callable[[FailureCase], Told] = module.tell
    told = tell(case)
    unsure = case.reached is Reached.UNKNOWN or case.doubt is not None
    confidence = Confidence.LIKELY if unsure else Confidence.PROVEN
    # What may have been handled is no cause: most of what Dynamo cannot trace runs as plain Python.
    note = case.reached is not Reached.RAISED
    broke = case.reached is Reached.HANDLED and case.failure.kind is FailureKind.DYNAMO_UNSUPPORTED
    because = told.because + ((case.why_reached,) if case.why_reached else ())
    code = module.RULE.code
    verdict = Verdict(code, told.title, confidence, because, told.decide, told.fixes)
    return Finding(
        rule=code,
        kind=str(case.failure.kind),
        role="note" if note else "cause",
        severity=("note" if broke else "warning") if note else "error",
        confidence=confidence,
        title=told.title,
        facts={**_facts(case), **told.facts, **case.facts, "innermost": innermost(case)},
        rank=case.rank,
        log=case.log,
        chain=(_first(case), *_user(case), *told.links, *case.told),
        missing=told.missing,
        experiments=told.experiments,
        verdicts=(verdict,),
        notes=told.notes,
        doubt=(case.doubt or _NOT_KNOWN) if unsure else None,
    )


def innermost(case: FailureCase) -> str:
    """Return the text by which the same failure is known again elsewhere."""
    detail, failure = case.failure.detail, case.failure
    if isinstance(detail, Undecided):
        return detail.expression
    if isinstance(detail, Violations) and detail.rows:
        return detail.rows[0].text
    if isinstance(detail, CompilerRun) and detail.diagnostics:
        first = detail.diagnostics[0]
        return f"{first.file or first.program}:{first.line}: {first.message}"
    if failure.kind is FailureKind.RECOMPILE_LIMIT and case.function is not None:
        return f"{case.function.name} {case.function.file}:{case.function.line}"
    return failure.operator or failure.message


def _first(case: FailureCase) -> Link:
    failure = case.failure
    types = [t for t in (failure.class_name, *failure.inner_names) if t]
    text = ": ".join([*types, failure.message]) if failure.message else ": ".join(types)
    where = f"compile {case.compile_id}" if case.compile_id else ""
    if case.function is not None:
        function = case.function
        at = f" ({function.file}:{function.line})" if function.file else ""
        where += f"{' of ' if where else 'in '}{function.name}{at}"
    return Link("failure", text, case.place, details=(where,) if where else ())


def _user(case: FailureCase) -> tuple[Link, ...]:
    if case.user is None:
        return ()
    text = frame_text(case.user)
    strength = Confidence.PROVEN if case.user_place is not None else Confidence.LIKELY
    return (Link("python", text, case.user_place, strength),)


def _facts(case: FailureCase) -> dict[str, Any]:
    failure = case.failure
    facts: dict[str, Any] = {
        "message": failure.text.strip()[:_LONGEST],
        "exception_type": failure.exception_type,
        "inner_exception": failure.inner[0] if failure.inner else None,
        "chain": [t for t in (failure.exception_type, *failure.inner) if t],
        "backend": failure.backend,
        "compile_id": case.compile_id,
    }
    if case.function is not None:
        facts |= {"function": case.function.name, "file": case.function.file, "line": case.function.line}
    if case.user is not None:
        facts["user_frame"] = user_facts(case.user)
        facts |= _notebook(case.user)
    return facts


def _notebook(frame: UserFrame) -> dict[str, Any]:
    """Return the cell of a notebook that a frame is in, and a deprecated entry point that its line calls."""
    cell, call = _CELL.match(frame.file), _DEPRECATED.search(frame.code or "")
    facts: dict[str, Any] = {"cell": int(cell[1]), "cell_line": frame.line} if cell else {}
    return facts | ({"deprecated_api": call[0]} if call else {})


def user_facts(frame: UserFrame) -> dict[str, Any]:
    """Return a frame as plain values."""
    return {"file": frame.file, "line": frame.line, "function": frame.function, "code": frame.code}
