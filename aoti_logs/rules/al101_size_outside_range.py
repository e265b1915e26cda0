"""A size was outside the range that the code was compiled for: empty, too small, or too large.

## What it says
The bound of the failed check is a size of an input, or the kernel walks over a size, and that size
was outside the compiled range in this run. An empty tensor is the usual case: a dynamic dimension
is compiled for two or more by default, so `tensor[index]` with 0 rows fails for every index.

## Why it matters
AOTInductor does not test the range when the model runs (unless `AOTI_RUNTIME_CHECK_INPUTS` is set
in torch 2.7 and newer, or the code was compiled with `AOT_INDUCTOR_DEBUG_COMPILE=1` before), so the
failure shows in a kernel far from the call. torch.compile guards its sizes; there this rule applies
only when a printed size proves it.

## Evidence it needs
The wrapper (size definition, `check_input_N`) or a `create_symbol` record for the range. The size of
this run: the value printer, shapes that the caller printed, or the arithmetic of the failed check
itself. Proven with a printed size; likely when the caller's line matches by name only; possible
without a number, then it says what would decide it.

## What to do
Return early when the tensor is empty, or export with an example and a `Dim` that cover the size.
`AOTI_RUNTIME_CHECK_INPUTS=1` names the input and the size at the call; it also refuses sizes 0 and 1
that the code would compute correctly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.explain import Confidence, Verdict, weakest
from aoti_logs.rules.al104_loop_beyond_table import loop_size
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import indexed_name, is_aot, main_index, print_hint, range_text

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.code.index.case_parts import BoundTerm


def judge(case: IndexCase) -> Verdict | None:
    """Apply when a size in the check is, or may have been, outside its compiled range."""
    return _of_loop(case) or _of_bound(case)


def _of_loop(case: IndexCase) -> Verdict | None:
    """Apply to a loop that ran past a literal bound: that proves its length."""
    source, term = main_index(case), loop_size(case)
    if term is None or source is None or case.bound is None or case.bound.value is None:
        return None
    if term.upper is None or case.bound.value < term.upper:
        return None
    return Verdict(
        "AL101",
        f"`{term.shown}` was above {case.bound.value}, and the code was compiled for {range_text(term)}",
        weakest(case.strength, term.range_strength),
        (f"`{source.loop}` runs below {term.symbol} = {term.shown}, and reached {case.bound.value}",),
        fixes=_fixes(term),
    )


def _of_bound(case: IndexCase) -> Verdict | None:
    if case.bound is None or not case.bound.terms or case.bound.value is not None:
        return None
    known = [t for t in case.bound.terms if t.known is not None]
    for term in known:
        verdict = _known(case, term)
        if verdict is not None:
            return verdict
    if known or not is_aot(case):
        return None
    terms = [t for t in case.bound.terms if t.tensor is not None and (t.lower is None or t.lower > 0)]
    if len(case.bound.terms) != 1 or not terms:
        return None
    return _unknown(case, terms[0])


def _nothing_fits(case: IndexCase, term: BoundTerm) -> bool:
    """Tell whether no index passes the check when this size is 0 and the others are as printed."""
    if case.bound is None or case.assertion.text is None or case.assertion.text.lower is None:
        return False
    sizes = {t.symbol: t.known.value for t in case.bound.terms if t.symbol and t.known}
    value = case.bound.with_sizes({**sizes, term.symbol or "": 0})
    return value is not None and value <= 0


def _known(case: IndexCase, term: BoundTerm) -> Verdict | None:
    assert term.known is not None
    size, low = term.known.value, term.lower
    if term.tensor is None or term.derived or (size > 0 and (low is None or size >= low)):
        return None
    because = [f"{term.known.text} ({term.known.place})"]
    compiled = f"code compiled for {range_text(term)}" if term.has_range else "code that expects rows"
    if size == 0:
        if not _nothing_fits(case, term):
            return None
        because.append(
            f"with {term.param} = 0 no index can pass {case.assertion.message.rpartition(': ')[2]}"
        )
        confidence = weakest(term.known.strength, case.strength)
        title = f"an empty `{term.tensor.shown}` runs {compiled}"
        if term.dim:
            title = f"a size of 0 in dimension {term.dim} of `{term.tensor.shown}` runs {compiled}"
    else:
        because.append(
            f"{size} is below the compiled range {range_text(term)}; an index meant for more rows fails"
        )
        confidence = Confidence.POSSIBLE
        title = f"a size of {size} in dimension {term.dim} of `{term.tensor.shown}` may be too small for the index"
    return Verdict("AL101", title, confidence, tuple(because), fixes=_fixes(term))


def _refused(term: BoundTerm) -> bool:
    """Tell whether the model would have refused a size of 0 before it ran, with its checks on."""
    return any(
        c.kind is CheckKind.MIN and c.expected.isdecimal() and int(c.expected) > 0 for c in term.checks
    )


def _unknown(case: IndexCase, term: BoundTerm) -> Verdict | None:
    if term.tensor is None or not _nothing_fits(case, term):
        return None
    if case.checks_on and not term.derived and _refused(term):
        return None
    name = term.tensor.shown
    because = [f"with {term.param} = 0 no index can pass the check, so an empty `{name}` fails always"]
    if term.derived:
        because = [
            f"with {term.param} = 0 no index can pass the check, and {term.symbol} comes from a size of `{name}`"
        ]
    elif term.has_range:
        because.append(
            f"{term.symbol} was compiled for {range_text(term)}, and nothing tests that when the model runs"
        )
    if case.threads is not None and case.threads == case.assertion.n_threads:
        because.append(
            f"all {case.threads:,} threads of the blocks that printed failed, as they do without rows"
        )
    decide = [print_hint(f"the shape of `{name}`")]
    if any(c.gated for c in term.checks) and not term.derived:
        decide.append(f"AOTI_RUNTIME_CHECK_INPUTS=1 refuses a size of `{name}` outside {range_text(term)}")
    title = f"`{name}` may have been empty"
    if case.passed is not None:
        block, (silent, failed) = case.passed
        title += ", but only if lines of the log are lost"
        because.append(
            f"thread {failed} of block {list(block)} failed and thread {silent} of its warp printed nothing; the mask of "
            f"the check hides high elements only, so with {term.param} = 0 it would have failed as well"
        )
    if term.tensor.arg not in {i.tensor.arg for i in case.indexed}:
        title += f"; its length is the bound for {indexed_name(case)}"
    doubted = case.passed is not None
    return Verdict("AL101", title, Confidence.POSSIBLE, tuple(because), tuple(decide), _fixes(term), doubted)


def _fixes(term: BoundTerm) -> tuple[str, ...]:
    name = term.tensor.shown if term.tensor is not None else term.symbol or "the tensor"
    if term.known is not None and term.known.value == 0:
        return (
            f"return early when `{name}` has no rows",
            f"or export with a Dim for `{name}` whose minimum is 0 and an example that the code handles",
        )
    return (f"keep `{term.shown}` inside {range_text(term)}, or export with a wider Dim",)


RULE = Rule("AL101", "size-outside-compiled-range", __doc__ or "", judge)
