"""A signal handler printed the native frames of the process that it ended.

## What it says
The signal, the address whose access failed, and where the thread was: UCX, glog, Abseil (Ray), folly and OpenMPI install such
handlers, and LLVM does in Triton's compiler. An address below 4096 is called null-pointer-like: a null pointer, or a field of
one. Frames of the Triton compiler mean that the process died while it compiled a kernel, before any ran.

## Why it matters
The handler is often that of a library that has nothing to do with the failure (UCX comes with the container, Ray with the
launcher): whose handler it is says nothing about the cause.

## Example
`Caught signal 11 (Segmentation fault: address not mapped to object at address 0xc)` with frames of
`mlir::LLVM::InsertElementOp`: Triton's compiler, at compile time; the model and its inputs do not come into it.

## Evidence it needs
The line of the signal, and the frames below it. Names without lines are the rule.

## What to do
For frames of a compiler: compile again without what the kernel is special in (dtype, block sizes, a newer Triton). Otherwise
look at the first frame that is no handler, allocator or dispatcher, and run with `PYTHONFAULTHANDLER=1` for the Python line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Missing
from aoti_logs.rules.death_facts import death_of, signal_facts, with_faulthandler, with_gdb
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.native_stack import mangled_note, native_facts, native_links, where
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Link
    from aoti_logs.rules.error_case import ErrorCase

_NAMES = {"ucx": "UCX", "glog": "glog", "absl": "Abseil", "folly": "folly", "mpi": "OpenMPI"}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which signal ended the process, and where the thread was."""
    death = death_of(case.error)
    if death is None or death.printer not in _NAMES:
        return None
    facts = signal_facts(death, case.group)
    title = death.signal or death.words or "a signal"
    because = [
        f"the frames are printed by {_NAMES[death.printer]}'s signal handler, which is not why the signal came"
    ]
    if death.address is not None:
        null = ", as of a null pointer or a field of one" if death.null_like else ""
        title += f" at address {death.address}{null}"
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()
    if death.stacks:
        stack = death.stacks[0]
        facts |= native_facts(stack)
        links = native_links(stack, case.evidence)[0]
        notes = mangled_note(stack)
        title += f", {where(stack)}"
        if facts.get("phase") == "compile":
            because.insert(
                0,
                "the frames are those of a compiler: the process died at compile time, before the kernel ran",
            )
    if death.null_like:
        because.append(
            "an address below 4096 is a null pointer, or a field of an object that a null pointer stands for"
        )
    return ErrorTold(
        "AL314",
        f"{death.printer}_backtrace",
        title,
        Confidence.UNKNOWN,
        because=tuple(because),
        links=links,
        facts=facts,
        decide=("run with PYTHONFAULTHANDLER=1 for the Python line, and under gdb for arguments",),
        notes=notes,
        missing=() if death.stacks else (Missing("the frames", "stderr of the process behind this line"),),
        experiments=(with_faulthandler(case.command), with_gdb(case.command, case.error, case.group)),
        doubt="the frames say where the process was, not why",
    )


RULE = Rule("AL314", "signal-handler", __doc__ or "")
