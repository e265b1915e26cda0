"""A process ended by a signal, and nothing in the log says why.

## What it says
The signal as the shell, the launcher or the system's kernel tells it, with process id, rank or task. Nothing more: a shell sees
only how a process ended.

## Why it matters
A SIGSEGV has no message. A SIGABRT has one in most cases, on stderr before it. A SIGKILL comes from outside: the kernel when memory
is used up, a scheduler at its time limit, a person; only the kernel's log (`Out of memory: Killed process`) or the
scheduler tells which.

## Example
`./run.sh: line 5: 26905 Segmentation fault      python serve.py`

## Evidence it needs
The line. With the kernel's own (`segfault at 10 ip ... in libtorch_cpu.so`) it also tells the address and the library, with
`oom-kill` that memory was used up.

## What to do
SIGSEGV: run with `PYTHONFAULTHANDLER=1`, then under gdb. SIGABRT: read stderr before that line. SIGKILL: `dmesg`, the
scheduler's record of the job, the container's exit reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Missing
from aoti_logs.rules.death_facts import NO_TEXT, death_of, signal_facts, with_faulthandler, with_gdb
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.model_suspicions import suspicions
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Experiment
    from aoti_logs.parse.deaths.death import Death
    from aoti_logs.rules.error_case import ErrorCase

_KINDS = {
    "SIGSEGV": "segfault", "SIGBUS": "segfault", "SIGABRT": "abort", "SIGKILL": "killed", "SIGTERM": "killed",
    "SIGFPE": "arithmetic_exception", "SIGILL": "illegal_instruction",
}  # fmt: skip
_MEMORY = "out of memory"
_WHO = {
    "shell": "the shell", "elastic": "torchrun", "mpi": "MPI", "slurm": "Slurm", "kernel": "the system's kernel",
    "pycharm": "PyCharm",
}  # fmt: skip


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say by which signal the process ended."""
    death = death_of(case.error)
    if death is None or death.signal is None or death.printer not in _WHO:
        return None
    facts: dict[str, Any] = signal_facts(death, case.group)
    crashes = [_crash(d) for e in case.group if (d := death_of(e)) is not None and d.signal is not None]
    if len(crashes) > 1:
        facts |= {"n_crashes": len(crashes), "crashes": crashes}
    if death.library is not None:
        facts["library"] = death.library
    if death.where is not None:
        facts["where"] = death.where
    memory = death.reason is not None and _MEMORY in death.reason
    kind = "out_of_memory_killed" if memory else _KINDS.get(death.signal, "signal")
    return ErrorTold(
        "AL317",
        kind,
        _title(death, len(crashes), memory=memory),
        Confidence.PROVEN if memory else Confidence.UNKNOWN,
        because=(*_because(death, memory=memory), *_of_model(case, death.signal)),
        facts=facts,
        decide=() if memory else _decide(death.signal),
        fixes=("less memory at once (batch, workers, max_autotune in subprocesses), or a larger limit",)
        if memory
        else (),
        missing=_missing(death, memory=memory),
        experiments=_experiments(case, death.signal),
        doubt=None if memory else "nothing in the log says why the signal came",
    )


def _of_model(case: ErrorCase, signal: str) -> tuple[str, ...]:
    """Return what is known to end so in a model of AOTInductor, where one is at hand; that it ran is not known."""
    wrappers = (code.wrapper for code in case.evidence.base.wrappers)
    if signal not in {"SIGSEGV", "SIGBUS"} or not any(
        w is not None and w.flavour == "aoti_cpp" for w in wrappers
    ):
        return ()
    found = suspicions(case, aoti=True)
    return tuple(f"in case it died in the model at hand: {text}" for text in found.because)


def _crash(death: Death) -> dict[str, Any]:
    facts = {
        "pid": death.pid,
        "signal": death.signal,
        "run": death.run,
        "where": death.where,
        "program": death.program,
    }
    return {k: v for k, v in facts.items() if v is not None}


def _title(death: Death, crashes: int, *, memory: bool) -> str:
    who = f" (process {death.pid})" if death.pid is not None else ""
    if memory:
        which = (
            f"process {death.pid} (`{death.program}`)"
            if death.pid is not None and death.program
            else "the process"
        )
        return f"the system ended {which} because memory was used up"
    title = f"a process{who} ended by {death.signal}"
    if death.library is not None:
        title += f" in {death.library.rpartition('/')[2]}"
    if crashes > 1:
        title += f"; {crashes} deaths are told in all"
    return f"{title}; nothing in the log says why"


def _because(death: Death, *, memory: bool) -> tuple[str, ...]:
    said = [f"{_WHO[death.printer]} tells how the process ended, which is all that it sees"]
    if memory:
        said = [f"{_WHO[death.printer]} says so"]
    elif death.signal == "SIGKILL":
        said.append("possible: memory used up, a time limit of the scheduler, or somebody's kill -9")
    elif death.signal == "SIGABRT":
        said.append("a process aborts itself, and prints why in most cases: that text is not in this log")
    elif death.signal in {"SIGSEGV", "SIGBUS"} and death.null_like:
        said.append(f"the address {death.address} is that of a null pointer, or of a field of one")
    return tuple(said)


def _decide(signal: str) -> tuple[str, ...]:
    return {
        "SIGKILL": ("the kernel's log (dmesg), or the scheduler's record of the job",),
        "SIGABRT": ("the last lines of stderr before the signal",),
    }.get(signal, ("run with PYTHONFAULTHANDLER=1, then under gdb",))


def _missing(death: Death, *, memory: bool) -> tuple[Missing, ...]:
    if memory:
        return ()
    if death.signal == "SIGKILL":
        return (
            Missing(
                "who sent the signal", "dmesg (`Out of memory: Killed process`), or the scheduler's record"
            ),
        )
    if death.signal == "SIGABRT":
        return (
            Missing(
                "why the process aborted itself",
                "stderr of the process; it is printed there before the signal",
            ),
        )
    return (NO_TEXT,)


def _experiments(case: ErrorCase, signal: str) -> tuple[Experiment, ...]:
    if signal in {"SIGKILL", "SIGTERM"}:
        return ()
    return with_faulthandler(case.command), with_gdb(case.command, case.error, case.group)


RULE = Rule("AL317", "signal", __doc__ or "")
