"""A gradient of a gradient was asked for, through code that torch.compile made.

## What it says
AOTAutograd compiles a forward and one backward. A second derivative through that backward is refused.

## Why it matters
The first backward works; the error comes at the second `torch.autograd.grad` or `backward()`, far from the function that is
compiled: gradient penalties, forces of an energy that is trained on, physics-informed networks.

## Example
`RuntimeError: torch.compile with aot_autograd does not currently support double backward`

## Evidence it needs
The exception in a log.

## What to do
Leave what is differentiated twice out of `torch.compile`, or use a backend without AOTAutograd (`backend="eager"`). Compile
the parts around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_SAID = "torch.compile with aot_autograd does not currently support double backward"


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell of a second derivative through compiled code."""
    if _SAID not in case.error.message:
        return None
    return ErrorTold(
        "AL622",
        "double_backward",
        "a second derivative was asked for through compiled code, and AOTAutograd has none",
        because=("a compiled function has one backward; that backward has no gradient of its own",),
        fixes=(
            (
                "leave the function that is differentiated twice uncompiled (torch.compiler.disable), or compile it with "
                'backend="eager", which has no AOTAutograd'
            ),
        ),
        decide=("which call asks: the outermost torch.autograd.grad or backward() of the traceback",),
    )


RULE = Rule("AL622", "double-backward", __doc__ or "")
