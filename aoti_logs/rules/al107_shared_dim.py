"""The bound was taken from another tensor that shares a Dim.

## What it says
Two inputs were exported with the same `Dim`, so the code measures the size on one of them and uses
it for both. The failed check (or the missing one) compares the index with the length of the *other*
tensor.

## Why it matters
Nothing tests the equality when the model runs. A shorter or longer partner then makes good indices
fail, or bad ones pass.

## Evidence it needs
The launch and the size definition: the tensor whose size is the bound is not the tensor that is
indexed. Proven when both lengths were printed and differ; possible without numbers.

## What to do
Make the two tensors equally long before the call, or export with a Dim of its own for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import ArgumentKind
from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import extremes, is_aot, main_indexed, print_hint, tensor_name

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase


def judge(case: IndexCase) -> Verdict | None:
    """Apply when the bound measures another input than the one that is indexed."""
    target = main_indexed(case)
    if case.bound is None or len(case.bound.terms) != 1 or target is None or not is_aot(case):
        return None
    term = case.bound.terms[0]
    if (
        term.tensor is None
        or term.tensor.arg == target.tensor.arg
        or target.tensor.kind is not ArgumentKind.INPUT
    ):
        return None
    if case.bound.text != term.param or term.dim is None or term.derived or target.dim is None:
        return None
    names = (
        f"{tensor_name(target.tensor)} is indexed, and the bound is the length of {tensor_name(term.tensor)}"
    )
    own = case.numbers.extent(target.tensor.arg, target.tensor.name, target.dim)
    other = term.known
    fixes = (
        f"make {tensor_name(term.tensor)} and {tensor_name(target.tensor)} equally long before the call",
    )
    if own is not None and other is not None:
        if other.value >= own.value:
            # What is too large for the longer one is too large for the indexed one as well.
            return None
        _, highest = extremes(case)
        good = highest is not None and highest.high < own.value
        return Verdict(
            "AL107",
            f"{names}: {own.value} against {other.value} rows",
            weakest(
                case.strength,
                own.strength,
                other.strength,
                Confidence.PROVEN if good else Confidence.POSSIBLE,
            ),
            (
                f"{own.text} ({own.place})",
                f"{other.text} ({other.place})",
                *((f"{highest.text}, good for {tensor_name(target.tensor)}",) if good and highest else ()),
            ),
            fixes=fixes,
        )
    because = (f"{term.symbol} is measured on {tensor_name(term.tensor)} only, for both of them",)
    decide = (print_hint(f"the shapes of {tensor_name(term.tensor)} and {tensor_name(target.tensor)}"),)
    return Verdict("AL107", names, Confidence.POSSIBLE, because, decide, fixes)


RULE = Rule("AL107", "bound-of-another-tensor", __doc__ or "", judge)
