"""An operator has no fake kernel, or a wrong one, so that it cannot be traced.

## What it says
A custom operator was called while tracing, and nothing tells the shape and dtype of its result. The finding
names the operator. `draft_export` goes on in such a case and records it; that is a note, and so is a fake
kernel that contradicts the real one.

## Why it matters
Tracing has no data: it needs a second implementation of the operator that computes shapes only.

## Example
`torch._subclasses.fake_tensor.UnsupportedOperatorException: mylib.foo.default`

## Evidence it needs
The exception (in a trace or in a log), or `missing_fake_kernel` and `mismatched_fake_kernel` of a draft
export.

## What to do
Register one: `@torch.library.register_fake("mylib::foo")`. If the operator has one, the module that holds it
was not imported in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.rules.failure_case import FailureCase


def tell(case: FailureCase) -> Told:
    """Name the operator."""
    operator = case.failure.operator or "?"
    of = f", which {case.what} calls" if case.function is not None else ""
    return Told(
        f"operator `{operator}`{of}, has no fake kernel"
        if of
        else f"operator `{operator}` has no fake kernel",
        links=tuple(_said(case)),
        facts={"op": operator},
        fixes=(register(operator), "or import the module that registers it before compiling"),
    )


def _said(case: FailureCase) -> Iterator[Link]:
    """Quote the line that tells of the kernel, where the exception begins with another one."""
    if "fake impl" in case.failure.message:
        return
    for row, line in enumerate(case.failure.text.split("\n")[:40]):
        at = line.find("There was no fake impl")
        if at >= 0:
            yield Link("operator", line[at:].split(". ")[0], case.place_of(row))
            return


def register(operator: str) -> str:
    """Say how a fake kernel is registered."""
    parts = operator.split(".")
    name = f"{parts[0]}::{parts[1]}" if len(parts) > 1 else operator
    return (
        f'register one: @torch.library.register_fake("{name}"), returning an empty tensor of the right shape'
    )


RULE = Rule("AL605", "no-fake-kernel", __doc__ or "")
