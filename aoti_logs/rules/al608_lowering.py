"""Inductor could not lower an operator.

## What it says
The graph was traced; while Inductor turned an operator into its own form, an exception was raised. The finding
names the operator, its arguments, and the exception inside.

## Why it matters
The operator works in eager mode and in the trace. Either Inductor has no lowering for these arguments, or the
arguments are ones that no implementation could take (an index into an empty tensor).

## Example
`LoweringException: AssertionError` with `target: aten.embedding.default` and `args[4]: True`: sparse
embeddings are not supported.

## Evidence it needs
The metrics of the compile or the exception in a log.

## What to do
Compile with `backend="aot_eager"`, or run the exported program's `module()`: both run the same graph without
Inductor. If that works, change the call so that the quoted arguments do not occur, or exclude it with `torch.compiler.disable`, and report it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.parse.compiles.failure import Lowered
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from typing import Any

    from aoti_logs.parse.compiles.failure import LoweredTensor
    from aoti_logs.rules.failure_case import FailureCase

_SHOWN = 8


def tell(case: FailureCase) -> Told:
    """Name the operator and what was raised."""
    failure = case.failure
    lowered = failure.detail if isinstance(failure.detail, Lowered) else None
    inner = (
        failure.inner_names[-1] if failure.inner and failure.inner_names[-1] != "LoweringException" else None
    )
    said = ": ".join(part for part in (inner, failure.message) if part)
    target = f"`{lowered.target}`" if lowered else "an operator"
    args = lowered.args if lowered else ()
    details = tuple(f"args[{n}]: {' '.join(text.split())[:160]}" for n, text in args[:_SHOWN])
    tensors = {t.index: _tensor(t) for t in lowered.tensors} if lowered else {}
    at = failure.text.find("target: ")
    row = failure.text.count("\n", 0, max(at, 0))
    return Told(
        f"inductor cannot lower {target} in {case.what if case.function else 'the graph'}: {said}",
        links=(Link("operator", lowered.target, case.place_of(row), details=details),) if lowered else (),
        facts={
            "target": lowered.target if lowered else None,
            "n_args": len(args),
            "args": [{"index": n, "value": " ".join(text.split()), **tensors.get(n, {})} for n, text in args],
            "kwargs": lowered.kwargs if lowered else None,
            "inner_message": failure.message,
        },
        fixes=_choices(said),
        decide=(
            'compile with backend="aot_eager", or run the exported program itself: if that works, lowering is at fault',
        ),
    )


def _choices(said: str) -> tuple[str, ...]:
    """Say what it means that autotuning had no kernel left to choose."""
    if "NoValidChoicesError" not in said and not said.startswith("No choices to select"):
        return ()
    return (
        (
            "no kernel was left to choose: each candidate was refused before, or none exists for these dtypes and this "
            "device; messages above (`for benchmark choice`, `Ignoring this choice`) say why each was"
        ),
        "add ATEN to the setting that the message names, if the operator has an ATen kernel (flex_attention has none)",
    )


def _tensor(found: LoweredTensor) -> dict[str, Any]:
    return {
        "buffer": found.buffer,
        "device": found.device,
        "dtype": found.dtype,
        "size": list(found.size) if found.size is not None else None,
        "stride": list(found.stride) if found.stride is not None else None,
    }


RULE = Rule("AL608", "lowering-failed", __doc__ or "")
