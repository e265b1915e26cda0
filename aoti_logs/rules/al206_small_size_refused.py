"""The input check refuses a size of 0 or 1 that the export may allow.

## What it says
With `AOTI_RUNTIME_CHECK_INPUTS` on, a dynamic size below 2 is refused: `expected it to be >= 2, but got: 1`. That
limit is mostly the compiler's own: it treats the sizes 0 and 1 as special when it traces, whatever range the export
declared. Where the exported program is at hand the finding compares both.

## Why it matters
It reads as if the caller broke the contract. Without the check such a model usually runs and is right, so
switching the check on for debugging makes good requests fail.

## Example
`Range constraints: {s23: VR[0, 4096]}` and a check that says `>= 2`.

## Evidence it needs
The text. The range is quoted from the exported program (printed, or saved in the package) of a wrapper whose check
is this one.

## What to do
Run without the check, or compile with `aot_inductor.check_lowerbound=False` (torch 2.10 and later). Where the result
of a small size matters, compare it with eager once: code that was compiled for 2 or more rows may be wrong for fewer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Experiment, Missing
from aoti_logs.parse.aoti.facts import InputMismatch
from aoti_logs.rules import al201_input_mismatch as al201
from aoti_logs.rules.aoti_wrapper import failed_inputs
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase, ErrorTold

_SPECIAL = 2
_FIX = (
    "run without AOTI_RUNTIME_CHECK_INPUTS, or compile with aot_inductor.check_lowerbound=False (torch 2.10+)"
)
_RANGE = Missing(
    "the range that the export declared", "the exported program, printed at export or saved in the package"
)
_FIX_BUILT_IN = "compile without AOT_INDUCTOR_DEBUG_COMPILE"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Speak of a lower limit of 2, which the compiler sets, and a size below it."""
    told = case.error.detail
    if not isinstance(told, InputMismatch) or told.relation != ">=" or told.expected != _SPECIAL:
        return None
    base = al201.tell_error(case)
    if base is None:
        return None
    found = failed_inputs(case.evidence, told)
    ranges = {(f.range.lower, f.range.upper) for f in found if f.range is not None}
    low, high = next(iter(ranges)) if len(ranges) == 1 else (None, None)
    allowed = len(ranges) == len(found) == 1 and (low is None or low <= int(told.got))
    what = al201.called(told.index, found)
    size = f"size {told.got} in dimension {told.dim} of {what}"
    if allowed:
        title = f"the input check refuses {size}, which the export allows: [{low}, {high}]"
        because = (
            "the limit of 2 is the compiler's: it treats sizes 0 and 1 as special, whatever the export declares",
        )
    else:
        title = f"the input check refuses {size}; the limit of 2 may be the compiler's, not the export's"
        told_by = (
            "several wrappers at hand have this check"
            if len(found) > 1
            else "the export's range is not at hand"
        )
        because = (f"the compiler treats sizes 0 and 1 as special; {told_by}",)
    confidence = Confidence.LIKELY if allowed else Confidence.POSSIBLE
    missing = base.missing if ranges else (*base.missing, _RANGE)
    return replace(
        base,
        code="AL206",
        title=title,
        confidence=confidence,
        missing=missing,
        because=(*because, *base.because),
        fixes=(_FIX_BUILT_IN if al201.built_in(found) else _FIX,),
        decide=()
        if allowed
        else ("print the exported program: `Range constraints` shows the declared range",),
        experiments=()
        if al201.built_in(found) or case.evidence.releases.before((2, 7))
        else (_without(case.command),),
        doubt="the wrapper at hand has this check; that it is the model that ran is not quoted"
        if allowed
        else None,
    )


def _without(command: str) -> Experiment:
    return Experiment(
        command,
        (("AOTI_RUNTIME_CHECK_INPUTS", "0"),),
        "run",
        "the model then runs with this size; compare the result with eager",
        "read once by each loaded model; unset, or a text that begins with 0, is off; code that torch 2.7 compiled takes 0 for on: there, unset it",
        "no other input is checked then either",
    )


RULE = Rule("AL206", "small-size-refused-by-check", __doc__ or "")
