"""A size that must be a multiple of a number is divided by it, and the rest is dropped.

## What it says
Which dimension the code takes to be `2*s44` although nothing tests that it is even: the code divides what the tensor has
and goes on with the quotient.

## Why it matters
A size that is no multiple leaves elements out of the result, or shifts rows against each other, without a text. Eager,
and the guard of the export, refuse it.

## Example
`dimension 0 of `pairs` is taken to be 2*s44, and nothing tests that it is a multiple of 2`

## Evidence it needs
The wrapper of an AOTInductor model. torch 2.13 compares the size where a kernel reads the input, if
`AOTI_RUNTIME_CHECK_INPUTS` is set; then nothing is said.

## What to do
Test the size in the caller, or pad the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.sizes.evidence import Enforced
from aoti_logs.code.sizes.missing_checks import Gap
from aoti_logs.rules.model_case import ModelCase
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.sizes.missing_checks import MissingCheck
    from aoti_logs.explain import Finding

RULE = Rule("AL718", "divided-size-unchecked", __doc__ or "")


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of each size whose rest is dropped."""
    view = case.aot
    if view is None:
        return
    for gap in view.missing_checks:
        if gap.gap is Gap.DIVISIBLE and gap.input is not None:
            yield _told(case, gap)


def _told(case: ModelCase, gap: MissingCheck) -> Finding:
    confidence, doubt = case.absent
    factor = (gap.expected or "").partition("*")[0]
    whose = f"dimension {gap.dim} of {case.called(gap.input)}" if gap.input is not None else "a size"
    links = [case.link("size", gap.line)]
    size = None if case.view is None else case.view.sizes.get(gap.symbol or "")
    if size is not None:
        links.append(case.link("divided", size.line, size.text))
    return case.finding(
        "AL718",
        "size_not_divisible",
        f"{whose} is taken to be {gap.expected}, and nothing tests that it is a multiple of {factor}",
        warning=True,
        confidence=confidence,
        facts={
            "input": None if gap.input is None else gap.input.name,
            "dim": gap.dim,
            "extent": gap.expected,
            "enforced": str(Enforced.NEVER),
        },
        links=links,
        because=("the rest of the division is dropped: elements are left out, without a text",),
        fixes=("test the size in the caller before the call, or pad the input",),
        doubt=doubt,
    )
