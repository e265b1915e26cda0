"""AddressSanitizer, or one of its relatives, reports an access that is wrong.

## What it says
The kind of error, the access (read or write, size, address), which memory it missed and by how much, and the function that
made the access. It quotes where that memory was allocated and, after a use-after-free, where it was freed.

## Why it matters
This is the strongest evidence of a memory error there is: the access is proven, and it is the first one, not a later victim.
Where the index or the size came from is another question: a report that ends in a model's kernel often means an input
that does not fit what the model was compiled for.

## Example
`==14851==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000024`, `READ of size 4`,
`0x602000000024 is located 4 bytes to the right of 16-byte region`: one element beyond the end was read past.

## Evidence it needs
The report, or a part of it: with the region line alone it tells which memory was missed, and that the access is unknown.
ThreadSanitizer and UndefinedBehaviorSanitizer let the program go on; their reports are notes beside what failed.
LeakSanitizer reports at the end of a process, which is no failure of a model.

## What to do
Look at the first frame that is yours, and at the size of the region. Build with `-fsanitize=address -g`, and with
`ASAN_OPTIONS=detect_leaks=0` where leaks of Python hide the rest. `LD_PRELOAD=$(gcc -print-file-name=libasan.so)` is needed where
the program itself (python) was not built so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.errors.memory_report import MemoryReport
from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.stacks.frame_name import frame_name, meaningful
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.native_stack import native_facts, native_links
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.stack_facts import frame_facts, frame_list, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import Stack
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.log_notes import LogCase

_BEYOND = ("to the right of", "after")
_BEFORE = ("to the left of", "before")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what was accessed, by which function, and which memory it missed."""
    report = case.error.detail
    if case.error.form is not ErrorForm.MEMORY_REPORT or not isinstance(report, MemoryReport):
        return None
    access = next((s for s in report.stacks if s.role == "access"), None)
    torn = access is not None and access.frames[0].number > 0 and not meaningful(access.frames)
    # What is left of such a stack are frames of the interpreter, which every call has.
    links = native_links(access, case.evidence)[0] if access is not None and not torn else ()
    lost = f" and its innermost {access.frames[0].number} frames" if access is not None and torn else ""
    return ErrorTold(
        "AL313",
        report.tool,
        _title(report, access),
        Confidence.PROVEN if report.whole else Confidence.UNKNOWN,
        because=_because(report),
        links=(*links, *_memory_links(report)),
        facts=report_facts(report),
        decide=("where the index, the size or the pointer of that access comes from",),
        missing=()
        if report.whole
        else (
            Missing(
                f"the first lines of the report: kind of error, access, process{lost}",
                "stderr of the process",
            ),
        ),
    )


def _title(report: MemoryReport, access: Stack | None) -> str:
    function = None
    if access is not None:
        first = next(iter(meaningful(access.frames)), None)
        function = frame_name(first) if first is not None else None
    if report.tool == "lsan":
        size = f"{report.leaked} bytes leaked" if report.leaked is not None else "memory leaked"
        return f"LeakSanitizer: {size}"
    parts = [report.error or f"a report of {report.tool}"]
    if report.access:
        size = f" of {report.access_size} bytes" if report.access_size is not None else ""
        parts.append(f"{report.access.upper()}{size}")
    if report.region is not None:
        parts.append(f"{report.region.position} {_region(report)}")
    title = ", ".join(parts)
    return f"{title}, in `{function}`" if function else title


def _region(report: MemoryReport) -> str:
    region = report.region
    if region is None:
        return ""
    if region.variable is not None:
        return f"the global variable '{region.variable}' of {region.size} bytes"
    return f"a region of {region.size} bytes"


def _because(report: MemoryReport) -> tuple[str, ...]:
    said = []
    if report.region is not None and report.region.position.endswith(_BEYOND):
        verb = {"READ": "read", "WRITE": "written"}.get((report.access or "").upper(), "accessed")
        said.append(f"memory past the end of {_region(report)} is {verb}: out of bounds")
    elif report.region is not None and report.region.position.endswith(_BEFORE):
        said.append(f"memory before the beginning of {_region(report)} is accessed: out of bounds")
    if report.freed_by is not None:
        said.append(f"that memory was freed before, by {report.freed_by}")
    if report.hint:
        said.append(f"the sanitizer adds: {report.hint}")
    return tuple(said)


def _memory_links(report: MemoryReport) -> Iterator[Link]:
    for stack in report.stacks:
        if stack.role in {"allocated", "freed", "created", "previous", "leaked"}:
            first = next(iter(meaningful(stack.frames)), stack.frames[0])
            yield Link(stack.role, shown(first), first.span.place)


def report_facts(report: MemoryReport) -> dict[str, Any]:
    """Return a report as plain values."""
    stacks = report.stacks
    facts: dict[str, Any] = {
        "pid": report.pid,
        "error": report.error,
        "access": report.access,
        "access_size": report.access_size,
        "access_address": report.access_address,
        "thread": report.thread,
        "allocated_by": report.allocated_by,
        "freed_by": report.freed_by,
        "leaked": report.leaked,
        "hint": report.hint,
        "summary": report.summary,
        "n_stacks": len(stacks),
    }
    if report.region is not None:
        region = report.region
        facts["region"] = {
            "position": region.position,
            "size": region.size,
            "start": region.start,
            "end": region.end,
            "variable": region.variable,
        }
    if stacks:
        facts |= {k: v for k, v in native_facts(stacks[0]).items() if k != "frame_numbers"}
        facts["n_frames_first"] = len(stacks[0].frames)
        facts["frame_numbers_first"] = [f.number for f in stacks[0].frames]
        facts["same_address_frames"] = _same_address(stacks[0])
    if len(stacks) > 1:
        facts["n_frames_second"] = len(stacks[1].frames)
    for role in ("allocated", "freed"):
        stack = next((s for s in stacks if s.role == role), None)
        if stack is not None:
            facts[f"{role}_frames"] = frame_list(stack)
            facts[f"{'alloc' if role == 'allocated' else 'free'}_frame0"] = frame_facts(
                stack.frames[0], stack.format
            )
    return {k: v for k, v in facts.items() if v is not None}


def _same_address(stack: Stack) -> list[int] | None:
    """Return the frames that share the innermost frame's address: they are inlined into each other."""
    first = stack.frames[0].address
    same = []
    for frame in stack.frames:
        if first is None or frame.address != first:
            break
        same.append(frame.number)
    return same if len(same) > 1 else None


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Tell of reports after which the program went on."""
    told: set[str] = set()
    for error in case.events.errors:
        report = error.detail
        if error.form is not ErrorForm.WARNING or not isinstance(report, MemoryReport):
            continue
        title = _title(report, next((s for s in report.stacks if s.role == "access"), None))
        if title in told:
            continue
        told.add(title)
        yield Finding(
            rule="AL313",
            kind=report.tool,
            role="note",
            severity="warning",
            confidence=Confidence.PROVEN,
            title=f"{report.tool}: {title}",
            facts=report_facts(report),
            rank=error.rank if error.rank is not None else case.source.rank,
            log=case.source.name,
            chain=(Link("report", error.message, error.span.place), *_memory_links(report)),
            verdicts=(
                Verdict("AL313", title, Confidence.PROVEN, ("the program goes on after such a report",)),
            ),
        )


RULE = Rule("AL313", "memory-report", __doc__ or "")
