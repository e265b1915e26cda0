"""Ranks, strides, dtypes or devices of inputs that even the input check does not compare.

## What it says
What a model with input checks still takes for granted, also with `AOTI_RUNTIME_CHECK_INPUTS`: how many dimensions an
input has (before torch 2.13), strides that are sizes of other dimensions, in older releases the type of the device.

## Why it matters
The code walks over memory by the strides it was compiled for. A transposed tensor, or a slice of a larger one, is read at
the wrong places, and the check that was meant to find this passes. A missing rank alone is a note: sizes and constant
strides of the dimensions that the code knows are compared.

## Example
`the strides of `tokens` in dimension 0 are not compared, not even by the input check`

## Evidence it needs
The wrapper of an AOTInductor model that has input checks (see AL711 for one that has none).

## What to do
Pass `.contiguous()` tensors, laid out as those of the export were, and compare rank and strides in the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.sizes.missing_checks import Gap
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.sizes.missing_checks import MissingCheck
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Finding

RULE = Rule("AL715", "layout-on-trust", __doc__ or "")

_WORDS = {
    Gap.DTYPE: "the dtype",
    Gap.DEVICE: "the device",
    Gap.STRIDE: "the strides",
    Gap.SIZE: "the size",
    Gap.RANK: "the number of dimensions",
}


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of what comparisons leave out."""
    view = case.aot
    if view is None:
        return
    read = {(s.tensor, s.dim) for s in view.wrapper.sizes if s.stride}
    found: dict[Gap, list[MissingCheck]] = {}
    for gap in view.missing_checks:
        if gap.gap not in _WORDS or gap.input is None:
            continue
        if gap.gap is Gap.STRIDE and (gap.input.name, gap.dim) in read:
            continue  # the code takes the stride that the tensor has
        found.setdefault(gap.gap, []).append(gap)
    ranks = found.pop(Gap.RANK, [])
    if found:
        yield _told(case, view, found, warning=True)
    if ranks:
        yield _told(case, view, {Gap.RANK: ranks}, warning=False)


def _told(
    case: ModelCase, view: ModelView, found: dict[Gap, list[MissingCheck]], *, warning: bool
) -> Finding:
    confidence, doubt = case.absent
    parts = [
        f"{_WORDS[gap]} of {listed(dict.fromkeys(_whose(case, m) for m in ms))}" for gap, ms in found.items()
    ]
    plural = len(parts) > 1 or Gap.STRIDE in found
    title = f"{listed(parts)} {'are' if plural else 'is'} not compared, not even by the input check"
    every = [m for ms in found.values() for m in ms]
    because = []
    if Gap.STRIDE in found:
        because.append("a transposed tensor or a slice is read at the wrong places, without a text")
    if Gap.DTYPE in found or Gap.SIZE in found:
        because.append("the bytes are read as the type and size that the model was compiled for")
    if Gap.DEVICE in found:
        because.append(
            "a tensor on another device is an illegal address: the process dies, or a kernel fails"
        )
    if Gap.RANK in found:
        because.append(
            "a tensor with more dimensions passes when those that the code knows fit; one with fewer is read past its sizes"
        )
    lines = dict.fromkeys(m.line for m in every)
    return case.finding(
        "AL715",
        "layout_on_trust",
        title,
        warning=warning,
        confidence=confidence,
        facts={
            "not_compared": {
                str(gap): [
                    {"input": m.input.name, "dim": m.dim} if m.dim is not None else {"input": m.input.name}
                    for m in ms
                    if m.input is not None
                ]
                for gap, ms in found.items()
            }
        },
        links=[
            case.link("input" if view.wrapper.inputs else "size", line) for line in list(lines)[:MOST_LINKS]
        ],
        because=because,
        fixes=(
            "pass contiguous tensors laid out as those of the export, and compare rank, strides and device in the caller",
        ),
        doubt=doubt,
    )


def _whose(case: ModelCase, gap: MissingCheck) -> str:
    name = case.called(gap.input) if gap.input is not None else ""
    return name if gap.dim is None else f"{name} in dimension {gap.dim}"
