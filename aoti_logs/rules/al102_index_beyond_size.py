"""An index was at or beyond a dynamic size.

## What it says
The check compares an index with a size that is measured when the model runs (`ks0`), and a value of
the index was too large: at or beyond the number of rows.

## Why it matters
The kernel reads past the end without the check. The wrong value usually comes from outside the
model: ids of another table, offsets that were not cut, a length that counts more than there is.

## Evidence it needs
The kernel and its launch, so that the size has a name. Proven when the value printer shows the
index tensor's maximum and the size; possible without numbers: the same text is printed for an empty
tensor and for an index that is too negative.

## What to do
Check or clamp the index before the call; compile with
`AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2` to see its extremes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.rule import Rule
from aoti_logs.rules.upper import judge_upper

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.explain import Verdict


def judge(case: IndexCase) -> Verdict | None:
    """Apply to a bound with sizes in it."""
    if case.bound is None or case.bound.value is not None or not case.sites:
        return None
    return judge_upper(case, "AL102")


RULE = Rule("AL102", "index-beyond-size", __doc__ or "", judge)
