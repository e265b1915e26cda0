"""Failures that no rule explains yet: said plainly, with the first error quoted, and nothing more."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.al109_assert_text_lost import lost_assertion
from aoti_logs.rules.index_facts import stack_facts
from aoti_logs.rules.log_failures import chain_findings, failure_chains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import ErrorText, LogEvents, PythonFrame
    from aoti_logs.rules.log_failures import Chain
    from aoti_logs.sources.source import Source

_KINDS: tuple[tuple[str, str], ...] = (
    (
        r"input_handles\[\d+\]: unmatched|input_handles\[\d+\]: dim value|^expected ndim \d+ but got",
        "aoti_input_mismatch",
    ),
    (r"expected (?:in|out)puts vector size to be", "aoti_input_count_mismatch"),
    (r"Error in dlopen", "aoti_dlopen_error"),
    (
        r"zip archive|generated cpp file or so file|File (?:not )?found: .*_compile_flags",
        "aoti_package_error",
    ),
    (r"illegal memory access", "cuda_illegal_memory_access"),
    (r"misaligned address", "cuda_misaligned_address"),
    (r"API call failed at", "aoti_api_call_failed"),
    (r"device-side assert", "cuda_device_assert"),
)
"""Text of an error to the kind of failure that it certainly is; a table, so that it can grow."""


_FIRST = "this is the first error in the log that nothing before it explains; no rule knows its cause yet"
_BEHIND = (
    "a compile failed before it, from which it was not raised: the program went on after that, or this is "
    "another process; no rule knows its cause yet"
)
_HANDS_ON = re.compile(
    r"ChildFailedError|Process\w*Exception|RayTaskError|RemoteError|EngineDead|Engine ?[Cc]ore|EOFError|"
    r"BrokenPipe|ConnectionReset|(?i:root cause|see above|\bdied\b|terminated|exit ?code|exited|worker)"
)
"""What a process says whose child failed."""
_EXPORT = re.compile(r"/torch/_?export/")
_TELLING = 12  # characters of a message of which one is no other
_SHORT = 2000


def kind_of(error: ErrorText) -> str:
    """Return the kind of an error, by its text, else by how it reached the log."""
    for pattern, kind in _KINDS:
        if re.search(pattern, error.message):
            return kind
    if error.signal in {"SIGSEGV", "SIGBUS"}:
        return "segfault"
    if error.form is ErrorForm.TERMINATE:
        return "terminate"
    return "python_traceback" if error.form is ErrorForm.PYTHON else "error"


def other_findings(
    errors: Sequence[ErrorText],
    events: LogEvents,
    source: Source,
    evidence: Evidence,
    *,
    explained: bool,
) -> list[Finding]:
    """Return the failed compiles of each rank, and one finding for its first other error, the later ones under it."""
    serious = [e for e in errors if e.form is not ErrorForm.WARNING]
    by_rank: dict[int | None, list[ErrorText]] = {}
    for error in serious:
        by_rank.setdefault(error.rank, []).append(error)
    found: list[Finding] = []
    for group in by_rank.values():
        chains, rest = failure_chains(group)
        compiles = chain_findings(chains, source, evidence)
        own: list[ErrorText] = []
        if compiles:
            rest, own = _after(compiles, chains, rest)
        if explained:
            compiles = [replace(f, role="note", severity="note") for f in compiles]
        found += compiles
        if rest:
            found.append(
                lost_assertion(rest, events, source, evidence)
                or _finding(rest, events, source, explained or bool(compiles))
            )
        if own:
            found.append(_finding(own, events, source, explained, (_BEHIND,)))
    return found


def _after(
    compiles: list[Finding], chains: list[Chain], rest: list[ErrorText]
) -> tuple[list[ErrorText], list[ErrorText]]:
    """Put what hands on the first failed compile under it; return the errors before it, and those of their own.

    A traceback that was not raised from the failed compile shows that the program went on after it (or that
    another process or thread speaks), so it does not follow from it.
    """
    start, message = chains[0].told.span.start, chains[0].failure.message
    behind = [e for e in rest if e.span.start > start]
    own = [e for e in behind if _stands_alone(e, message)]
    later = {e.message: e for e in reversed(behind) if e not in own and e.message}
    links = tuple(Link("follows", m, e.span.place) for m, e in reversed(later.items()))
    compiles[0] = replace(compiles[0], consequences=(*compiles[0].consequences, *links))
    return [e for e in rest if e.span.start <= start], own


def _export_call(error: ErrorText) -> PythonFrame | None:
    """Return the frame that calls `torch.export`, where the traceback goes through it."""
    last: PythonFrame | None = None
    for frame in error.python_frames:
        if _EXPORT.search(frame.file.replace("\\", "/")):
            return last
        last = frame
    return None


def _stands_alone(error: ErrorText, message: str) -> bool:
    """Tell whether an error behind a failed compile is one of its own, and nothing that hands it on."""
    if error.form is not ErrorForm.PYTHON or not error.python_frames:
        return False
    if len(message) >= _TELLING and message in error.text:
        return False
    return _HANDS_ON.search(f"{error.exception_type}: {error.text[:_SHORT]}") is None


def _finding(
    group: list[ErrorText],
    events: LogEvents,
    source: Source,
    explained: bool,
    because: tuple[str, ...] = (_FIRST,),
) -> Finding:
    first = group[0]
    kind = kind_of(first)
    title = first.message if not first.exception_type else f"{first.exception_type}: {first.message}"
    verdict = Verdict(
        "AL001",
        title,
        Confidence.UNKNOWN,
        because,
    )
    later: dict[str, Link] = {}
    for error in group[1:]:
        if error.message != first.message:
            later.setdefault(error.message, Link("follows", error.message, error.span.place))
    facts = {"message": first.message, "exception_type": first.exception_type, **stack_facts(events.stacks)}
    if first.raised_from is not None:
        raised = first.raised_from
        facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
    call = _export_call(first)
    if call is not None:
        facts["export_call"] = {"file": call.file, "line": call.line, "function": call.function}
    chain = [Link("error", title, first.span.place)]
    if first.python_frames:
        last = first.python_frames[-1]
        text = f"{last.file}:{last.line} in {last.function}" + (f": {last.code}" if last.code else "")
        chain.append(Link("python", text, last.span.place))
    return Finding(
        rule="AL001",
        kind=kind,
        role="note" if explained else "cause",
        severity="note" if explained else "error",
        confidence=Confidence.UNKNOWN,
        title=title,
        facts=facts,
        rank=first.rank if first.rank is not None else source.rank,
        log=source.name,
        chain=tuple(chain),
        verdicts=(verdict,),
        consequences=tuple(later.values()),
    )
