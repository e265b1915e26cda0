"""A debugger stopped a process at a signal, and shows its native frames.

## What it says
The signal, the thread, and where that thread was: in the compiled model's own code, in AOTInductor's runtime while it loads
or runs a model, in a compiler, in a library. With the generated code at hand it quotes the line that the model's frame
stands at. What cuda-gdb says of a kernel is AL301.

## Why it matters
A backtrace says where, not why: a null pointer was made somewhere else. Frames of allocators, of the dispatcher, of
the Python interpreter and of libc are left out (`parse/stacks/machinery.py` says why each), what is left is the signature, which is
the same for the same way to the same place.

## Example
`Thread 1 "python" received signal SIGSEGV, Segmentation fault.`, `#1 0x00007ffff7463608 in string_at (size=-1, ptr=0x0)`.

## Evidence it needs
The output of gdb or lldb with `bt`. Arguments (`ptr=0x0`) are only shown where there is debug information.

## What to do
Go up from frame 0 to the first frame that means something, and look at its arguments. For a SIGABRT the reason is printed
before it: `terminate called`, `Assertion failed`, `free(): invalid pointer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link
from aoti_logs.parse.stacks.frame_name import frame_name, is_model
from aoti_logs.rules.component import aoti_phase
from aoti_logs.rules.death_facts import death_of, signal_facts
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.model_suspicions import suspicions
from aoti_logs.rules.native_stack import mangled_note, native_facts, native_links, null_argument, where
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_KINDS = {"gdb": "gdb_backtrace", "lldb": "lldb_backtrace"}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say where the process was stopped."""
    death = death_of(case.error)
    if death is None or death.printer not in _KINDS:
        return None
    facts = {**signal_facts(death, case.group)}
    links: tuple[Link, ...] = ()
    title = f"{death.signal} ({death.words})"
    because: list[str] = []
    notes: tuple[str, ...] = ()
    if death.stacks:
        stack = death.stacks[0]
        others = [s for s in case.events.stacks if s.format == stack.format]
        facts |= native_facts(stack)
        facts |= {"n_traces": len(others), "n_threads": len({s.thread for s in others if s.thread}) or 1}
        links, check = native_links(stack, case.evidence)
        title += f" {where(stack)}"
        if check is not None:
            facts["assertion"] = check
        null = null_argument(stack.frames)
        if null is not None and death.signal in {"SIGSEGV", "SIGBUS"}:
            facts["null_pointer_like"] = True
            because.append(f"`{null[0]}` is a null pointer in frame {null[1].number}")
        notes = mangled_note(stack)
        model = next((f for f in stack.frames if f.symbol and is_model(f)), None)
        if model is not None and death.signal in {"SIGSEGV", "SIGBUS"}:
            facts["kernel"] = frame_name(model)
            found = suspicions(case, aoti=aoti_phase(stack.frames) is not None)
            facts["package_device"] = found.device
            links += found.links
            because += found.because
    because.append("frames say where the process was, not why")
    return ErrorTold(
        "AL312",
        _KINDS[death.printer],
        title,
        Confidence.UNKNOWN,
        because=tuple(because),
        links=links,
        facts=facts,
        decide=("the arguments of the first frame that means something (`frame N`, `info args`)",),
        notes=notes,
        doubt="the frames say where the process was, not why",
    )


RULE = Rule("AL312", "debugger-backtrace", __doc__ or "")
