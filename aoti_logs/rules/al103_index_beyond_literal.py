"""An index was at or beyond a length that is fixed in the code.

## What it says
The check compares an index with a number (`0 <= tmp4 < 1000`). The number is the length of what is
indexed, very often a weight: `emb.weight` has 1000 rows, and an id was 1000 or more.

## Why it matters
This is the classic vocabulary mismatch: ids from a newer tokenizer or feature map than the model, a
padding id outside the table, or ids of another table.

## Evidence it needs
The kernel, to know what is indexed, and the constants of the wrapper, to know what has that many
rows. Proven when the value printer shows the maximum; possible without numbers, because a negative
index and int32 ids read as int64 (AL106) print the same text.

## What to do
Compare the largest id with the number of rows before the call; rebuild the table or map unknown ids
to a known one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.rule import Rule
from aoti_logs.rules.upper import judge_upper
from aoti_logs.rules.wording import main_index

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.explain import Verdict


def judge(case: IndexCase) -> Verdict | None:
    """Apply to a literal bound on an index that is read from memory."""
    if case.bound is None or case.bound.value is None or not case.sites:
        return None
    source = main_index(case)
    if source is not None and source.loop is not None:
        return None
    return judge_upper(case, "AL103")


RULE = Rule("AL103", "index-beyond-literal", __doc__ or "", judge)
