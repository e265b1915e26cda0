"""Python's faulthandler tells where each thread was when a signal ended the process.

## What it says
The signal, and the innermost Python frame of the thread that it came to. Other threads are listed and not blamed: most of
them wait. With a C stack (CPython 3.14) it names the native function too.

## Why it matters
The frame is the last Python line before native code. A `ctypes` call, an extension, a driver or a compiled model below it may
have failed; a corrupted heap shows up at any later allocation, so that frame may have nothing to do with it.

## Example
`Fatal Python error: Segmentation fault`, `Current thread 0x00007fd96d43fb80 (most recent call first):`,
`File ".../ctypes/__init__.py", line 519 in string_at`.

## Evidence it needs
A dump of faulthandler. Where its first lines are cut off it may also be one of a process that waits
(`faulthandler.dump_traceback_later`, py-spy, a watchdog): then this is a note, and no thread is blamed.

## What to do
Read the line of the current thread. For what happened below it, run under gdb; for a heap that is corrupted earlier,
with AddressSanitizer or `MALLOC_CHECK_=3`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.death_facts import current_thread, death_of, signal_facts, thread_facts, with_gdb
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.native_stack import native_facts, native_links, where
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.user_frames import frame_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.log_notes import LogCase


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say where the dying thread was."""
    death = death_of(case.error)
    if death is None or death.printer != "faulthandler":
        return None
    facts = {**signal_facts(death, case.group), **thread_facts(death)}
    links: tuple[Link, ...] = ()
    thread = current_thread(death)
    title = f"Fatal Python error: {death.fatal}"
    if thread is not None and thread.frames:
        top = thread.frames[0]
        title += f", in `{top.function}` ({top.file}:{top.line})"
    if death.stacks:
        stack = death.stacks[0]
        facts |= native_facts(stack)
        links = native_links(stack, case.evidence)[0]
        title += f"; the native frames are {where(stack)}"
    because = ["the frame is where the thread was in Python; what failed is native code below it"]
    others = len(death.threads) - (1 if thread is not None else 0)
    if thread is None:
        because = ["the dump does not say which thread the signal came to"]
    elif others:
        because.append(
            f"{others} other thread{'s' * (others != 1)} stood elsewhere; that tells nothing about the signal"
        )
    return ErrorTold(
        "AL311",
        "faulthandler",
        title,
        Confidence.UNKNOWN,
        because=tuple(because),
        links=links,
        facts=facts,
        decide=("run under gdb: the native frames name the function that failed",),
        missing=()
        if death.stacks
        else (Missing("the native frames", "gdb, a core dump, or CPython 3.14 and newer"),),
        experiments=(with_gdb(case.command, case.error, case.group),),
        doubt="the frames say where the process was, not why",
    )


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Tell of dumps whose first line is missing, or that a program made while it ran."""
    for error in case.events.errors:
        death = error.detail
        if error.form is ErrorForm.WARNING and isinstance(death, Death) and death.threads:
            yield _note(case, error, death)


def _note(case: LogCase, error: ErrorText, death: Death) -> Finding:
    count = len(death.threads)
    timeout = error.message.startswith("Timeout (")
    sure = Confidence.PROVEN if timeout else Confidence.UNKNOWN
    title = f"faulthandler shows {count} Python thread{'s' * (count != 1)}"
    title += (
        f" after {error.message.rstrip('!').lower()}"
        if timeout
        else "; what ended or stopped the process is not in this log"
    )
    current = current_thread(death)
    top = current.frames[0] if current is not None and current.frames else None
    links = [Link("threads", error.message, error.span.place)]
    if top is not None:
        links.append(frame_link("current", top))
    because = (
        ()
        if timeout
        else ("the first lines of the dump are missing: they name the signal, if there was one",)
    )
    return Finding(
        rule="AL311",
        kind="faulthandler",
        role="note",
        severity="warning",
        confidence=sure,
        title=title,
        facts=thread_facts(death),
        rank=error.rank if error.rank is not None else case.source.rank,
        log=case.source.name,
        chain=tuple(links),
        missing=()
        if timeout
        else (Missing("the beginning of the dump", "stderr of the process from its start"),),
        verdicts=(Verdict("AL311", title, sure, because),),
        doubt=None if timeout else "a process that only waits can write the same",
    )


RULE = Rule("AL311", "faulthandler", __doc__ or "")
