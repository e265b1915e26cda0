"""A position ran past the end of a table.

## What it says
The checked index is not read from memory; it is the kernel's own loop variable (`y0 < 256`), or
computed from it. It runs over a size of this run, so that size was larger than the table is long.
Position embeddings with `arange(seq_len)` are the usual case.

## Why it matters
The failed check itself proves the size: a loop variable reaches 256 only when the loop is longer
than 256. No further numbers are needed.

## Evidence it needs
The kernel, for the slice that ends in a loop variable, and the launch, for the size behind it.
Proven when the loop variable itself is checked, for every round of the loop. When it is computed
from a loop variable (`40 + x0`), or checked under a condition, the sizes are named and the arithmetic
is left to you. Without the launch it says that a loop is longer than the table, but not which size
that is.

## What to do
Keep the sequence within the table, truncate it before the call, or build the model with a longer
table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.kernel.slice import is_plain_mask
from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import index_name, indexed_name, main_index, rows_name

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.case_parts import BoundTerm


def judge(case: IndexCase) -> Verdict | None:
    """Apply when the operand is a loop variable, or computed from loop variables only."""
    source = main_index(case)
    if source is None or source.loop is None or case.slice is None or case.bound is None:
        return None
    term = loop_size(case)
    if term is not None:
        size, literal = term.shown, case.bound.value
        limit = literal if literal is not None else rows_name(case)
        return Verdict(
            "AL104",
            f"`{size}` is larger than {_the(case)}",
            case.strength,
            (f"`{source.loop}` runs from 0 below {term.symbol} = `{size}`: it fails only above {limit}",),
            fixes=(f"keep `{size}` at {limit} or less, or make {indexed_name(case)} longer",),
        )
    sizes = list(dict.fromkeys(t.shown for i in case.index for t in i.extent_terms))
    because = [f"the checked value `{case.slice.value}` is computed from loop variables and sizes only"]
    if not is_plain_mask(case.slice.check.mask):
        because.append(f"it is checked under a condition, `{case.slice.check.mask}`")
    because += [f"a loop runs over `{size}`" for size in sizes]
    what = ", ".join(f"`{s}`" for s in sizes) or "the sizes of the inputs"
    return Verdict(
        "AL104",
        f"{index_name(case)} may run past {_the(case)}",
        weakest(case.strength, Confidence.POSSIBLE),
        tuple(because),
        (f"print {what} before the call",),
    )


def _the(case: IndexCase) -> str:
    literal = case.bound is not None and case.bound.value is not None
    return f"the {rows_name(case)}" if literal else rows_name(case)


def loop_size(case: IndexCase) -> BoundTerm | None:
    """Return the size that the failed check proves to be too large.

    Only when the loop variable itself is checked in every round, from 0 below one size that the
    launch gives as it is.
    """
    source = main_index(case)
    if source is None or source.loop is None or case.slice is None or case.slice.unread_lines:
        return None
    plain = str(case.slice.value) == source.loop or case.slice.operand == source.loop
    if not plain or len(case.index) > 1 or not is_plain_mask(case.slice.check.mask):
        return None
    terms = source.extent_terms
    if len(terms) != 1 or str(source.extent) != terms[0].param or terms[0].symbol is None:
        return None
    return terms[0] if terms[0].argument.text.strip() == terms[0].symbol else None


RULE = Rule("AL104", "loop-beyond-table", __doc__ or "", judge)
