"""A launcher says which of its workers ended first, and nothing here says why.

## What it says
torchrun's `ChildFailedError` lists the workers that ended, with exit code or signal, and names the one that ended first.
What that worker printed itself is not in this log, or has no error in it.

## Why it matters
The traceback above the table is torchrun's own and says nothing. Workers that end by SIGTERM were stopped by torchrun
because of the first one: they are not at fault.

## Example
`torch.distributed.elastic.multiprocessing.errors.ChildFailedError`, then a table.

## Evidence it needs
The table. Where an error of a worker is in the same log, that one leads and this stands under it.

## What to do
Look for the output of the rank that ended first. With the decorator `torch.distributed.elastic.multiprocessing.errors.record`
on the main function its traceback stands in the table; `torchrun --log-dir logs --tee 3` keeps the output of every rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Link, Missing
from aoti_logs.parse.errors.elastic import WorkerFailure, WorkerFailures
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

KIND = "child_failed"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which worker ended first, and how."""
    told = case.error.detail
    lead = told.first if isinstance(told, WorkerFailures) else None
    if not isinstance(told, WorkerFailures) or lead is None:
        return None
    title = f"rank {lead.rank} of `{told.name}` ended first: {_how(lead)}"
    links = [Link("worker", title, lead.span.place)]
    stopped = [w for w in told.rows if not w.root and w.exit_code == -15]
    because = [f"rank {w.rank} was stopped by torchrun after that (SIGTERM)" for w in stopped[:4]]
    missing: tuple[Missing, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    if lead.exception is None:
        missing = (Missing(f"why rank {lead.rank} ended", "what that rank printed itself"),)
        experiments = (
            Experiment(
                f"{case.command}   # with --log-dir logs --tee 3 behind torchrun",
                (),
                "run",
                "the output of every rank is then kept in a file of its own, and printed",
                "torchrun reads these options when it starts the workers",
            ),
        )
    return ErrorTold(
        "AL323",
        KIND,
        title,
        Confidence.PROVEN if lead.exception else Confidence.UNKNOWN,
        because=tuple(because),
        links=tuple(links),
        facts=_facts(told, lead),
        missing=missing,
        experiments=experiments,
    )


def _how(worker: WorkerFailure) -> str:
    if worker.exception:
        return worker.exception
    if worker.signal or (worker.exit_code is not None and worker.exit_code < 0):
        return worker.signal or f"signal {-(worker.exit_code or 0)}"
    return f"exit code {worker.exit_code}"


def _facts(told: WorkerFailures, lead: WorkerFailure) -> dict[str, Any]:
    return {
        "first_rank": lead.rank,
        "exit_code": lead.exit_code,
        "signal": lead.signal,
        "pid": lead.pid,
        "host": lead.host,
        "ranks": [w.rank for w in told.rows],
    }


RULE = Rule("AL323", "child-failed", __doc__ or "")
