"""A tensor given to a model is not the one that it was compiled for.

## What it says
AOTInductor's check of its inputs compares dtype, sizes, strides and device type of each tensor with what the
model was compiled for, in this order, and stops at the first that differs. The finding names input, attribute,
dimension, both values, and the input's name where the wrapper tells it.

## Why it matters
Torch prints numbers: `input_handles[2]` counts tensors (not arguments), `4(at::kLong)` is int64 and `11(cuda)` is
device type 1, printed twice. Without the check (`AOTI_RUNTIME_CHECK_INPUTS` not set) the model runs all the same and
returns wrong numbers, or reads memory that is not its own.

## Example
`input_handles[0]: unmatched dtype, expected: 4(at::kLong), but got: 3`: int32 ids for a model compiled for int64.

## Evidence it needs
The text. The wrapper (in the package, the cache or a trace) gives the input's name in the code; the exported
program or the trace gives the user's name. A sum of checks is no guard: ranks, device indices, and sizes that
must be equal are not compared.

## What to do
Give the tensor that the model was compiled for, or export with an example (or a `Dim`) that covers this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Link, Missing
from aoti_logs.parse.aoti.facts import InputMismatch, LayoutMismatch
from aoti_logs.rules.aoti_story import story_facts, story_links, story_of
from aoti_logs.rules.aoti_wrapper import failed_inputs, failed_rank
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from typing import Any

    from aoti_logs.rules.aoti_story import Story
    from aoti_logs.rules.aoti_wrapper import FailedInput
    from aoti_logs.rules.error_case import ErrorCase

KIND = "aoti_input_mismatch"
_NAME = Missing(
    "the name of this input: tensors are counted, not arguments",
    "the wrapper from the package (`unzip -p model.pt2 '*.wrapper.cpp'`) and the exported program (`print(ep)`)",
)
_GATE = "AOTI_RUNTIME_CHECK_INPUTS was on"
_BUILT_IN = "the model was compiled with AOT_INDUCTOR_DEBUG_COMPILE=1, which builds the check in (torch 2.6 and older)"
_EITHER = (
    "AOTI_RUNTIME_CHECK_INPUTS was on, or (until torch 2.6) AOT_INDUCTOR_DEBUG_COMPILE=1 built the check in"
)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Say which input differs in what."""
    detail = case.error.detail
    if isinstance(detail, InputMismatch):
        return _told(case, detail)
    if isinstance(detail, LayoutMismatch) and detail.op == "input":
        return _layout(case, detail)
    return None


def _told(case: ErrorCase, told: InputMismatch) -> ErrorTold:
    story = story_of(case)
    found = failed_inputs(case.evidence, told)
    facts = {
        **story_facts(story),
        "input_index": told.index,
        "attribute": told.attribute,
        "expected_value": told.expected_value,
        "got_value": told.got,
    }
    if told.dim is not None:
        facts["dim"] = told.dim
    facts |= name_facts(found)
    return ErrorTold(
        "AL201",
        KIND,
        _title(told, found),
        because=(why_checked(found),),
        links=(*input_links(found), *story_links(story)),
        facts=facts,
        fixes=_fixes(told, found),
        missing=_missing(found),
    )


def name_facts(found: tuple[FailedInput, ...]) -> dict[str, Any]:
    """Return what the wrapper says about the input; where several fit, what each of them says."""
    rows = []
    for one in found:
        row: dict[str, Any] = {"arg": one.check.tensor, "input_name": one.name}
        if one.range is not None:
            row["exported_range"] = [one.range.lower, one.range.upper]
        rows.append(row)
    if len(rows) == 1:
        return {k: v for k, v in rows[0].items() if v is not None}
    return {"candidates": rows} if rows else {}


def _missing(found: tuple[FailedInput, ...]) -> tuple[Missing, ...]:
    if found and any(f.name is None for f in found):
        args = ", ".join(dict.fromkeys(f"`{f.check.tensor}`" for f in found if f.name is None))
        return (
            Missing(
                f"the user's name of {args}",
                "the printed exported program, or TORCH_TRACE=dir when compiling",
            ),
        )
    return () if found else (_NAME,)


def built_in(found: tuple[FailedInput, ...]) -> bool | None:
    """Tell whether the check is part of the code, whatever the environment says; None where nothing tells."""
    gates = {f.check.gated for f in found}
    return not next(iter(gates)) if len(gates) == 1 else None


def why_checked(found: tuple[FailedInput, ...]) -> str:
    """Say why the input was checked at all: by default it is not."""
    return {None: _EITHER, True: _BUILT_IN, False: _GATE}[built_in(found)]


def input_links(found: tuple[FailedInput, ...]) -> tuple[Link, ...]:
    """Quote the check of each input at hand that fits, and its range."""
    strength = Confidence.LIKELY if len(found) == 1 else Confidence.POSSIBLE
    links = []
    for one in found[:4]:
        name = f", `{one.name}`" if one.name else ""
        links.append(Link("check", one.check.text, one.place, strength, (f"{one.check.tensor}{name}",)))
        if one.range is not None:
            low, high = (n if n is not None else "no limit" for n in (one.range.lower, one.range.upper))
            text = f"{one.range.symbol} is [{low}, {high}] in the exported program"
            links.append(Link("range", text, one.range.place, strength))
    return tuple(links)


def called(index: int, found: tuple[FailedInput, ...]) -> str:
    """Name an input: by its number, and by its name where the wrappers at hand tell one."""
    names = {f.name for f in found if f.name}
    if len(names) != 1:
        return f"input {index}"
    return f"input {index} ({'likely' if len(found) == 1 else 'perhaps'} `{next(iter(names))}`)"


def _title(told: InputMismatch, found: tuple[FailedInput, ...]) -> str:
    what = called(told.index, found) if told.handles == "input" else f"output {told.index}"
    if told.attribute == "dtype":
        return f"{what} is {told.got}, and the model was compiled for {told.expected}"
    if told.attribute == "device type":
        return f"{what} is on {told.got}, and the model was compiled for {told.expected}"
    where = f"{told.attribute} {told.got} in dimension {told.dim}"
    words = {"==": "", ">=": "at least ", "<=": "at most "}[told.relation]
    return f"{what} has {where}, and the model was compiled for {words}{told.expected}"


def _fixes(told: InputMismatch, found: tuple[FailedInput, ...]) -> tuple[str, ...]:
    if told.handles != "input":
        return ("give room for outputs of the dtype, device and sizes that the model was compiled with",)
    what = called(told.index, found)
    if told.attribute == "dtype":
        return (f"convert {what} before the call: `.to(torch.{told.expected})`",)
    if told.attribute == "device type":
        return (f"move {what} to {told.expected}, or compile for {told.got}",)
    if told.attribute == "stride":
        return (f"give {what} the layout of the example at export (mostly `.contiguous()`)",)
    if told.relation == "==":
        return (f"keep dimension {told.dim} at {told.expected}, or export it as a `Dim`",)
    return ("stay inside of the range, or export with a wider `Dim`",)


def _layout(case: ErrorCase, told: LayoutMismatch) -> ErrorTold:
    """Speak of an assert on an input: it does not print which one."""
    story: Story = story_of(case)
    facts = {**story_facts(story), "op": told.op}
    found: tuple[FailedInput, ...] = ()
    if told.expected_ndim is not None:
        found = failed_rank(case.evidence, told.expected_ndim)
        title = f"an input has {told.ndim} dimensions, and the model was compiled for {told.expected_ndim}"
        facts |= {"attribute": "ndim", "expected_value": told.expected_ndim, "got_value": told.ndim}
        indices = {f.view.inputs[f.check.tensor].index for f in found}
        if len(indices) == 1:
            index = next(iter(indices))
            facts["input_index"] = index
            title = title.replace("an input", called(index, found), 1)
    else:
        row = next((d for d in told.dims if d.size != d.expected_size), told.dims[0])
        size = row.size != row.expected_size
        attribute, got, want = (
            ("size", row.size, row.expected_size) if size else ("stride", row.stride, row.expected_stride)
        )
        title = (
            f"an input has {attribute} {got} in dimension {row.dim}, and the model was compiled for {want}"
        )
        facts |= {"attribute": attribute, "dim": row.dim, "expected_value": want, "got_value": got}
    facts |= name_facts(found)
    return ErrorTold(
        "AL201",
        KIND,
        title,
        because=(why_checked(found),),
        links=(*input_links(found), *story_links(story)),
        facts=facts,
        fixes=("give the tensor that the model was compiled for",),
        missing=_missing(found),
    )


RULE = Rule("AL201", "input-differs-from-compiled", __doc__ or "")
