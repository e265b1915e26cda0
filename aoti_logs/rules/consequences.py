"""What follows from a failed check: later errors of the same process stand under it, not beside it."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from os.path import commonprefix
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.events import AssertionForm, ErrorForm, ErrorText
from aoti_logs.rules.relation import is_secondary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from aoti_logs.parse.events import Assertion, LogEvents

_STICKY = (
    "device-side assert", "CUDA error", "HIP error", "Triton Error", "CUDA driver error", "API call failed",
    "unspecified launch failure", "illegal memory access", "CUBLAS", "cudnn", "NCCL", "watchdog",
    "device kernel image", "ChildFailedError", "run_func_",
)  # fmt: skip


_ASSERTED = "device-side assert triggered"
_HANDS_ON = re.compile(r"run_func_|AOTInductorModel\w*Run\w*\(")


def follows(error: ErrorText, assertion: Assertion) -> bool:
    """Return True when an error is the same failure again or comes from it.

    After a device assert the CUDA context is lost, so every later CUDA error is a consequence. An
    error before the assertion, or of another rank, is not.
    """
    if error.assertion is not None:
        return _same(error.assertion, assertion)
    if error.rank is not None and assertion.rank is not None and error.rank != assertion.rank:
        return False
    if _hands_on(error, assertion):
        return True
    if error.span.start < assertion.first.start:
        # stdout and stderr are two pipes: what the device printed may come last.
        return assertion.form is not AssertionForm.CPU and _ASSERTED in error.message
    if error.form in {ErrorForm.TERMINATE, ErrorForm.SIGNAL}:
        return True
    text = error.message
    if error.exception_type and is_secondary(error):
        return True
    if assertion.form is AssertionForm.CPU:
        # CPU errors do not stick: another call of another model may fail for reasons of its own.
        return assertion.message in text
    return _is_sticky(text)


def _hands_on(error: ErrorText, assertion: Assertion) -> bool:
    """Tell whether an exception has the failed check in its message, below its first line.

    The traceback of a worker process stands behind the first line of what its parent raised because of it.
    """
    if error.form is not ErrorForm.PYTHON or assertion.message not in error.text:
        return False
    if assertion.message in error.message:
        return False
    return any(error.span.start <= s.start < error.span.end for s in assertion.spans)


@lru_cache(maxsize=4096)
def _is_sticky(text: str) -> bool:
    lower = text.lower()
    return any(word.lower() in lower for word in _STICKY)


class Causes:
    """Failed checks of one run, asked together: of ten thousand errors each is looked at once."""

    def __init__(self, assertions: Sequence[Assertion], handed: Collection[int] = ()) -> None:
        self._handed = handed
        self._same = {(a.message, a.file, a.line, a.rank) for a in assertions}
        # What is printed first explains all that the others do, but for a text that must recur.
        self._first: dict[tuple[bool, int | None], Assertion] = {}
        for assertion in sorted(assertions, key=lambda a: a.first.start):
            cpu = assertion.form is AssertionForm.CPU
            self._first.setdefault((cpu, assertion.rank), assertion)
        self._cpu = [a for a in assertions if a.form is AssertionForm.CPU]
        placed = sorted(((s.start, a) for a in assertions for s in a.spans), key=lambda p: p[0])
        self._starts, self._placed = [start for start, _ in placed], [a for _, a in placed]
        self._beginning = commonprefix([a.message for a in self._cpu])  # noqa: RUF071 - texts, not paths

    def explain(self, error: ErrorText) -> bool:
        """Tell whether an error follows from one of them."""
        if error.assertion is not None:
            own = error.assertion
            return (own.message, own.file, own.line, own.rank) in self._same
        if error.span.start in self._handed:
            return True
        at = bisect_left(self._starts, error.span.start)
        if at < len(self._starts) and self._starts[at] < error.span.end and follows(error, self._placed[at]):
            return True
        if any(follows(error, a) for a in self._first.values()):
            return True
        return self._beginning in error.message and any(follows(error, a) for a in self._cpu)


def _same(one: Assertion, other: Assertion) -> bool:
    return (one.message, one.file, one.line, one.rank) == (other.message, other.file, other.line, other.rank)


def returned(events: LogEvents) -> dict[int, tuple[str, str | None, int | None]]:
    """Return which CPU assertion the error of a whole model call hands on, by where the error stands.

    `run_func_(...) API call failed at ...` does not repeat the text. It belongs to the failure that was
    printed last before it: another error in between is what it hands on.
    """
    cpu = [a for a in events.assertions if a.form is AssertionForm.CPU]
    if not cpu:
        return {}
    steps: list[tuple[int, Assertion | ErrorText]] = [(s.start, a) for a in cpu for s in a.spans]
    steps += [(e.span.start, e) for e in events.errors if e.form is not ErrorForm.WARNING]
    last: Assertion | None = None
    found: dict[int, tuple[str, str | None, int | None]] = {}
    for start, step in sorted(steps, key=lambda s: s[0]):
        if not isinstance(step, ErrorText):
            last = step
        elif step.assertion is not None:
            last = step.assertion
        elif last is not None and _HANDS_ON.match(step.message):
            found[start] = (last.message, last.file, last.line)
        elif last is not None and last.message not in step.message:
            last = None
    return found


def consequences_of(events: LogEvents, assertion: Assertion) -> tuple[Link, ...]:
    """Return the later printings and errors, equal ones once with how often."""
    groups: dict[str, list[ErrorText]] = {}
    own = (assertion.message, assertion.file, assertion.line)
    cpu = assertion.form is AssertionForm.CPU
    handed = {at for at, whose in returned(events).items() if whose == own} if cpu else set()
    for error in events.errors:
        if error.form is ErrorForm.WARNING:
            continue
        if error.span.start <= assertion.first.start < error.span.end and not _hands_on(error, assertion):
            continue
        if follows(error, assertion) or error.span.start in handed:
            groups.setdefault(_text(error), []).append(error)
    links = []
    for text, errors in groups.items():
        more = [f"{len(errors)} times"] if len(errors) > 1 else []
        ranks = {e.rank for e in errors}
        if assertion.rank is None and len(ranks) == 1 and None not in ranks:
            more.append(f"rank {errors[0].rank}")
        details = (", ".join(more),) if more else ()
        links.append(Link("follows", text, errors[0].span.place, Confidence.PROVEN, details))
    return tuple(links)


def _text(error: ErrorText) -> str:
    if error.form is ErrorForm.TERMINATE:
        return (
            f"terminate called after throwing an instance of '{error.exception_type}'"
            if error.exception_type
            else error.message
        )
    if error.exception_type and not error.message.startswith(error.exception_type):
        message = error.message
        return (
            ": ".join(part for part in (error.exception_type, message.strip()) if part)
            if error.form is ErrorForm.PYTHON and "CUDA error" not in message
            else message
        )
    return error.message
