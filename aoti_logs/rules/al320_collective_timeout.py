"""A collective did not end in time, and the watchdog took the process down.

## What it says
Which collective it was, how long it ran, and how far each rank had come where the log tells. A rank that had not enqueued
the collective never joined it: the others waited for that rank. Where no rank says so, what held the collective up is not
known.

## Why it matters
The rank that reports the timeout is the one that waited. The one to look at is the one that did not come: it was slow, had
died, or called something else. NCCL and the network are seldom at fault.

## Example
`Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, ..., Timeout(ms)=10000) ran for 10092
milliseconds before timing out.` with `last enqueued work: 2, last completed work: 1` on rank 0, and `Last enqueued NCCL
work: 1` on rank 1.

## Evidence it needs
The line of the watchdog; the states that process groups print since torch 2.3, of all ranks. With the flight recorder on
(`TORCH_NCCL_TRACE_BUFFER_SIZE`, since 2.8 `TORCH_FR_BUFFER_SIZE`) the Python stack of the collective is printed.

Where the watchdog itself does not move, a monitor says so (`watchdog got stuck for 480 seconds`): no collective is named
then, and what hangs is not known.

## What to do
Look at what the rank did that did not join: an exception caught, a branch that only some ranks take, a slow step (a
checkpoint, a first compile). Compiles of torch.compile take minutes, and not all ranks compile at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Link, Missing
from aoti_logs.parse.errors.collective import collective_timeout, group_status
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.errors.collective import CollectiveTimeout, GroupStatus
    from aoti_logs.parse.events import ErrorText, Frame, LogEvents
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.sources.source import Place

_PAIRS = re.compile(r"SEND|RECV|COALESCED")
_STUCK = re.compile(r"watchdog got stuck for (?P<seconds>\d+) ?seconds|Heartbeat monitor timed out!")
_STACK = "Stack trace of the failed collective"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which collective timed out, and which rank had not joined it."""
    first = next(((e, t) for e in (case.error, *case.group) if (t := _timeout(e))), None)
    if first is None and (stuck := _STUCK.search(case.error.message)) is not None:
        return _hang(case, stuck)
    if first is None or (_timeout(case.error) is None and not _of_watchdog(case.error)):
        return None
    error, timeout = first
    states = _states(case.events)
    absent = _absent(timeout, states)
    name = timeout.operation or "a collective"
    number = f" {timeout.sequence}" if timeout.sequence is not None else ""
    seconds = f"{timeout.elapsed / 1000:,.1f} s"
    who = f"rank {timeout.group.rank}" if timeout.group is not None else "a rank"
    title = f"{name}{number} did not end in {seconds} on {who}"
    if absent:
        ranks = ", ".join(str(r) for r in absent)
        title += f"; rank{'s' * (len(absent) > 1)} {ranks} had not joined it"
    else:
        title += "; which rank held it up is not known"
    call = _call(case.group)
    return ErrorTold(
        "AL320",
        "collective_timeout",
        title,
        Confidence.PROVEN if absent else Confidence.UNKNOWN,
        because=_because(timeout, absent),
        links=_links(error, case.error, states, call),
        facts=_facts(case, timeout, states, absent, call),
        decide=() if absent else ("compare what each rank called last",),
        missing=_missing(absent, call),
        experiments=() if call is not None else (_recorder(case.command),),
    )


def _hang(case: ErrorCase, stuck: re.Match[str]) -> ErrorTold:
    """Say that the monitor of a watchdog waited in vain for it."""
    seconds = stuck["seconds"]
    who = f"rank {case.error.rank}" if case.error.rank is not None else "a rank"
    long = f" for {int(seconds[:9]):,} s" if seconds else ""
    return ErrorTold(
        "AL320",
        "watchdog_stuck",
        f"the watchdog of {who} made no progress{long}: what it waited for is not known",
        Confidence.UNKNOWN,
        because=(
            "a thread of the process group watches the watchdog, and ends the process when that does not move",
            "it waits in a call into the device or into NCCL: a kernel or another rank hangs, or a thread holds the GIL",
        ),
        facts={"stuck_s": int(seconds[:9]) if seconds else None},
        missing=(
            Missing(
                "which call hangs",
                "the stacks of all threads: `py-spy dump --native --pid PID` while it hangs",
            ),
            Missing("which rank had not joined", "the logs of all ranks, and TORCH_NCCL_DUMP_ON_TIMEOUT=1"),
        ),
        experiments=(_recorder(case.command),),
    )


def _timeout(error: ErrorText) -> CollectiveTimeout | None:
    return collective_timeout(error.text or error.message)


def _of_watchdog(error: ErrorText) -> bool:
    return group_status(error.message) is not None


@dataclass(frozen=True)
class _State:
    """What a rank printed of its process group, and where."""

    status: GroupStatus
    place: Place


def _states(events: LogEvents) -> dict[int, _State]:
    """Return the first state that each rank printed."""
    told = [(e.message, e.span) for e in events.errors]
    told += [(dict(n.facts)["text"], n.span) for n in events.notes if n.kind == "collective"]
    found: dict[int, _State] = {}
    for text, span in sorted(told, key=lambda t: t[1].start):
        status = group_status(text)
        if status is not None:
            found.setdefault(status.group.rank, _State(status, span.place))
    return found


def _absent(timeout: CollectiveTimeout, states: dict[int, _State]) -> tuple[int, ...]:
    """Return the ranks whose group had not enqueued the collective when they printed their state.

    Numbers count within one process group, so states of another group say nothing.
    """
    if timeout.sequence is None or timeout.group is None or timeout.group.rank not in states:
        return ()
    if _PAIRS.search(timeout.operation or ""):
        return ()  # only two ranks take part, and each pair has numbers of its own
    own = states[timeout.group.rank].status.group
    return tuple(
        rank
        for rank, state in sorted(states.items())
        if state.status.enqueued < timeout.sequence
        and (state.status.group.number, state.status.group.name) == (own.number, own.name)
    )


def _call(errors: Sequence[ErrorText]) -> Frame | None:
    """Return the frame that called the collective, from the flight recorder's stack."""
    for error in errors:
        if error.message.startswith(_STACK) and error.stack is not None:
            frames = error.stack.frames
            return next((f for f in frames if f.file and "/torch/" not in f.file), frames[0])
    return None


def _because(timeout: CollectiveTimeout, absent: tuple[int, ...]) -> tuple[str, ...]:
    found = []
    if timeout.timeout is not None:
        found.append(f"the timeout of the process group is {timeout.timeout / 1000:,.0f} s")
    if absent:
        found.append(
            "a collective ends when every rank has joined it; the reporting rank is the one that waited"
        )
    else:
        found.append(
            "the rank that reports it is one that waited; the log does not show a rank that had not joined"
        )
    return tuple(found)


def _links(
    error: ErrorText,
    cause: ErrorText,
    states: dict[int, _State],
    call: Frame | None,
) -> tuple[Link, ...]:
    links = [] if error is cause else [Link("timeout", error.message, error.span.place)]
    for rank, state in sorted(states.items())[:8]:
        status = state.status
        text = f"rank {rank}: last enqueued {status.enqueued}, last completed {status.completed}"
        links.append(Link("state", text, state.place))
    if call is not None:
        links.append(Link("called", f"{call.file}:{call.line} in {call.symbol}", call.span.place))
    return tuple(links)


def _facts(
    case: ErrorCase,
    timeout: CollectiveTimeout,
    states: dict[int, _State],
    absent: tuple[int, ...],
    call: Frame | None,
) -> dict[str, Any]:
    known = dict(timeout.fields)
    facts: dict[str, Any] = {
        "operation": timeout.operation,
        "sequence_number": timeout.sequence,
        "timeout_ms": timeout.timeout,
        "elapsed_ms": timeout.elapsed,
        "reporting_rank": timeout.group.rank if timeout.group is not None else case.error.rank,
        "ranks_not_joined": list(absent),
    }
    for key, name in (("NumelIn", "numel_in"), ("NumelOut", "numel_out")):
        if known.get(key, "").isdigit():
            facts[name] = int(known[key][:18])
    if "TensorShape" in known:
        facts["tensor_shape"] = known["TensorShape"]
    if timeout.group is not None and timeout.group.rank in states:
        state = states[timeout.group.rank].status
        facts["last_enqueued"], facts["last_completed"] = state.enqueued, state.completed
        facts["process_group"] = state.group.number
    if call is not None:
        facts["call_site"] = {"file": call.file, "line": call.line, "function": call.symbol}
    return facts


def _missing(absent: tuple[int, ...], call: Frame | None) -> tuple[Missing, ...]:
    found = []
    if not absent:
        found.append(
            Missing("which rank had not joined", "the logs of all ranks, and TORCH_NCCL_DUMP_ON_TIMEOUT=1")
        )
    if call is None:
        found.append(Missing("which line called the collective", "the flight recorder"))
    return tuple(found)


def _recorder(command: str) -> Experiment:
    return Experiment(
        command,
        (("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"), ("TORCH_NCCL_DUMP_ON_TIMEOUT", "1")),
        "run",
        "the flight recorder keeps the last collectives of each rank with their Python stacks, and prints and dumps them",
        "the process group reads both when it is made; torch 2.8 and newer also read TORCH_FR_BUFFER_SIZE, and 2.11 and newer record 2000 without it",
    )


RULE = Rule("AL320", "collective-timeout", __doc__ or "")
