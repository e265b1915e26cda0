"""A comparison of results failed: nothing crashed, and two tensors differ.

## What it says
That a test found two results different, how many elements and by how much, as far as the message says. Which of the two is
wrong, and why, is not in the log.

## Why it matters
Compiled code that is given what it was not compiled for often computes on: AOTInductor tests neither sizes nor dtypes nor
strides of its inputs unless asked to. A size beyond the range that was exported can be cut off, a dtype read as another, and
the result is wrong without a word. A call whose error code the generated code ignores (scatter, index_put; AL714) fails as silently. That is told apart from rounding and from a wrong kernel by one run with the checks on.

## Example
`AssertionError: Tensor-likes are not close!`

## Evidence it needs
The message of `torch.testing.assert_close`, or of `numpy.testing.assert_allclose`. With the generated code of an AOTInductor
model at hand the checks of inputs are named first.

## What to do
`AOTI_RUNTIME_CHECK_INPUTS=1` for a model of AOTInductor. For `torch.compile` the accuracy minifier:
`TORCHDYNAMO_REPRO_AFTER=aot TORCHDYNAMO_REPRO_LEVEL=4`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.input_experiments import check_inputs
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.value_experiments import compare_graphs, flavours, print_values, uncompiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Experiment
    from aoti_logs.rules.error_case import ErrorCase

_HEAD = re.compile(
    r"(?:Tensor-likes|Scalars|Numbers) are not (?:close|equal)!|Expected .{1,80} but got .{1,80}\.\n|"
    r"Not equal to tolerance rtol="
)
_BELOW = 800
_SHOWN = 3
_MISMATCHED = re.compile(r"Mismatched elements: (\d+) / (\d+)")
_GREATEST = re.compile(r"Greatest (absolute|relative) difference: (\S+) at index (\([^)\n]{0,200}\)|\d+)")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what differs, and what tells whose fault it is."""
    error = case.error
    text = (error.text or error.message)[:4000]
    short = (error.exception_type or "").rpartition(".")[2]
    if error.form is not ErrorForm.PYTHON or short != "AssertionError" or not _HEAD.search(text):
        return None
    # torch leaves an empty line below the first one, behind which the error's own lines are no more.
    facts = _facts(text + "\n" + error.span.source.cut(error.span.end, error.span.end + _BELOW))
    count = f": {facts['mismatched']} of {facts['elements']} elements" if "mismatched" in facts else ""
    compiled = flavours(case.evidence)
    because = ["which of the two results is wrong is not in the message"]
    if "aoti" in compiled:
        because.append(
            "possible: inputs that the model was not compiled for; nothing tests them unless asked to"
        )
    ignored = list(_ignored(case)) if "aoti" in compiled else []
    if ignored:
        names = ", ".join(dict.fromkeys(f"`{link.text.partition('(')[0].strip()}`" for link in ignored))
        because.append(
            f"possible: {names} failed, as on an index out of range: the code at hand ignores its error code (AL714)"
        )
    because.append("possible: rounding, or a kernel that computes wrongly")
    return ErrorTold(
        "AL405",
        "results_differ",
        f"two results differ{count}; nothing crashed",
        Confidence.UNKNOWN,
        because=tuple(because),
        links=tuple(ignored),
        facts=facts,
        decide=(
            "whether sizes, dtypes, strides and devices of the inputs are those that the model was compiled for",
        ),
        missing=(Missing("which step of the model first differs", "the experiments below, in their order"),),
        experiments=_experiments(case, compiled),
        doubt="the values themselves are not in this log",
    )


def _ignored(case: ErrorCase) -> Iterator[Link]:
    """Yield the calls of the model at hand whose error code the code does not look at; of several models nothing."""
    codes = [c for c in case.evidence.base.wrappers if c.wrapper is not None]
    if len(codes) != 1 or codes[0].wrapper is None:
        return
    from aoti_logs.code.model_facts import unchecked
    from aoti_logs.code.wrapper.shims import shim

    wrapper = codes[0].wrapper
    calls = [c for c in unchecked(case.evidence.view(wrapper)) if shim(c.kernel) is not None]
    for call in calls[:_SHOWN]:
        yield Link("unchecked", call.text, wrapper.source.place(call.line), Confidence.LIKELY)


def _experiments(case: ErrorCase, compiled: dict[str, bool]) -> tuple[Experiment, ...]:
    if "aoti" in compiled:
        return (*check_inputs(case.command, case.evidence), print_values(case.command))
    return (uncompiled(case.command), compare_graphs(case.command))


def _facts(text: str) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    counted = _MISMATCHED.search(text)
    if counted:
        facts |= {"mismatched": int(counted[1][:18]), "elements": int(counted[2][:18])}
    for kind, value, index in _GREATEST.findall(text):
        facts[f"greatest_{kind}_difference"] = value
        facts[f"greatest_{kind}_index"] = index
    return facts


RULE = Rule("AL405", "results-differ", __doc__ or "")
