"""Failed compiles that a log tells of: exceptions, messages of TORCH_LOGS, reports of draft exports."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.parse.compiles.compile_failure import is_compile_failure, read_failure
from aoti_logs.parse.compiles.compiler_error import diagnostics
from aoti_logs.parse.compiles.failure import CompilerRun, Failure, FailureKind, UserFrame
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.failure_case import FailureCase, Reached
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.sender_facts import sender_facts
from aoti_logs.rules.trace_failures import releases_at_hand
from aoti_logs.rules.triton_evidence import triton_evidence
from aoti_logs.rules.user_frames import is_library, user_frame
from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import ErrorText, LogLine
    from aoti_logs.sources.source import Place, Source

_CHAINED = re.compile(rb"direct cause of the following exception|another exception occurred")
_NEAR = 2000  # bytes between two exceptions of one chain
_OF_PTXAS = re.compile(r"Triton PTX codegen|`ptxas|^ptxas|\nptxas|[\\/]ptxas(?:-\w+)?(?:\.exe)?'")
_BETWEEN = 4  # lines
_EXPORT = re.compile(r"/torch/_?export/")
_CODE = {Kind.WRAPPER_CPP, Kind.KERNEL_CPP, Kind.OUTPUT_CODE}


@dataclass(frozen=True)
class Chain:
    """Exceptions of which each was raised while the one before was handled; the last is what was raised."""

    errors: tuple[ErrorText, ...]
    failure: Failure
    told: ErrorText
    """The exception that names the failure."""


def failure_chains(errors: Sequence[ErrorText]) -> tuple[list[Chain], list[ErrorText]]:
    """Return the chains of exceptions that come out of a compile, and the other errors."""
    chains: list[Chain] = []
    rest: list[ErrorText] = []
    for group in _chained(errors):
        chain = _chain(group)
        if chain is None:
            rest += group
        else:
            chains.append(chain)
    return chains, rest


def _chained(errors: Sequence[ErrorText]) -> Iterator[list[ErrorText]]:
    group: list[ErrorText] = []
    for error in errors:
        if group and not _follows(group[-1], error):
            yield group
            group = []
        group.append(error)
    if group:
        yield group


def _follows(one: ErrorText, other: ErrorText) -> bool:
    if other.form is not ErrorForm.PYTHON or one.form is not ErrorForm.PYTHON:
        return False
    if one.within is not None and one.within.start == other.span.start:
        return True  # printed in its message
    if one.exception_type is None and one.text.startswith("ptxas") and _OF_PTXAS.search(other.text[:_NEAR]):
        return True  # it wrote to stderr itself, too
    start, end = one.span.end, other.span.start
    # A message may have taken the words between two exceptions for its own last lines.
    text = one.text[-400:].encode() + bytes(one.span.source.data[start : min(end, start + _NEAR)])
    return 0 <= end - start <= _NEAR and _CHAINED.search(text) is not None


def _chain(group: list[ErrorText]) -> Chain | None:
    read = [(error, _failure(error)) for error in group]
    certain = [(e, f) for e, f in read if f is not None and is_compile_failure(f)]
    if not certain:
        return None
    # An excerpt may have lost the text of the exception that was raised, and have that of the one inside.
    told, failure = next((pair for pair in reversed(certain) if pair[0].text.strip()), certain[-1])
    for other in [f for e, f in reversed(certain) if e is not told]:
        if failure.detail is None and other.kind is failure.kind:
            failure = replace(failure, detail=other.detail)
        if failure.operator is None and other.kind is failure.kind:
            failure = replace(failure, operator=other.operator)
    if failure.exception_type is None and group[-1] is not told:
        failure = replace(failure, exception_type=group[-1].exception_type)  # its own line was cut off
    return Chain(tuple(group), failure, told)


def _failure(error: ErrorText) -> Failure | None:
    if error.form is ErrorForm.COMPILER:
        found, warnings = diagnostics(error.text)
        run = CompilerRun(None, None, None, None, None, found, warnings, recorded=True)
        return Failure(FailureKind.CXX_ERROR, None, (), error.message, error.text, detail=run)
    if error.form is not ErrorForm.PYTHON:
        return None
    if error.exception_type is None and not (
        error.text.lstrip().startswith(("- ", "backend='", "ptxas"))
        or "\n  Explanation: " in error.text[:8192]
    ):
        return None
    return read_failure(error.exception_type, error.text)


def chain_findings(
    chains: Sequence[Chain], source: Source, evidence: Evidence, messages: Sequence[LogLine] = ()
) -> list[Finding]:
    """Return one finding for each distinct failure."""
    found: dict[tuple[str, str, int | None], Finding] = {}
    for chain in _with_output(chains):
        finding = failure_finding(failure_case(chain, source, evidence, messages))
        key = (finding.kind, finding.title, finding.rank)
        if key in found:
            again = Link("again", finding.title, chain.told.span.place, details=("the same again",))
            found[key] = replace(found[key], consequences=(*found[key].consequences, again))
        else:
            found[key] = finding
    return list(found.values())


def _with_output(chains: Sequence[Chain]) -> list[Chain]:
    """Give a compile error without output the output that stands above it in the log."""
    kept: list[Chain] = []
    for chain in chains:
        run = chain.failure.detail
        before = kept[-1] if kept else None
        if (
            isinstance(run, CompilerRun)
            and chain.told.form is ErrorForm.PYTHON
            and before is not None
            and before.told.form is ErrorForm.COMPILER
            and isinstance(before.failure.detail, CompilerRun)
            and (not run.recorded or _same_errors(run, before.failure.detail))
        ):
            if run.recorded:
                kept[-1] = Chain((*before.errors, *chain.errors), chain.failure, chain.told)
                continue
            output = before.failure.detail
            # Rows go on behind those of the exception's own text, as `text_places` of the case do.
            below = chain.told.text.count("\n") + 1
            moved = tuple(replace(d, row=d.row + below) for d in output.diagnostics)
            joined = replace(run, diagnostics=moved, n_warnings=output.n_warnings)
            kept[-1] = Chain(
                (*before.errors, *chain.errors), replace(chain.failure, detail=joined), chain.told
            )
        else:
            kept.append(chain)
    return kept


def _same_errors(one: CompilerRun, other: CompilerRun) -> bool:
    """Tell whether a compiler said the same twice: on stderr, and in the text of the exception."""
    first, second = ([(d.file, d.line, d.message) for d in run.diagnostics] for run in (one, other))
    return bool(second) and first[: len(second)] == second


def failure_case(
    chain: Chain, source: Source, evidence: Evidence, messages: Sequence[LogLine]
) -> FailureCase:
    """Gather what a chain of exceptions tells."""
    told, failure = chain.told, chain.failure
    places = text_places(told)
    output = next((e for e in chain.errors if e.form is ErrorForm.COMPILER), None)
    if output is not None and output is not told:
        places = (*places, *text_places(output))  # the errors are quoted where the compiler wrote them
    user, place = _user(failure, chain, places)
    links = []
    for error in chain.errors:
        if error is not told and error.form is ErrorForm.PYTHON and error.exception_type:
            text = f"{error.exception_type}: {error.message}"
            inside = error.span.start < told.span.start or error.depth > told.depth
            step = "inside" if inside else "then"
            links.append(Link(step, text, text_places(error)[0] if error.text else error.span.place))
    rank = told.rank if told.rank is not None else source.rank
    raised = chain.errors[-1]
    facts, printed = triton_evidence(failure, chain.errors, messages)
    facts |= sender_facts(told.sender)
    if raised.python_frames:
        facts["n_python_frames"] = len(raised.python_frames)
    return FailureCase(
        failure=failure,
        place=places[0] if places else told.span.place,
        text_places=places,
        reached=Reached.RAISED,
        exported=_exported(chain),
        user=user,
        user_place=place,
        told=(*printed, *links),
        generated=tuple(s for s in evidence.sources if s.kind in _CODE)
        if failure.kind is FailureKind.CXX_ERROR
        else (),
        rank=rank,
        log=source.name,
        facts=facts,
        releases=releases_at_hand(failure, evidence),
    )


def _exported(chain: Chain) -> bool | None:
    """Tell whether the tracebacks go through `torch.export`; None without tracebacks."""
    files = [f.file.replace("\\", "/") for error in chain.errors for f in error.python_frames]
    return any(_EXPORT.search(file) for file in files) if files else None


def text_places(error: ErrorText) -> tuple[Place, ...]:
    """Return where each line of an error's text stands; the span's first line where that is not certain."""
    span = error.span
    first = span.line
    if error.python_frames:
        first = error.python_frames[-1].span.end_line + 1
    rows = error.text.split("\n")
    shown = span.source.line_text(first)
    if error.message[:40].strip() not in shown:
        return (span.place,) * len(rows)
    places = [span.source.place(first)]
    at = first
    for row in rows[1:]:
        # A text has no blank lines, and lines of other ranks may stand between its own.
        words = row.strip()[:60]
        near = range(at + 1, at + 1 + _BETWEEN)
        found = next((n for n in near if words in span.source.line_text(n)), None) if words else None
        at = at if found is None else found
        places.append(span.source.place(at))
    return tuple(places)


def _user(failure: Failure, chain: Chain, places: tuple[Place, ...]) -> tuple[UserFrame | None, Place | None]:
    """Return the user's frame: what torch names, else the innermost frame of the traceback outside of torch."""
    if failure.user_frames:
        frames = failure.user_frames
        frame = next((f for f in reversed(frames) if not is_library(f.file)), frames[-1])
        after = max(failure.text.find("from user code:"), 0)
        at = failure.text.find(f'File "{frame.file}", line {frame.line}', after)
        row = failure.text.count("\n", 0, at) if at >= 0 else 0
        return frame, places[row] if row < len(places) else None
    last = user_frame(chain.told.python_frames or chain.errors[-1].python_frames)
    if last is None:
        return None, None
    return UserFrame(last.file, last.line, last.function, last.code), last.span.source.place(last.span.line)
