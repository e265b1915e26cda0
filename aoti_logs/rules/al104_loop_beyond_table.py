"""A position ran past the end of a table.

## What it says
The checked index is not read from memory; it is the kernel's own loop variable (`y0 < 256`). It runs
over a size of this run, so that size was larger than the table is long. Position embeddings with
`arange(seq_len)` are the usual case.

## Why it matters
The failed check itself proves the size: a loop variable reaches 256 only when the loop is longer
than 256. No further numbers are needed.

## Evidence it needs
The kernel, for the slice that ends in a loop variable, and the launch, for the size behind it.
Without the launch it still says that a loop is longer than the table, but not which size that is.

## What to do
Keep the sequence within the table, truncate it before the call, or build the model with a longer
table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import indexed_name, main_index, rows_name

if TYPE_CHECKING:
    from aoti_logs.code.case import IndexCase


def judge(case: IndexCase) -> Verdict | None:
    """Apply when the operand is a loop variable."""
    source = main_index(case)
    if source is None or source.loop is None or case.slice is None or case.bound is None:
        return None
    plain = str(case.slice.value) == source.loop or case.slice.operand == source.loop
    terms = source.extent_terms
    exact = (
        plain
        and len(terms) == 1
        and str(source.extent) == terms[0].param
        and terms[0].symbol == terms[0].argument.text.strip()
    )
    site = case.site
    strength = site.strength if site is not None else Confidence.UNKNOWN
    if exact and not case.slice.unread_lines:
        size = terms[0].shown
        return Verdict(
            "AL104",
            f"`{size}` is larger than the {rows_name(case)}",
            weakest(strength, case.strength),
            (
                f"`{source.loop}` runs from 0 below {terms[0].symbol} = `{size}`: it fails only above {case.bound.text}",
            ),
            fixes=(f"keep `{size}` at {case.bound.text} or less, or make {indexed_name(case)} longer",),
        )
    because = [f"the checked value `{case.slice.value}` is computed from loop variables and sizes only"]
    decide = ["print the shapes of the model's inputs before the call"]
    return Verdict(
        "AL104",
        f"a loop runs past the {rows_name(case)}",
        weakest(strength, Confidence.POSSIBLE),
        tuple(because),
        tuple(decide),
    )


RULE = Rule("AL104", "loop-beyond-table", __doc__ or "", judge)
