"""An index was negative, below what the kernel accepts.

## What it says
`tensor[index]` accepts indices from -n on: the kernel adds the size to a negative index before it
checks. `nn.Embedding` in torch 2.13 adds nothing, so there -1 fails already. The kernel's own
text tells which of the two it is.

## Why it matters
-1 as a padding id works in one of the two forms and not in the other, and it may stop working with
a new release: torch 2.4 to 2.9 wrap the ids of an embedding, 2.13 does not.

## Evidence it needs
The kernel, for the wrap-around in the slice of the operand. Proven when the value printer shows the
minimum; possible without; excluded when the check tests the upper side only, or when the kernel's
own arithmetic keeps the index from being negative as long as there is a row at all.

## What to do
Mask or replace the negative values before the call (a padding row, `clamp(min=0)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import (
    extremes,
    index_name,
    lowest_allowed,
    main_index,
    never_negative,
    print_hint,
    printable,
    rows_name,
    tensor_name,
)

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase


def judge(case: IndexCase) -> Verdict | None:
    """Apply when the check has a lower side and the index is read from memory."""
    text = case.assertion.text
    source = main_index(case)
    if not case.sites or text is None or text.lower is None or case.slice is None:
        return None
    if source is None or source.loop is not None:
        return None
    lowest, _ = extremes(case)
    allowed = lowest_allowed(case)
    limit = _limit(case)
    wrap = (
        "the kernel adds nothing to a negative index"
        if case.slice.wraps is None
        else f"the kernel adds {case.slice.wraps} to a negative index before it checks"
    )
    fixes = ("replace negative indices before the call",)
    if lowest is not None and allowed is not None and lowest.low >= allowed:
        return None
    if lowest is not None and allowed is not None and lowest.high < allowed and source.covers:
        name = tensor_name(source.tensor) if source.tensor else "the index"
        return Verdict(
            "AL105",
            f"{name} has a minimum of {lowest.shown}, and the lowest index allowed is {allowed}",
            weakest(lowest.strength, case.strength),
            (f"{lowest.text} ({lowest.place})", wrap),
            fixes=fixes,
        )
    if lowest is not None and lowest.low >= 0:
        return None
    if (case.bound is not None and case.bound.known == 0) or never_negative(case):
        return None
    only = text.bound is None
    title = f"{index_name(case)} {'is' if only else 'may be'} below {limit}"
    strength = weakest(case.strength, case.site.strength if case.site else Confidence.UNKNOWN)
    decide = () if only else (print_hint(f"the smallest value of {printable(case)}"),)
    return Verdict("AL105", title, strength if only else Confidence.POSSIBLE, (wrap,), decide, fixes)


def _limit(case: IndexCase) -> str:
    if case.slice is None or case.slice.wraps is None:
        return "0"
    if case.bound is not None and case.bound.value is not None:
        return f"-{case.bound.value}"
    return f"minus {rows_name(case)}"


RULE = Rule("AL105", "negative-index", __doc__ or "", judge)
