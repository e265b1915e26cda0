"""An operator refused the shapes or dtypes that it was given while tracing.

## What it says
Tracing runs every operator on fake tensors: shapes and dtypes without data. One of them raised, and the
finding quotes the operator, what it said, and the line of the user's code.

## Why it matters
Eager mode mostly fails at the same line with the same text: the sizes do not fit. The compile is only where
it shows first.

## Example
`matmul` of [3, 4] and [5, 6]: `a and b must have same reduction dim, but got [3, 4] X [5, 6].`

## Evidence it needs
The metrics of the compile, the exception in a log, or the log message `failed while attempting to run meta
for OP`. From that message alone it is likely, not proven: the program may have caught the exception.

## What to do
Run the function without `torch.compile` on the same inputs. If it fails too, mend the sizes at the quoted
line. If it does not, the fake kernel of the operator is wrong: a custom operator's own, or a bug of torch.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.failure import NodeCall
from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.operators import is_custom
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase


_CUSTOM = "it is no operator of PyTorch: either its inputs do not fit, or its fake kernel is wrong"
_DECIDE = "run the same inputs without torch.compile: if that fails too, the inputs do not fit"
_OTHER = "run the same inputs without torch.compile: if that works, what is called there does not work with fake tensors"
_REFUSALS = {
    None,
    "RuntimeError",
    "ValueError",
    "IndexError",
    "AssertionError",
    "TypeError",
    "TorchRuntimeError",
}
"""What operators raise about their inputs; anything else (`AttributeError`) is about the code that was called."""
_FUNCTION = re.compile(r"<(?:built-in )?(?:function|method) (\S+)(?: of [^>]*)?>")


def tell(case: FailureCase) -> Told:
    """Say which operator refused what."""
    failure = case.failure
    node = failure.detail if isinstance(failure.detail, NodeCall) else None
    called = _FUNCTION.sub(r"\1", failure.operator) if failure.operator else None
    name = f"`{called}`" if called else "an operator"
    of = f" in {case.what}" if case.function is not None else ""
    custom = is_custom(failure.operator)
    inner = failure.inner_names[-1] if failure.inner else None
    refused = (
        f"{name} refused its inputs" if inner in _REFUSALS else f"{name} failed on fake tensors with {inner}"
    )
    raised = f"the fake kernel of {name} raised {' '.join(failure.inner_names[-1:]) or 'an error'}"
    return Told(
        f"{raised if custom else refused}{of}: {failure.message}",
        facts={
            "op": failure.operator,
            "inner_message": failure.message,
            "node": {"op": node.opcode, "target": node.target} if node else None,
        },
        because=(_CUSTOM,) if custom else (),
        decide=(_DECIDE if inner in _REFUSALS else _OTHER,),
    )


RULE = Rule("AL604", "operator-refused-its-inputs", __doc__ or "")
