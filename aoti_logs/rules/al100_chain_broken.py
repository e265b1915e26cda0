"""A bounds check failed, but its kernel is not at hand.

## What it says
The log holds a failed bounds check of generated code, and nothing that was given holds the kernel
that printed it: no wrapper, no package, no trace, no cache file. The assertion itself is read; what
`ks0` is, which input it measures and which line of Python it came from cannot be told.

## Why it matters
The text of an assertion repeats from kernel to kernel. Guessing from the text alone names the
wrong tensor as easily as the right one, so nothing is guessed. On a CPU the text names the kernel, and
the kernel is named after the operators that are fused in it; they are listed where the name has one reading.

## Evidence it needs
A failed bounds check. It applies only when no kernel was found.

## What to do
Pass what the compile left behind with `--context`: the `.pt2`, the inductor cache folder
(`TORCHINDUCTOR_CACHE_DIR`), or a folder recorded with `TORCH_TRACE=dir` when compiling. For
torch.compile a run with `TORCH_LOGS=output_code` in the log is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.names.fused_operators import fused_operators
from aoti_logs.explain import Confidence, Verdict
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase


def judge(case: IndexCase) -> Verdict | None:
    """Apply when there is no kernel."""
    if case.sites:
        return None
    text = case.assertion.text
    bound = text.bound if text and text.bound else None
    because = ["no generated code at hand holds this check"]
    if text is not None and text.bound_value is not None:
        because.append(
            f"the bound {bound} is a number: the length of a table with that many rows, or of a range"
        )
    elif text is not None and text.bound_symbols:
        because.append(f"the bound {bound} holds sizes that the launch of the kernel tells")
    operators = fused_operators(case.assertion.function or "")
    if operators is not None:
        because.append(
            f"its kernel is named after the operators that are fused in it: {', '.join(operators)}"
        )
    return Verdict(
        "AL100",
        "an index is out of bounds in a kernel that is not at hand",
        Confidence.UNKNOWN,
        tuple(because),
    )


RULE = Rule("AL100", "chain-broken", __doc__ or "", judge)
