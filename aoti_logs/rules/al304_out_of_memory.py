"""An allocator could not have the memory that it was asked for.

## What it says
How much was asked for, how much there is, and who holds it: tensors of this process, memory that torch reserved and does
not use, private pools of CUDA graphs, other processes. Which of these is the reason follows from the numbers.

## Why it matters
The same exception has different mends. Where tensors hold the memory, the batch is too large. Where torch holds much that
it does not use, the memory is in pieces, and `expandable_segments:True` helps. Where other processes hold it, nothing in
this program does.

## Example
`CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of which 3.25 MiB is free.`

## Evidence it needs
The message. `CUDA error: out of memory` comes from the runtime itself, without numbers: the allocator was off, or
something else than torch's allocator asked (a CUDA context, a library's workspace, NCCL).

## What to do
Read the numbers. A snapshot (`torch.cuda.memory._record_memory_history()`) names the line that holds each block.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Experiment
from aoti_logs.parse.errors.out_of_memory import out_of_memory
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.errors.out_of_memory import OutOfMemory
    from aoti_logs.rules.error_case import ErrorCase

_VARIABLE = re.compile(r"\bPYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF\b")
_NAMES = {"cuda": "GPU", "rocm": "AMD GPU", "xpu": "XPU", "mps": "Apple GPU", "cpu": "host"}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say how much was asked for, and who holds the rest."""
    found = out_of_memory(case.error.text or case.error.message)
    if found is None:
        return None
    name = _NAMES.get(found.backend, found.backend.upper())
    where = f"the {name}" if found.device is None else f"{name} {found.device}"
    wanted = f"{shown(found.wanted)} were asked for" if found.wanted is not None else "no size is told"
    free = f", {shown(found.free)} are free" if found.free is not None else ""
    total = f" of {shown(found.total)}" if found.total is not None and free else ""
    facts = {key: value for key, value in asdict(found).items() if value is not None and key != "plain"}
    return ErrorTold(
        "AL304",
        "out_of_memory",
        f"out of memory on {where}: {wanted}{free}{total}",
        Confidence.PROVEN,
        because=tuple(_because(found)),
        facts=facts,
        fixes=tuple(_fixes(found, _variable(case))),
        experiments=_experiments(case, found),
    )


def shown(size: int | None) -> str:
    """Write a number of bytes as a person reads it."""
    if size is None:
        return "unknown"
    value, unit = float(size), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} bytes" if unit == "bytes" else f"{value:.2f} {unit}"


def _because(found: OutOfMemory) -> Iterator[str]:
    if found.plain:
        yield (
            "the runtime itself refused, and told no numbers: torch's caching allocator was off, or something else asked "
            "(a context, a library's workspace)"
        )
        return
    total, wanted = found.total, found.wanted
    if total is not None and wanted is not None and wanted > total:
        yield f"that is more than the whole device has ({shown(total)}): one tensor is too large, not the rest"
        return
    if found.limit is not None:
        yield f"this process may have {shown(found.limit)} (torch.cuda.set_per_process_memory_fraction)"
    if found.allocated is not None:
        yield f"tensors of this process hold {shown(found.allocated)}"
    if found.reserved is not None and wanted is not None:
        pieces = (
            "; it is in pieces that are too small, or kept for another stream or a CUDA graph"
            if found.reserved >= wanted
            else ""
        )
        yield f"torch holds {shown(found.reserved)} more that no tensor uses{pieces}"
    if found.private:
        yield f"private pools (CUDA graphs) hold {shown(found.private)}"
    if found.others:
        yield f"other processes hold {shown(found.others)}"


def _variable(case: ErrorCase) -> str:
    """Return what this torch calls the variable: the message says it (from 2.9 on PYTORCH_ALLOC_CONF)."""
    told = _VARIABLE.search(case.error.text or case.error.message)
    return told[0] if told is not None else "PYTORCH_CUDA_ALLOC_CONF"


def _fixes(found: OutOfMemory, variable: str) -> Iterator[str]:
    if found.reserved is not None and found.wanted is not None and found.reserved >= found.wanted:
        yield f"{variable}=expandable_segments:True, which joins free pieces"


def _experiments(case: ErrorCase, found: OutOfMemory) -> tuple[Experiment, ...]:
    if found.backend not in {"cuda", "rocm"} or found.plain or not list(_fixes(found, "")):
        return ()
    return (
        Experiment(
            case.command,
            ((_variable(case), "expandable_segments:True"),),
            "run",
            "pieces that torch holds and does not use can then be joined",
            "the caching allocator reads it when it is first used",
            "compute-sanitizer reports false alarms with it",
        ),
    )


RULE = Rule("AL304", "out-of-memory", __doc__ or "")
