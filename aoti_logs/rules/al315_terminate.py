"""A C++ exception that nobody caught ended the process: `terminate called`.

## What it says
The exception's type and text, and where it was raised. `terminate called` several times, or `recursively`, means that
several threads threw at once, as the threads of a parallel region (OpenMP) do: an exception cannot leave such a region, so
the process is aborted although the caller would have caught it.

## Why it matters
libstdc++ prints no frames, and where several threads throw at once often no text (`what()`) either. The same failure in a kernel
that runs on one thread is a plain Python exception with its message: then `OMP_NUM_THREADS=1` brings the text back.

## Example
Three times `terminate called after throwing an instance of 'c10::Error'`, then `terminate called recursively`, then
`IOT instruction (core dumped)`.

## Evidence it needs
The lines of libstdc++ (or `libc++abi: terminating`). The text of the exception stands behind `what():`. Without a text, and with
the generated code at hand, the bounds checks inside of parallel regions are listed as possible, with the input that each tests.

## What to do
Run with `OMP_NUM_THREADS=1`: a failed bounds check of a CPU kernel is then raised with its text and the kernel's name. For frames:
gdb with `catch throw`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Missing
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.death_facts import death_of, signal_facts
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.native_stack import native_facts, native_links
from aoti_logs.rules.parallel_checks import parallel_checks
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Link
    from aoti_logs.rules.error_case import ErrorCase

_RECURSIVE = "terminate called recursively"
_POSSIBLE = (
    "possible: one of the checks above failed; it throws in a parallel region of the code at hand, which no exception can leave",
)
_WITHOUT = "terminate called without an active exception"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what was thrown, and how often."""
    ended = [e for e in case.group if e.form is ErrorForm.TERMINATE]
    death = death_of(case.error)
    if case.error.form is not ErrorForm.TERMINATE and (
        death is None or death.signal != "SIGABRT" or not ended
    ):
        return None
    error = case.error if case.error.form is ErrorForm.TERMINATE else ended[0]
    thrown = [e for e in ended if e.exception_type is not None]
    recursive = any(e.message == _RECURSIVE for e in ended)
    without = error.message == _WITHOUT
    text = "" if error.message in {_RECURSIVE, _WITHOUT} else error.message
    kind = error.exception_type or next((e.exception_type for e in thrown), None)
    facts: dict[str, Any] = {
        "exception_type": kind,
        "message": text or None,
        "terminate": True,
        "n_terminate_lines": len(thrown),
        "recursive": recursive,
        "raised_from": None,
    }
    signals = [d for e in case.group if (d := death_of(e)) is not None]
    if signals:
        facts |= signal_facts(signals[0], case.group)
    links: tuple[Link, ...] = ()
    if error.raised_from is not None:
        raised = error.raised_from
        facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
    if error.stack is not None:
        facts |= native_facts(error.stack)
        links = native_links(error.stack, case.evidence)[0]
    several = recursive or len(thrown) > 1
    because = _because(
        error.raised_from is not None, text, without=without, several=several, recursive=recursive
    )
    if not text and not without:
        checks = parallel_checks(case.evidence)
        links = (*links, *checks)
        because += _POSSIBLE if checks else ()
    return ErrorTold(
        "AL315",
        "terminate",
        _title(kind, text, without=without, several=several),
        Confidence.PROVEN if text else Confidence.UNKNOWN,
        because=because,
        links=links,
        facts={k: v for k, v in facts.items() if v is not None or k == "message"},
        decide=("run with OMP_NUM_THREADS=1: the exception is then raised with its text",)
        if several and not text
        else (),
        missing=()
        if text or without
        else (Missing("the text of the exception", "OMP_NUM_THREADS=1, or gdb with `catch throw`"),),
        experiments=() if text or without else (_one_thread(case.command),),
        doubt=None if text else "no text of an exception is in this log",
    )


def _title(kind: str | None, text: str, *, without: bool, several: bool) -> str:
    if without:
        return "terminate called without an active exception"
    said = f"{kind or 'an exception'} that nobody caught ended the process"
    if text:
        return f"{kind}: {text}" if kind and kind != text else text
    return (
        f"{said}; several threads threw at once, and no text is printed"
        if several
        else f"{said}; no text is printed"
    )


def _because(raised: bool, text: str, *, without: bool, several: bool, recursive: bool) -> tuple[str, ...]:
    if without:
        return (
            "possible: a std::thread was destroyed while it ran, a pure virtual function was called, or `throw;` stood outside of a handler",
        )
    said = ["the process was aborted: nobody caught the exception"]
    if several and text and not recursive:
        said.append("terminate was called more than once: by several threads, or by several processes")
    elif several:
        said.append(
            "several threads called terminate, as threads of a parallel region (OpenMP) do: no exception can leave such a region"
        )
    if text and raised:
        said.append("the exception's own text names the function that raised it")
    return tuple(said)


def _one_thread(command: str) -> Experiment:
    return Experiment(
        command,
        (("OMP_NUM_THREADS", "1"),),
        "run",
        "kernels then run on the caller's thread, so that the exception is raised with its text",
        "libgomp and libiomp read it when the process starts",
        "a failure that needs several threads may not come again",
    )


RULE = Rule("AL315", "terminate", __doc__ or "")
