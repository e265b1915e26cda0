"""A compiled model raised an error.

## What it says
What ATen, the proxy executor (which runs custom operators) or the runtime said while a model ran or was loaded, and
which operator it is about, as far as the text or the stack names it.

## Why it matters
The stack of such an error ends in the model, not in Python: which operator of the graph it was is in no message. An
input that the model was not compiled for is the commonest reason, and nothing checks inputs by default.

## Example
`Error: mat1 and mat2 shapes cannot be multiplied (3x1 and 2x1)` with `at::meta::structured_addmm::meta` in its stack.

## Evidence it needs
The text, and something that shows that a model raised it: the call of the runner, or frames of the model.

## What to do
Run once with `AOTI_RUNTIME_CHECK_INPUTS=1` (torch 2.7+; before, compile with `AOT_INDUCTOR_DEBUG_COMPILE=1`): it names the
input that differs from what was compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Missing
from aoti_logs.parse.aoti.facts import LayoutMismatch, ProxyError, RuntimeFault
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.aoti_story import (
    about_nan,
    in_short,
    loads_package,
    operator_in_stack,
    story_facts,
    story_links,
    story_of,
)
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.given_inputs import given_inputs
from aoti_logs.rules.input_experiments import check_inputs
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.aoti_story import Story
    from aoti_logs.rules.error_case import ErrorCase

_FAULTS = {
    "container": "the container of models is in a state that it must not be in",
    "not_finished": "a run of the model did not finish",
    "event": "the event that ends a run was not made",
    "unknown": "the model raised something that is no C++ exception of the standard library",
    "division": "an integer was divided by zero",
    "lazy_triton": "a Triton kernel could not be compiled while the model ran",
    "arrayref": "the interface without tensors was used in a way that it cannot be",
    "proxy": "the model and its file of operators (.json) do not belong together",
    "cpu": "the CPU runtime reported an error",
}

_COMMONEST = "an input shape, dtype or device that the model was not compiled for is the commonest reason"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say what a model raised."""
    if case.error.form is ErrorForm.SIGNAL:
        return None
    detail = case.error.detail
    story = story_of(case)
    if isinstance(detail, ProxyError):
        return _proxy(case, detail, story)
    if isinstance(detail, LayoutMismatch) and story.from_model:
        return _layout(detail, story)
    if isinstance(detail, RuntimeFault) and detail.problem in {
        "container",
        "event",
        "unknown",
        "not_finished",
    }:
        known = story.from_model or detail.problem != "unknown"  # other programs may end with the same words
        return _told(case, story, _FAULTS[detail.problem], Confidence.PROVEN if known else Confidence.LIKELY)
    if about_nan(story):
        return None
    sure = story.from_model
    printed = case.error.form is ErrorForm.AOTI_ERROR and case.error.raised_from is not None
    if not sure and not printed:
        return None
    said = in_short(story.said.message if story.said is not None else case.error.message)
    if isinstance(detail, RuntimeFault):
        said = f"{_FAULTS[detail.problem]}: {said}"
    return _told(case, story, said, Confidence.PROVEN if sure else Confidence.LIKELY)


def _told(case: ErrorCase, story: Story, said: str, confidence: Confidence) -> ErrorTold:
    operator = operator_in_stack(story.said)
    facts: dict[str, Any] = {**story_facts(story)}
    if operator:
        facts["op"] = operator
    name = f"`{operator}` failed in the model" if operator else "the model raised an error"
    fault = isinstance(case.error.detail, RuntimeFault) and said == _FAULTS.get(case.error.detail.problem)
    given = given_inputs(case.events, case.evidence, case.error.span.start, case.error.rank)
    doubt = None
    if confidence is not Confidence.PROVEN:
        doubt = "`Error: ` is how AOTInductor's library prints an exception; nothing else in the log shows a model"
    return ErrorTold(
        "AL215",
        "aoti_runtime_error",
        said if fault and not operator else f"{name}: {said}",
        confidence,
        because=() if fault else given.because or (_COMMONEST,),
        links=(*story_links(story), *(m.link for m in given.misfits)),
        facts=facts,
        missing=()
        if operator
        else (
            Missing(
                "the operator",
                "`Exception raised from` and the C++ frames below it (TORCH_SHOW_CPP_STACKTRACES=1)",
            ),
        ),
        experiments=() if given.settled else check_inputs(case.command, case.evidence),
        doubt=doubt,
    )


def _layout(told: LayoutMismatch, story: Story) -> ErrorTold:
    """Speak of the result of an operator that has another layout than the compiler was told."""
    facts: dict[str, Any] = {**story_facts(story), "op": told.op}
    if told.expected_ndim is not None:
        facts |= {"attribute": "ndim", "expected_value": told.expected_ndim, "got_value": told.ndim}
        what = f"{told.ndim} dimensions instead of {told.expected_ndim}"
    else:
        facts["dims"] = [
            {
                "dim": d.dim,
                "size": d.size,
                "expected_size": d.expected_size,
                "stride": d.stride,
                "expected_stride": d.expected_stride,
            }
            for d in told.dims
        ]
        row = told.dims[0]
        what = f"size {row.size}, stride {row.stride} in dimension {row.dim} instead of {row.expected_size}, {row.expected_stride}"
    return ErrorTold(
        "AL215",
        "size_stride_assert",
        f"the result of `{told.op}` has {what}" if told.op else f"a tensor has {what}",
        because=(
            "the fake (meta) kernel of the operator promised another layout when the model was compiled",
        ),
        links=story_links(story),
        facts=facts,
        fixes=("mend the operator's fake kernel; torch.library.opcheck compares it with the real one",),
    )


def _proxy(case: ErrorCase, told: ProxyError, story: Story) -> ErrorTold | None:
    """Speak of an operator that the proxy executor cannot call."""
    loads = loads_package(case.error)
    if told.problem in {"schema", "unsupported"} and not (
        loads or story.from_model or case.error.raised_from is not None
    ):
        return None
    name = f"`{told.operator}`" if told.operator else "an operator"
    if told.problem == "schema":
        title = f"the operator {name} is not registered in this process"
        fixes = (
            "load the library that registers it before the model (torch.ops.load_library, or import its package)",
        )
        because = ("the model calls it by name; its registration is not part of the package",)
    else:
        title = f"the model and {name} do not fit: {case.error.message}"
        fixes = ("compile the model again with the torch and the operator library that serve it",)
        because = ("the arguments of the operator were written down when the model was compiled",)
    facts: dict[str, Any] = {
        "op": told.operator,
        "phase": "load" if loads else None,
        "argument": told.argument,
        "expected_value": told.expected,
        "got_value": told.got,
        **story_facts(story),
    }
    return ErrorTold(
        "AL215",
        "aoti_runtime_error",
        title,
        because=because,
        links=story_links(story),
        facts={k: v for k, v in facts.items() if v is not None},
        fixes=fixes,
    )


RULE = Rule("AL215", "model-raised", __doc__ or "")
