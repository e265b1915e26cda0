"""A compile failed, and no other rule knows its kind.

## What it says
`compilation_metrics` name an exception (`fail_type`), or a log holds an exception that only a compile
raises. Its type, its text and the function that was compiled are quoted; no cause is named.

## Why it matters
Every other rule of this group says what to change. This one only says where to look: an exception inside
of torch is often a bug of torch, and its text is what to search for.

## Example
`InternalTorchDynamoError: AttributeError: 'NoneType' object has no attribute 'size'`

## Evidence it needs
A trace with the metrics of the compile, or the exception in a log. The user's line is known where torch
noted it.

## What to do
Run the function without `torch.compile`. If that works, search pytorch's issues for the text, and report it
with the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase


def tell(case: FailureCase) -> Told:
    """Say what failed."""
    failure = case.failure
    name = failure.inner_names[-1] if failure.inner else failure.class_name
    said = f"{name}: {failure.message}" if name and failure.message else name or failure.message or "no text"
    return Told(
        f"the compile of {case.what} failed: {said}",
        decide=(
            "run it without torch.compile: if that works, compiling it is at fault (torch, or a backend of your own)",
        ),
    )


RULE = Rule("AL601", "compile-failed", __doc__ or "")
