"""Nothing compares the inputs of a compiled model with what it was compiled for, or only on request.

## What it says
Whether an AOTInductor model looks at its inputs at all before it computes. Code of torch before 2.7 has no comparison
unless it was compiled with `AOT_INDUCTOR_DEBUG_COMPILE=1`: that is a warning. Since 2.7 the comparisons are always
written, and run only when `AOTI_RUNTIME_CHECK_INPUTS` is set when the model first runs: that is a note.

## Why it matters
A tensor of another dtype is read as the bytes that it has: int32 ids become int64 ids. One that is shorter is read
past its end, one on another device is an illegal address. The result is wrong without a text, or the process dies.

## Example
`the 2 inputs are compared with what the model was compiled for only when AOTI_RUNTIME_CHECK_INPUTS is set`

## Evidence it needs
The wrapper of an AOTInductor model. torch.compile guards its inputs, so nothing is said of its code.

## What to do
Run once with `AOTI_RUNTIME_CHECK_INPUTS=1`, and always where requests come from elsewhere. Any text but one that begins
with `0` switches it on, also `false`. With code of older releases compile again, or compare in the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import CheckKind
from aoti_logs.code.sizes.evidence import Enforced
from aoti_logs.code.sizes.missing_checks import Gap
from aoti_logs.code.wrapper_cpp.flow import GATE
from aoti_logs.rules.input_experiments import switch_checks_on
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, gated, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import InputCheck, ModelInput
    from aoti_logs.code.view import ModelView
    from aoti_logs.explain import Finding

RULE = Rule("AL711", "inputs-unchecked", __doc__ or "")

_SILENT = (
    "another dtype is read as the bytes that it has (int32 ids as int64), a shorter tensor past its end, and one on "
    "another device is an illegal address"
)
_IN_CALLER = "compare dtype, shape, strides and device in the caller before the call"


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of inputs that nothing compares, else of comparisons that are off by default."""
    view = case.aot
    if view is None:
        return
    inputs = [i for i in view.wrapper.inputs if not i.scalar]
    nothing = [m.input for m in view.missing_checks if m.gap is Gap.INPUT and m.input is not None]
    if nothing:
        yield _never(case, view, inputs, nothing)
    checked = [i for i in inputs if i not in nothing]
    checks = [c for c in view.wrapper.checks if c.tensor in {i.name for i in checked}]
    if checked and gated(checks):
        yield _on_request(case, checked, checks)


def _never(case: ModelCase, view: ModelView, inputs: list[ModelInput], nothing: list[ModelInput]) -> Finding:
    confidence, doubt = case.absent
    every = len(nothing) == len(inputs)
    number = len(nothing)
    what = listed(map(case.called, nothing))
    old = GATE.encode() not in view.wrapper.source.data
    because = [_SILENT]
    fixes = [_IN_CALLER]
    if old:
        because.insert(
            0, "torch before 2.7 writes comparisons only when it compiles with AOT_INDUCTOR_DEBUG_COMPILE=1"
        )
        fixes.insert(0, "compile with torch 2.7 or later, and run with AOTI_RUNTIME_CHECK_INPUTS=1")
    whose = ("the input" if number == 1 else f"any of the {number} inputs") if every else what
    return case.finding(
        "AL711",
        "inputs_unchecked",
        f"nothing compares {whose} with what the model was compiled for",
        warning=True,
        confidence=confidence,
        facts={"unchecked_inputs": [i.index for i in nothing], "enforced": str(Enforced.NEVER)},
        links=[case.link("input", i.line) for i in nothing[:MOST_LINKS]],
        because=because,
        fixes=fixes,
        doubt=doubt,
    )


def _on_request(case: ModelCase, checked: list[ModelInput], checks: list[InputCheck]) -> Finding:
    number = len(checked)
    whose = "the input is" if number == 1 else f"the {number} inputs are"
    first: dict[str, InputCheck] = {}
    for check in checks:
        if check.kind is CheckKind.DTYPE or check.tensor not in first:
            first[check.tensor] = check
    ids = [case.called(i) for i in checked if i.name in first and "int64" in first[i.name].expected]
    because = [_SILENT]
    if ids:
        because.append(
            f"int64 is expected of {listed(ids)}: int32 given there makes other numbers, without a text"
        )
    return case.finding(
        "AL711",
        "inputs_checked_on_request",
        f"{whose} compared with what the model was compiled for only when AOTI_RUNTIME_CHECK_INPUTS is set",
        facts={
            "checked_inputs": [i.index for i in checked],
            "expected_dtypes": {
                i.name: first[i.name].expected
                for i in checked
                if i.name in first and first[i.name].kind is CheckKind.DTYPE
            },
            "enforced": str(Enforced.GATED),
        },
        links=[case.link("check", c.line, c.text) for c in list(first.values())[:MOST_LINKS]],
        because=because,
        fixes=(_IN_CALLER,),
        experiments=(switch_checks_on(case.command),),
    )
