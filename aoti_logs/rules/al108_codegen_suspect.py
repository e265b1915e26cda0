"""The check itself may be wrong: a suspect in the compiler.

## What it says
The evidence speaks against the data: the printed values of the index all lie inside the bound, or
the check allows fewer rows than the indexed tensor has (`0 <= tmp4 < (-1) + ks0` before a tensor of
`ks0` rows). For a slice such as `table[:-1]` that is right; where the model has no slice, a legal last
row is refused.

## Why it matters
Value-range analysis in the compiler has had such bugs (pytorch issue 186536). Searching the data is
then in vain.

## Evidence it needs
The kernel and the launch for the rows of the indexed tensor, or the value printer for the index.
It never says more than possible: the printer may show another call than the one that failed.

## What to do
Compare with eager mode on the same inputs. If eager accepts them, report the kernel's text and the
shapes upstream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.expr import Num, Op, evaluate
from aoti_logs.explain import Confidence, Verdict
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import extremes, index_name, indexed_name, lowest_allowed, main_indexed

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase


def judge(case: IndexCase) -> Verdict | None:
    """Apply when numbers or the code's own sizes speak against the check."""
    if not case.sites or case.bound is None:
        return None
    decide = ("run the same inputs in eager mode: if it accepts them, the check is wrong",)
    lowest, highest = extremes(case)
    size, allowed = case.bound.known, lowest_allowed(case)
    if (
        lowest is not None
        and highest is not None
        and size is not None
        and allowed is not None
        and allowed <= lowest.low
        and highest.high < size
    ):
        because = (f"{lowest.text} ({lowest.place})", f"{highest.text}", f"the bound is {size}")
        title = f"every printed value of {index_name(case)} is inside the bound, and the check failed"
        return Verdict("AL108", title, Confidence.POSSIBLE, because, decide)
    shorter = _shorter_than_rows(case)
    if shorter is not None:
        title = (
            f"the check allows fewer rows than {indexed_name(case)} has: right for a slice of it, else wrong"
        )
        return Verdict("AL108", title, Confidence.POSSIBLE, (shorter,), decide)
    return None


def _shorter_than_rows(case: IndexCase) -> str | None:
    """Compare a bound such as `(-1) + ks0` with the rows of the indexed tensor, when these are `ks0`."""
    target = main_indexed(case)
    if case.bound is None or len(case.bound.terms) != 1 or target is None or target.rows is None:
        return None
    term, expr = case.bound.terms[0], case.bound.expr
    if target.rows != term.symbol or not isinstance(expr, Op) or expr.op not in {"+", "-"}:
        return None
    if not any(isinstance(a, Num) for a in expr.args):
        return None
    gap = evaluate(expr, {term.param: 1000})
    if gap is None or gap >= 1000:
        return None
    return f"the bound is {case.bound.text}, and {indexed_name(case)} has {term.param} rows"


RULE = Rule("AL108", "codegen-suspect", __doc__ or "", judge)
