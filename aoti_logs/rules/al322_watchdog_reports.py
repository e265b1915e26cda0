"""The watchdog of a process group took the process down; it reports an error of the device and is not the cause.

## What it says
A watchdog thread asks the device every second whether the collectives of its group are done. After a kernel faulted, that
question returns the sticky error, the thread ends by an exception, and with it the process:
`terminate called after throwing an instance of 'c10::DistBackendError'`. The note says which group and rank, and which error.

## Why it matters
The last lines of such a log speak of NCCL, and the stack shows `ProcessGroupNCCL::Watchdog`. Neither NCCL nor the network is
at fault: an earlier kernel of this process is, of any kind.

## Evidence it needs
The text of the exception.

## What to do
Look for the first error of the device in the log of the same rank: an assertion, an illegal memory access. It is printed
before, to stderr, or was lost. `CUDA_LAUNCH_BLOCKING=1` makes the kernel's launch report it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.errors.collective import watchdog_end
from aoti_logs.parse.errors.device_fault import device_fault
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.stack_facts import stack_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.errors.collective import WatchdogEnd
    from aoti_logs.parse.errors.device_fault import DeviceFault
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.log_notes import LogCase


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one finding for each rank whose watchdog reports an error of the device."""
    told: dict[int, tuple[ErrorText, WatchdogEnd, DeviceFault]] = {}
    for error in case.events.errors:
        end = watchdog_end(error.message)
        fault = device_fault(error.text or error.message) if end is not None else None
        if end is None or fault is None:
            continue
        known = told.get(end.group.rank)
        if known is None or (error.form is ErrorForm.TERMINATE and known[0].form is not ErrorForm.TERMINATE):
            told[end.group.rank] = (error, end, fault)
    under = {(k.place.source, k.place.line) for f in case.told for k in f.consequences if k.place is not None}
    for rank, (error, end, fault) in sorted(told.items()):
        if (error.span.source.name, error.span.line) in under:
            continue  # it stands under its cause already
        yield _finding(case, rank, error, end, fault)


def _finding(case: LogCase, rank: int, error: ErrorText, end: WatchdogEnd, fault: DeviceFault) -> Finding:
    name = f"process group {end.group.number}" if end.group.number is not None else "a process group"
    title = (
        f"the watchdog of {name} ended rank {rank}: it reports `{fault.text}`, which an earlier kernel caused"
    )
    stacks = [s for s in case.events.stacks if s is error.stack or s.span.start < error.span.start]
    facts: dict[str, Any] = {
        "exception_type": error.exception_type,
        "process_group": end.group.number,
        "rank": rank,
        "cuda_error": fault.text,
        "asynchronous": fault.blocking is not True,
        "terminate": error.form is ErrorForm.TERMINATE,
        **stack_facts(case.events.stacks),
    }
    if error.raised_from is not None:
        raised = error.raised_from
        facts["raised_from"] = {"function": raised.function, "file": raised.file, "line": raised.line}
    if stacks:
        facts["first_trace_frames"] = [f.number for f in stacks[0].frames]
    because = (
        "the watchdog thread asks the device whether collectives are done, and gets the sticky error of an earlier kernel",
        "this says nothing against NCCL or the network",
    )
    return Finding(
        rule="AL322",
        kind="terminate",
        role="consequence",
        severity="note",
        confidence=Confidence.PROVEN,
        title=title,
        facts=facts,
        rank=rank,
        log=case.source.name,
        chain=(Link("error", error.message, error.span.place),),
        verdicts=(Verdict("AL322", title, Confidence.PROVEN, because),),
    )


RULE = Rule("AL322", "watchdog-reports", __doc__ or "")
