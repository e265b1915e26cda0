"""The program itself noticed NaN or infinity in its values.

## What it says
The program's own check raised: its words, and the line of it. Where the value comes from is not in the log, so no cause is
named, only what decides.

## Why it matters
A check after the model sees the last value. NaN goes through every operation behind the one that made it, so that the
place of the check says nothing about the place of the fault. An input that holds NaN, a division of zero by zero and a
kernel that computes wrongly look alike here.

## Example
`ValueError: the scores are not finite`, raised by a line of the program

## Evidence it needs
A Python exception that a file of the program raised (not torch, not generated code), whose text or line speaks of NaN, of
infinity or of values that are not finite.

## What to do
For a model of AOTInductor on a GPU: compile it with `TORCHINDUCTOR_NAN_ASSERTS=1`, which stops at the first kernel behind
which a NaN is found (AL402). On CPU that checks next to nothing: compile with
`AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=2`, which prints every argument before and after each launch (AL401). Under
`torch.compile` the variables act at the next run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Missing
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.user_frames import is_library
from aoti_logs.rules.value_experiments import flavours, nan_asserts, print_values, uncompiled

if TYPE_CHECKING:
    from aoti_logs.explain import Experiment
    from aoti_logs.rules.error_case import ErrorCase

_TYPES = {
    "ValueError",
    "RuntimeError",
    "AssertionError",
    "FloatingPointError",
    "ArithmeticError",
    "Exception",
}
_WORDS = re.compile(r"\bnan\b|\bnans\b|\binfs?\b|\binfinit(?:e|y)\b|\b(?:not |non-?)finite\b", re.IGNORECASE)
_CALLS = re.compile(r"\b(?:isfinite|isnan|isinf)\b")
_LONGEST = 500


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say that it was the program that noticed, and what shows where the value is from."""
    error = case.error
    short = (error.exception_type or "").rpartition(".")[2]
    if error.form is not ErrorForm.PYTHON or short not in _TYPES or not error.python_frames:
        return None
    last = error.python_frames[-1]
    message = error.message.strip()
    code = last.code or ""
    raises = re.match(r"(?:raise|assert)\b", code)
    if is_library(last.file) or not raises or error.assertion is not None:
        return None
    if not (_WORDS.search(message[:_LONGEST]) or _CALLS.search(code[:_LONGEST])):
        return None
    said = message if message and len(message) <= _LONGEST else code[:_LONGEST]
    return ErrorTold(
        "AL404",
        "nan_noticed",
        f"the program noticed NaN or infinity in its values: {said}",
        Confidence.UNKNOWN,
        because=(
            "the check is the program's own, and stands behind what made the value: what did is not in this log",
        ),
        decide=(
            "whether the inputs are finite: print torch.isfinite(x).all() of each before the call",
            "which kernel makes the first value that is not",
        ),
        missing=(Missing("the values between inputs and outputs", "the checks or the printer below"),),
        experiments=_experiments(case),
        doubt="the values themselves are not in this log",
    )


def _experiments(case: ErrorCase) -> tuple[Experiment, ...]:
    compiled = flavours(case.evidence)
    if not compiled:
        return (uncompiled(case.command),)
    if "aoti" not in compiled:
        return (nan_asserts(case.command, aoti=False), uncompiled(case.command))
    first = (nan_asserts(case.command, aoti=True),) if compiled["aoti"] else ()
    return (*first, print_values(case.command))


RULE = Rule("AL404", "own-nan-check", __doc__ or "")
