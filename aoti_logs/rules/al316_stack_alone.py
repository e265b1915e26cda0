"""A native stack stands in the log without the error that it belongs to.

## What it says
Where the thread was: the frames that mean something, the model's own among them, the signature, and the part of the stack
that they are in. No error is named, because none is printed.

## Why it matters
Excerpts begin in the middle, and stderr and stdout part. A stack alone proves a place, and nothing about what happened
there: a process that waits has stacks too.

## Example
Frames of `c10d::ProcessGroupNCCL::WorkNCCL::isCompleted` without the text above them: the watchdog of NCCL, which reports the
error of an earlier kernel.

## Evidence it needs
Two frames or more. With the generated code at hand the line of the model's frame is quoted; a bounds check on that line is
named, since an exception that is thrown there is that check.

## What to do
Keep the lines above the first frame: `Exception raised from ...` and the message before it.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.stacks.frame_name import frame_name, signature
from aoti_logs.rules.component import component_of
from aoti_logs.rules.native_stack import mangled_note, native_facts, native_links, where
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.stack_facts import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import Frame, Stack
    from aoti_logs.rules.log_notes import LogCase

_KINDS = {"c10": "c10_stack", "captured_traceback": "c10_stack", "windows": "c10_stack"}
_THROWN = re.compile(r"(?:^|::)__cxa_throw$|torchCheckFail$|^aoti_torch_check$")
_CHECKS = {
    "c10::cuda::c10_cuda_check_implementation": "CUDA",
    "c10::hip::c10_hip_check_implementation": "HIP",
}
"""Functions that throw where a call of a runtime returned an error or a device assertion was recorded: whose."""
_NO_ERROR = "lines that name an error, if there was one, are not in this log"
_NOT_BESIDE = "no error stands right above it: which one it belongs to, if to any in this log, is not known"
_MOST = 3
_FEWEST = 2  # frames


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Tell of the stacks that no error, report or thread of one has, equal ones once."""
    stacks = case.events.stacks
    if not stacks:
        return
    stopped = {s.format for s in stacks if s.signal is not None}
    counts = Counter(s.format for s in stacks)
    told: set[str | None] = set()
    for stack in _alone(case):
        if len(stack.frames) < _FEWEST or (stack.format in {"gdb", "lldb"} and stack.format in stopped):
            continue  # the other threads of a process that a debugger stopped
        own = signature(stack)
        if own not in told:
            told.add(own)
            yield _finding(case, stack, counts[stack.format])
        if len(told) == _MOST:
            return


def _alone(case: LogCase) -> Iterator[Stack]:
    """Yield the stacks that do not stand within an error."""
    spans = sorted((e.span.start, e.span.end) for e in case.events.errors)
    ends = list(accumulate((end for _, end in spans), max))
    for stack in case.events.stacks:
        at = bisect.bisect_right(spans, (stack.span.start, 1 << 62))
        if not at or ends[at - 1] < stack.span.end:
            yield stack


def _finding(case: LogCase, stack: Stack, count: int) -> Finding:
    facts: dict[str, Any] = {**native_facts(stack), "n_traces": count}
    links, check = native_links(stack, case.evidence)
    thrown = any(_THROWN.search(str(f.get("symbol") or "").partition("(")[0]) for f in facts["frames"][:4])
    title = f"a native stack without an error, {where(stack)}"
    because = [_NO_ERROR if not case.events.errors else _NOT_BESIDE]
    if thrown:
        title = f"an exception is thrown {where(stack)}; its text is not in this log"
        checked = _checked(stack)
        if checked is not None:
            frame, what = checked
            title = f"an error of {what} is thrown {where(stack)}; its text is not in this log"
            because.append(
                f"`{frame_name(frame)}` throws where a call of {what} returned an error or a device assertion was recorded"
            )
            place = frame.span.place
            at = next((n for n, k in enumerate(links) if k.place and k.place.line > place.line), len(links))
            links = (*links[:at], Link("frame", shown(frame), place), *links[at:])
    if check is not None and thrown:
        facts["assertion"] = check
        because.append(f"the line of the model's frame holds a bounds check: index out of bounds: {check}")
    component = component_of(stack.frames)
    if component is not None and component.what.startswith("NCCL"):
        because.append(
            "the watchdog of NCCL reports the error of an earlier kernel or collective; it is not what failed"
        )
    return Finding(
        rule="AL316",
        kind=_KINDS.get(stack.format, f"{stack.format}_backtrace"),
        role="note",
        severity="warning",
        confidence=Confidence.UNKNOWN,
        title=title,
        facts=facts,
        rank=case.source.rank,
        log=case.source.name,
        chain=links,
        missing=(Missing("the error that the stack belongs to", "the lines above its first frame"),),
        verdicts=(Verdict("AL316", title, Confidence.UNKNOWN, tuple(because)),),
        notes=mangled_note(stack),
        doubt="a stack says where a thread was, not why",
    )


def _checked(stack: Stack) -> tuple[Frame, str] | None:
    """Return the frame that threw because a call of a runtime had returned an error, and whose runtime that is."""
    for frame in stack.frames[:4]:
        what = _CHECKS.get((frame.symbol or "").partition("(")[0])
        if what is not None:
            return frame, what
    return None


RULE = Rule("AL316", "stack-alone", __doc__ or "")
