"""The process aborted itself: the heap is corrupted, a stack was smashed, or an assertion of native code failed.

## What it says
What glibc, libstdc++, LLVM or an `assert` found, word by word. Of an assertion it also says file, line and function.

## Why it matters
glibc checks its own lists when memory is allocated or freed. What it finds was done earlier, by other code: the frame
that calls `free` is a victim. Only a tool that watches every access (AddressSanitizer, valgrind) finds who wrote there. An
assertion of native code is different: it names the condition that failed, at the place where it failed.

## Example
`free(): invalid pointer`, `malloc_consolidate(): unaligned fastbin chunk detected`, `*** stack smashing detected ***: terminated`,
`LLVM ERROR: Unsupported rounding mode for conversion.`

## Evidence it needs
That line. Frames below it, of a debugger or a handler, say who noticed.

## What to do
Two versions of a library in one process (two libstdc++, two OpenMP runtimes, a model that was compiled against another
torch) are the commonest source of a corrupted heap at load or at exit: compare them first. Then AddressSanitizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment
from aoti_logs.rules.death_facts import death_of, signal_facts, with_gdb
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.native_stack import native_facts, native_links, where
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.explain import Link
    from aoti_logs.rules.error_case import ErrorCase

_LISTS = "glibc found its own lists damaged; who damaged them wrote there earlier, and is not shown"
_COMPILING = "LLVM ends the process when it cannot go on: a kernel was being compiled, by Triton or whoever else uses LLVM"
_COMPILERS = ("/llvm", "/mlir", "triton", "/LLVM", "/MLIR")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what the process found before it aborted."""
    death = death_of(case.error)
    if death is None or death.printer not in {"glibc", "stdlib", "assert", "llvm"}:
        return None
    facts: dict[str, Any] = {**signal_facts(death, case.group), "message": death.reason}
    links: tuple[Link, ...] = ()
    at = ""
    if death.stacks:
        facts |= native_facts(death.stacks[0])
        links = native_links(death.stacks[0], case.evidence)[0]
        at = f", {where(death.stacks[0])}"
    if death.printer == "llvm":
        return ErrorTold(
            "AL318", "compiler_abort", f"LLVM gave up: {death.reason}", Confidence.PROVEN, because=(_COMPILING,),
            links=links, facts={**facts, "component": "compiler (LLVM/MLIR)", "phase": "compile"},
        )  # fmt: skip
    if death.printer == "assert":
        file, _, line = (death.where or "").partition(": ")[0].rpartition(":")
        facts |= {"condition": death.reason, "file": file, "line": int(line[:9]) if line.isdigit() else None}
        facts["function"] = (death.where or "").partition(": ")[2]
        because = ["the condition is one of the program's own; it failed at this place"]
        if file.rpartition("/")[2] == "malloc.c":
            because = [_LISTS]
        if any(word in file for word in _COMPILERS):
            facts |= {"component": "compiler (LLVM/MLIR)", "phase": "compile"}
            because.append("the file belongs to a compiler: the process died at compile time")
        return ErrorTold(
            "AL318", "native_assert", f"Assertion `{death.reason}' failed at {file}:{line}{at}", Confidence.PROVEN,
            because=tuple(because), links=links, facts=facts,
        )  # fmt: skip
    title = f"the process aborted itself: {death.reason}{at}"
    because = [
        _LISTS
        if death.printer == "glibc" and "smashing" not in (death.reason or "")
        else "the runtime of C or C++ says so, and aborts"
    ]
    return ErrorTold(
        "AL318",
        "heap_corruption"
        if death.printer == "glibc" and "detected ***" not in (death.reason or "")
        else "abort",
        title,
        Confidence.UNKNOWN,
        because=tuple(because),
        links=links,
        facts=facts,
        decide=("which libraries are loaded twice in different versions; then AddressSanitizer or valgrind",),
        experiments=(
            Experiment(
                case.command,
                (("MALLOC_CHECK_", "3"), ("MALLOC_PERTURB_", "165")),
                "run",
                "the process then aborts nearer to the first damage",
                "glibc reads them when the process starts (2.34 and newer: with LD_PRELOAD=libc_malloc_debug.so.0)",
            ),
            with_gdb(case.command, case.error, case.group),
        ),
        doubt="who damaged the memory is not shown",
    )


RULE = Rule("AL318", "self-abort", __doc__ or "")
