"""Another process died, and the one that waited for it says so.

## What it says
The signal that the child died of, as far as the parent knows it, and which child it was. The exception is the parent's: what
failed is in the child's output.

## Why it matters
`CalledProcessError ... died with <Signals.SIGSEGV: 11>`, `process 0 terminated with signal SIGSEGV`, `DataLoader worker (pid ...) is
killed by signal` and a broken pool of compile workers look like failures of the code that raised them. They are messages about a
death elsewhere.

## Example
`torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGSEGV`

## Evidence it needs
The exception. The child's own stderr may stand in the same log, with another rank or without one.

## What to do
Look for the child's output before the exception; run the child's command alone with `PYTHONFAULTHANDLER=1`. A compile worker of
Inductor that died of SIGKILL was killed for memory in most cases: `dmesg` tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Missing
from aoti_logs.parse.deaths.child_death import child_death
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.death_facts import signal_facts, with_faulthandler
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_LONGEST = 20_000


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which child died, and of what."""
    error = case.error
    if error.form is not ErrorForm.PYTHON:
        return None
    death = child_death((error.text or error.message)[:_LONGEST])
    if death is None:
        return None
    who = f"the child process {death.where}" if death.where else "a child process"
    who = f"the process {death.pid}" if death.pid is not None else who
    how = f" of {death.signal}" if death.signal else ""
    facts = signal_facts(death)
    if death.where is not None:
        facts["child"] = death.where
    return ErrorTold(
        "AL319",
        "child_died",
        f"{who} died{how}; this exception is its parent's",
        Confidence.UNKNOWN,
        because=("the parent only knows how the child ended; why is in the child's own output",),
        facts=facts,
        decide=("the last lines that the child wrote",),
        missing=(Missing("the output of the child", "its stderr, kept apart for each process"),),
        experiments=() if death.signal == "SIGKILL" else (with_faulthandler(case.command),),
        doubt="what failed in the child is not in this exception",
    )


RULE = Rule("AL319", "child-died", __doc__ or "")
