"""An operator got tensors that are distributed together with some that are not.

## What it says
An operator has a DTensor among its inputs and a plain tensor beside it. The finding names the operator.

## Why it matters
With FSDP2 and tensor parallelism parameters are DTensors. A plain tensor beside one is a part of the model that was not
parallelized, a module used outside of the forward that gathers its parameters (a method of its own, a hook, an optimizer),
or an input that was not distributed.

## Example
`RuntimeError: aten.embedding.default: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before
calling distributed operators!`

## Evidence it needs
The exception in a log. Which of the inputs is the plain one it does not say.

## What to do
Shard the module that holds the other tensor too, or call the model by its forward and not by a method inside of it
(`register_fsdp_forward_method` makes a method of it that gathers), or distribute the input (`distribute_tensor`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_MIXED = re.compile(r"(?P<op>[\w:]+(?:\.\w+)*): got mixed torch\.Tensor and DTensor")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell which operator got both kinds of tensors."""
    found = _MIXED.search(case.error.message[:4096])
    if found is None:
        return None
    op = found["op"]
    return ErrorTold(
        "AL624",
        "mixed_dtensor",
        f"`{op}` got a distributed tensor (DTensor) together with a plain one",
        because=("which input is the plain one is not told",),
        facts={"op": op},
        decide=("print the types of the inputs just before the quoted line",),
        fixes=(
            "shard the module that holds the plain tensor too, or distribute the input (distribute_tensor)",
            (
                "with FSDP2 call the model by its forward: a method inside of it does not gather parameters unless "
                "register_fsdp_forward_method names it"
            ),
        ),
    )


RULE = Rule("AL624", "mixed-dtensor", __doc__ or "")
