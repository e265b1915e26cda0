"""An operator that a compiled model calls raised an exception.

## What it says
Generated code calls what it does not compile (matrix products, sorts, embedding bags, custom operators) through C
shims. The finding names the operator, the call with its arguments, the line of the wrapper, and what ATen said; with
the wrapper at hand also what each argument is: an input, a weight, or a buffer and which kernel made it.

## Why it matters
One failure is told several times, each time in part: the shim or the exception has ATen's words, stderr has the call
(`SHIM(...) API call failed at FILE.wrapper.cpp, line N`), and Python may only have `run_func_(...)`.

## Example
`aoti_torch_cpu__embedding_bag_forward_only(arg1_1, arg0_1, buf0, ...) API call failed at ....wrapper.cpp, line 892`
on stderr, and `Expected i < index_size to be true` in Python.

## Evidence it needs
The texts. On a GPU the call that reports an error need not be the one at fault: kernels run behind it, and a cuBLAS
error is mostly the first sign of an earlier illegal access.

## What to do
Run once with `AOTI_RUNTIME_CHECK_INPUTS=1` (torch 2.7+; before, compile with `AOT_INDUCTOR_DEBUG_COMPILE=1`): an input
of another dtype, device or shape than compiled for is the commonest reason. On a GPU also `CUDA_LAUNCH_BLOCKING=1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Experiment, Link, Missing
from aoti_logs.parse.aoti.facts import DeviceError, ShimException
from aoti_logs.rules.aoti_story import (
    about_nan,
    in_short,
    operator_in_stack,
    story_facts,
    story_links,
    story_of,
)
from aoti_logs.rules.aoti_wrapper import argument_facts, call_site, site_link
from aoti_logs.rules.before_call import first_steps, kernels_before, sticky_fault, unchecked_inputs
from aoti_logs.rules.device_experiments import waiting
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.given_inputs import Given, given_inputs
from aoti_logs.rules.input_experiments import check_inputs
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.errors.device_fault import DeviceFault
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.aoti_story import Story
    from aoti_logs.rules.error_case import ErrorCase

_NAMED = 3
_LIBRARY = re.compile(r"\b(?:CUBLAS|CUSOLVER|CUSPARSE|CUFFT|CUDNN|MIOPEN|HIPBLAS|rocblas)\w*", re.IGNORECASE)
_DEVICE_WORDS = re.compile(r"\b(?:CUDA|HIP|XPU) (?:driver )?error\b|\bCUDA_|\bcuda\w+Error")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Name the operator, the call and what was said."""
    story = story_of(case)
    if story.shim is None and story.logged is None:
        return None
    if about_nan(story):
        return None
    call = story.call
    operator = (call.operator if call is not None else None) or operator_in_stack(story.said)
    site = call_site(case.evidence, call) if call is not None else None
    rows = argument_facts(site) if site is not None else []
    facts: dict[str, Any] = {**story_facts(story), "op": operator, "phase": _phase(story)}
    if rows:
        facts["call_arguments"] = rows
    links = [site_link(site, rows)] if site is not None else []
    later = _is_later(story)
    candidates, count = kernels_before(story.told, case.evidence, with_checks=False) if later else ([], 0)
    fault = sticky_fault(case.group) if later else None
    said = in_short(story.said.message) if story.said is not None else None
    name = f"`{operator}`" if operator else f"`{call.name}`" if call is not None else "an operator"
    given = given_inputs(case.events, case.evidence, case.error.span.start, case.error.rank)
    missing: tuple[Missing, ...] = ()
    if later:
        variable = waiting(fault[0].backend if fault is not None else "cuda")
        how = f"{variable}: the call that reports is then the one" if variable is not None else "-"
        missing = (Missing("which launch failed", how),)
    if said is None:
        missing += (Missing("what ATen said", "stdout and stderr of the run in one file, in order"),)
    elif call is None:
        missing += (
            Missing(
                "the call and its line in the wrapper",
                "stderr of the run: `Error: ... API call failed at ...`",
            ),
        )
    elif site is None:
        missing += (
            Missing(
                "what the arguments of the call are", "the wrapper that the text names, from the package"
            ),
        )
    experiments = _experiments(case, story, given, later=later)
    return ErrorTold(
        "AL213",
        "aoti_shim_exception",
        _title(story, name, said, fault, later=later),
        Confidence.UNKNOWN if later else Confidence.PROVEN,
        because=(
            *given.because,
            *(_because(case, story, name, (count, candidates), given) if later else _reasons(story)),
        ),
        links=(
            *links,
            *story_links(story),
            *candidates,
            *_fault_link(fault, story),
            *(m.link for m in given.misfits),
        ),
        facts={k: v for k, v in facts.items() if v is not None},
        missing=missing,
        decide=tuple(f"run again with {'='.join(e.env[0])}" for e in experiments) if later else (),
        experiments=experiments,
    )


def _phase(story: Story) -> str | None:
    """Return what the runner did; a shim that copies weights is called while loading."""
    runner = story.runner_call
    return runner.phase if runner is not None else None


def _is_later(story: Story) -> bool:
    """Tell whether the device may have failed before this call: then the call is a victim."""
    text = story.said.text if story.said is not None else ""
    return bool(_LIBRARY.search(text) or _DEVICE_WORDS.search(text))


def _title(
    story: Story,
    name: str,
    said: str | None,
    fault: tuple[DeviceFault, ErrorText] | None,
    *,
    later: bool,
) -> str:
    if fault is not None:
        return f"{fault[0].text}: {name} is the first call that reports an error of the device, and need not be the one that failed"
    if later and said is not None:
        return f"{name} reported an error of the device, which may come from what ran before it: {said}"
    host = _host_memory(story)
    if host is not None:
        return f"device mismatch: memory of the host was given to a model on {host.device}: {said}"
    return f"{name} failed in the model: {said}" if said else f"{name} failed in the model"


def _device_error(story: Story) -> DeviceError | None:
    """Return what was said, where it is about devices."""
    detail = story.said.detail if story.said is not None else None
    cause = detail.cause if isinstance(detail, ShimException) else detail
    return cause if isinstance(cause, DeviceError) else None


def _host_memory(story: Story) -> DeviceError | None:
    """Return what was said, where a pointer to the host's memory was taken for one of the device."""
    cause = _device_error(story)
    return cause if cause is not None and cause.problem == "host_memory" else None


def _because(
    case: ErrorCase, story: Story, name: str, before: tuple[int, list[Link]], given: Given
) -> tuple[str, ...]:
    """Say what speaks for a fault before the call."""
    found = [
        "kernels run behind the calls that start them; the first call that looks at the device reports their errors"
    ]
    if story.said is not None and (library := _LIBRARY.search(story.said.text)) is not None:
        found.append(
            f"{library[0]} is what a library says that meets a device with an error; it names no cause"
        )
    count, kernels = before
    if count:
        names = ", ".join(dict.fromkeys(k.text for k in kernels[:_NAMED]))
        told = "1 launch" if count == 1 else f"{count} launches"
        more = ", ..." if count > _NAMED else ""
        found.append(f"{told} of generated code came before {name} in this call of the model: {names}{more}")
    unchecked = unchecked_inputs(case.events, case.evidence, given)
    return (*found, unchecked) if unchecked is not None else tuple(found)


def _fault_link(fault: tuple[DeviceFault, ErrorText] | None, story: Story) -> Iterator[Link]:
    """Quote who tells the fault, where it is none of the printings of the call."""
    if fault is not None and not any(e is fault[1] for e in story.told):
        yield Link("fault", fault[1].message, fault[1].span.place)


def _reasons(story: Story) -> tuple[str, ...]:
    if _host_memory(story) is not None:
        return (
            (
                "a model that was compiled for CPU and is loaded on CUDA hands its weights over like that, and so does a "
                "CPU tensor given to a CUDA model"
            ),
        )
    reasons = ["generated code calls this operator of ATen; ATen raised"]
    cause = _device_error(story)
    if cause is not None and cause.problem in {"operands", "out_tensor"}:
        reasons.append(
            "tensors of two devices meet in this call (device mismatch): mostly an input of the model is on another device "
            "than the model, which nothing checks by default"
        )
    return tuple(reasons)


def _experiments(case: ErrorCase, story: Story, given: Given, *, later: bool) -> tuple[Experiment, ...]:
    if later:
        return first_steps(case.command, story.told, case.events, case.evidence, given)
    return () if given.settled else check_inputs(case.command, case.evidence)


RULE = Rule("AL213", "operator-failed-in-model", __doc__ or "")
