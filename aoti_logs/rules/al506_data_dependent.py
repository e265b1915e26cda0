"""Tracing met a condition on data.

## What it says
A branch, a slice or a check of torch depends on a number that comes out of a tensor (`u0`), which tracing does
not know. The finding quotes the condition, the user's line where that is known, and the checks that torch
suggests.

## Why it matters
`u0` says nothing to whoever wrote the model: it is the result of an `.item()`, a `nonzero()`, a boolean mask.

## Example
`Could not guard on data-dependent expression u0 > 5` at `if n > 5:` where `n = k.item()`.

## Evidence it needs
The exception, in a trace or in a log; with `TORCH_DTRACE` also the record `guard_on_data_dependent_error`. A
plain trace of an export has neither: there the graph ends at the condition (see AL611). A trace of torch 2.6 or later
also says where `u0` was made (`create_unbacked_symbol`); of a log, TORCH_LOGS=+dynamic does.

## What to do
Tell torch: `torch._check(n > 5)` before the line, if that always holds; torch tests it when the code runs (AL617). Write both
branches with `torch.cond` if not, or `torch.where`. For sizes, `torch._check(n >= 0)`; up to torch 2.9
`torch._check_is_size(n)`, which 2.13 has deprecated. `torch.export.draft_export` (torch 2.8 and later) lists every such
place at once. A condition that an operator of torch asks, and no line of yours, is a bug of torch in new releases: report it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.commands import COMPILES
from aoti_logs.explain import Experiment, Link
from aoti_logs.parse.compiles.failure import Undecided
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.shape_checks import TRUTH, asks_truth, checks_for

if TYPE_CHECKING:
    from typing import Any

    from aoti_logs.parse.compiles.failure import Caused
    from aoti_logs.rules.failure_case import FailureCase


_ITEMS = {"item", "_local_scalar_dense"}
_GUARD = "GuardOnDataDependentSymNode"
_DRAFT_SINCE = (2, 8)
"""The release that made it public (pytorch/pytorch#153219)."""
_DRAFT = Experiment(
    COMPILES,
    (),
    "compile",
    "goes on with the example's values and lists every such place with its line; torch has it since 2.8",
    "torch/export/_draft_export.py records each in its report",
    change="torch.export.draft_export(...) in place of torch.export.export(...)",
)


def tell(case: FailureCase) -> Told:
    """Quote the condition and where it stands."""
    found = case.failure.detail if isinstance(case.failure.detail, Undecided) else None
    if found is None:
        return _of_operator(case)
    links = []
    if found.caused is not None and (found.caused.code or found.caused.location):
        row = case.failure.text.count("\n", 0, max(case.failure.text.find("Caused by:"), 0))
        links.append(Link("caused by", _caused(found.caused), case.place_of(row)))
    symbols = ", ".join(found.symbols) or "a value"
    valued = found.expression in found.symbols
    return Told(
        f"tracing needs the value of `{found.expression}`, which comes from data"
        if valued
        else f"tracing cannot decide `{found.expression}`: {symbols} comes from data",
        because=_zero_one(found),
        links=tuple(links),
        facts={
            "expression": found.expression,
            "unhinted": found.unhinted,
            "unbacked_symbols": list(found.symbols),
            "size_like": None if found.size_like is None else list(found.size_like),
            "caused_by": _facts(found.caused) if found.caused else None,
            "suggested_checks": list(found.checks),
            "constant": _constant(found.expression),
            **_wrapped(case),
        },
        fixes=tuple(fixes(found, case.user.code if case.user else None)),
        experiments=() if case.exported is False or case.releases.before(_DRAFT_SINCE) else (_DRAFT,),
    )


def _of_operator(case: FailureCase) -> Told:
    """Say which operator gives something that only data decides (exceptions of torch/_subclasses/fake_tensor.py)."""
    op = case.failure.operator
    if op is None:
        return Told(f"tracing met a condition on data: {case.failure.message}")
    shape = "DynamicOutputShapeException" in (case.failure.class_name, *case.failure.inner_names)
    name = op.split(".")[1] if op.count(".") > 1 else op
    what = "the shape of its result is" if shape else "its result, a number, is"
    if shape:
        fix = "torch._dynamo.config.capture_dynamic_output_shape_ops = True: the size is then an unknown one (`u0`)"
    elif name in _ITEMS:
        fix = "torch._dynamo.config.capture_scalar_outputs = True: the number is then an unknown one (`u0`)"
    else:
        fix = (
            f"capture_scalar_outputs does not cover `{op}`: compute it outside of the compiled function, or put it with "
            "what it decides into a custom operator (torch.library.custom_op) or torch.cond"
        )
    return Told(
        f"tracing cannot run `{op}`: {what} only known from data",
        facts={"op": op, "dynamic_shape": shape},
        fixes=(fix,),
    )


def _constant(expression: str) -> int | None:
    """Return the number that a value is compared with (`Ne(u0, 589824)`, `u0 > 5`)."""
    numbers = re.findall(r"(?<![\w.])-?\d{1,18}(?![\w.])", expression)
    return int(numbers[0]) if len(numbers) == 1 else None


def _wrapped(case: FailureCase) -> dict[str, Any]:
    """Return the node that was run, and the exception that torch raises for such a condition, where another wraps it."""
    failure = case.failure
    facts: dict[str, Any] = {}
    if failure.node is not None:
        facts["failed_node"] = {"op": failure.node.opcode, "target": failure.node.target}
    kinds = (failure.class_name, *failure.inner_names)
    if failure.exception_type is not None and _GUARD not in kinds and "Could not guard on" in failure.text:
        facts["wrapped_kind"] = _GUARD
    return facts


def fixes(found: Undecided, code: str | None = None) -> list[str]:
    """Say how the condition can be decided.

    Args:
        found: the condition.
        code: the user's line that asks, where it is known.
    """
    if not found.checks and found.expression in found.symbols:
        return [
            (
                f"code needs the number behind {found.expression}, not a condition on it: keep it a tensor or a symbolic "
                "size, or make it an argument that is known while tracing"
            )
        ]
    checks = found.checks or checks_for(found.expression, code) or ()
    if checks:
        return [
            f"before that line, whichever always holds: {' or '.join(checks)}",
            "torch.cond for both branches, or torch.where without a branch, if neither does",
        ]
    if asks_truth(found.expression, code):
        return [
            "the line branches on the truth of a tensor: torch.cond for both branches, or torch.where without one"
        ]
    if TRUTH.fullmatch(found.expression):
        return [
            (
                "torch.cond for both branches, or torch.where without one; if the line compares a number and no tensor, "
                "torch._check(...) of the condition before it, if that always holds"
            )
        ]
    return [
        "torch._check(...) of the condition before that line, if it always holds; torch.cond for both branches if not"
    ]


def _zero_one(found: Undecided) -> tuple[str, ...]:
    text = found.expression
    asked = text.startswith(("Eq(", "Ne(")) and text.endswith((", 1)", ", 0)"))
    if asked and found.size_like and set(found.symbols) & set(found.size_like):
        return ("torch asks whether a size is 0 or 1, which it treats apart (0/1 specialization)",)
    return ()


def _caused(caused: Caused) -> str:
    where = caused.generated or caused.location or ""
    return f"{caused.code}  # {where}" if caused.code else f"{where} in {caused.function}"


def _facts(caused: Caused) -> dict[str, Any]:
    node = caused.code.partition(" = ")[0] if caused.code and " = " in caused.code else None
    return {
        "code": caused.code,
        "node": node,
        "generated_location": caused.generated,
        "library_location": caused.location,
        "function": caused.function,
    }


RULE = Rule("AL506", "data-dependent", __doc__ or "")
