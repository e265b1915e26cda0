"""Dynamo met code that it cannot trace.

## What it says
Dynamo raised `Unsupported` (or `UserError`) while it traced a function. The finding quotes what it met, the
line of the user's code, and the hints that torch gives.

## Why it matters
With `fullgraph=True` and in `torch.export` this is an error. Without, Dynamo runs the function, or the part
behind that line, without compiling it: the program goes on, slower.

## Example
`print` in a function that is compiled with `fullgraph=True`.

## Evidence it needs
The metrics of the compile (`fail_type`, `fail_reason`) or the exception in a log. A trace records a graph
break when Dynamo goes on without compiled code; where there is none, the exception was very likely raised,
and the finding is likely, not proven.

## What to do
Change the quoted line, or leave `fullgraph=True` out when the break does no harm. The page that torch links
(`gb0059.html`) has more on this kind of code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.failure import Unsupported
from aoti_logs.rules.failure_case import Reached, Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase

USELESS = ("please report an issue", "this graph break is fundamental", "it may be possible to write dynamo")
"""How hints begin that help nobody who uses torch."""

_BRANCH = "Dynamic control flow is not supported at the moment"
"""How torch before 2.8 says that a branch depends on data; newer ones give a hint."""


def tell(case: FailureCase) -> Told:
    """Say what Dynamo met."""
    failure = case.failure
    detail = failure.detail if isinstance(failure.detail, Unsupported) else None
    skipped = case.reached is Reached.HANDLED
    verb = "was not compiled and ran as plain Python" if skipped else "cannot be traced as one graph"
    hints = [h for h in (detail.hints if detail else ()) if not h.lower().startswith(USELESS)]
    fixes = [*hints]
    # A UserError that names no line of traced code is about what torch was given, not about code.
    given = failure.class_name == "UserError" and case.compile_id is None and not failure.user_frames
    if given:
        verb = "was not traced, because torch refused what it was given"
    if failure.message.startswith(_BRANCH):
        fixes.insert(0, "torch.cond for both branches, or torch.where without a branch")
    # An exception of the user's own code leaves the function uncompiled, too.
    if not (skipped or given) and not failure.message.startswith("Observed exception"):
        fixes.append(
            "leave fullgraph=True (or error_on_graph_break) out, if this part may run uncompiled; torch.export needs "
            "all of it in one graph"
        )
    return Told(
        f"{case.what} {verb}: {failure.message}",
        because=(detail.explanation,) if detail and detail.explanation else (),
        facts={
            "explanation": detail.explanation if detail else None,
            "hints": list(detail.hints) if detail else [],
            "context": detail.context if detail else None,
            "url": detail.url if detail else None,
        },
        fixes=tuple(fixes),
        notes=(f"torch's page on it: {detail.url}",) if detail and detail.url else (),
    )


RULE = Rule("AL602", "dynamo-unsupported", __doc__ or "")
