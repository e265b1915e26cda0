"""Calls whose error code the generated code does not look at: a failure leaves a wrong result without a text.

## What it says
Which calls of a C++ wrapper ignore the error code that they return. In releases up to 2.13 these are the scatter family
and `index_put`, up to 2.11 also custom operators that the proxy executor calls: Inductor writes them without
`AOTI_TORCH_ERROR_CODE_CHECK`.

## Why it matters
An index that is out of range, or a value of the wrong size, makes eager raise an error. Here the call fails, nothing is
written to the output, and the model goes on with what was in the buffer before: exit code 0, wrong numbers.

## Example
`aoti_torch_cpu_scatter_reduce_two_out(buf5, buf5,0,arg0_1,buf6, "sum",1);`

## Evidence it needs
A C++ wrapper, of AOTInductor or of torch.compile with `cpp_wrapper`.

## What to do
Test indices and sizes in the caller or in the model, and compare one result with eager. Operators that Inductor can
compile into a kernel get a bounds check instead; the fallback is what has none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.model_facts import unchecked
from aoti_logs.code.wrapper.shims import shim
from aoti_logs.explain import Confidence
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.model import Launch
    from aoti_logs.explain import Finding

RULE = Rule("AL714", "error-code-ignored", __doc__ or "")

_PROXY = "aoti_torch_proxy_executor_call_function"
_NODE = re.compile(r"proxy_executor,\s*(\d{1,9})")


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of the calls that return an error code, and apart of those that no header of torch declares."""
    if case.view is None:
        return
    calls = unchecked(case.view)
    known = [c for c in calls if shim(c.kernel) is not None]
    others = [c for c in calls if shim(c.kernel) is None]
    if known:
        yield _told(case, known, Confidence.PROVEN)
    if others:
        yield _told(case, others, Confidence.POSSIBLE)


def _told(case: ModelCase, calls: list[Launch], confidence: Confidence) -> Finding:
    number = len(calls)
    names = listed(f"`{c.kernel}`" for c in calls)
    if confidence is Confidence.PROVEN:
        what = "the call" if number == 1 else f"{number} calls"
        title = f"{what} of {names} can fail without a text: the error code is ignored"
    else:
        what = "a call" if number == 1 else f"{number} calls"
        title = f"{what} of {names} may return an error code that the code does not look at"
    return case.finding(
        "AL714",
        "error_code_ignored",
        title,
        warning=True,
        confidence=confidence,
        facts={"unchecked_shim_calls": [c.kernel for c in calls], "launches": [c.index for c in calls]},
        links=[case.link("call", c.line, c.text, *_nodes(case, c)) for c in calls[:MOST_LINKS]],
        because=_because(calls),
        fixes=(
            "test the indices and sizes before the call, in the caller or in the model; compare one result with eager",
        ),
        notes=(f"and {number - MOST_LINKS:,} more such calls",) if number > MOST_LINKS else (),
        doubt=None if confidence is Confidence.PROVEN else "no header of torch declares the function",
    )


def _because(calls: list[Launch]) -> list[str]:
    found = []
    if any(c.kernel != _PROXY for c in calls):
        found.append(
            "an index out of range or a value of another size is then not applied, and the run goes on: exit code 0"
        )
    if any(c.kernel == _PROXY for c in calls):
        found.append(
            "an exception of a custom operator is then lost, and its output is what was in the buffer before"
        )
    return [*found, "eager raises an error for the same input"]


def _nodes(case: ModelCase, call: Launch) -> list[str]:
    found = [f"source nodes: {listed(call.source_nodes)}"] if call.source_nodes else []
    number = _NODE.search(call.text) if call.kernel == _PROXY else None
    nodes = case.model.extern_nodes if case.model is not None else ()
    if number is not None and int(number[1]) < len(nodes):
        found.append(f"operator {number[1]} is {nodes[int(number[1])].target}")
    return found
