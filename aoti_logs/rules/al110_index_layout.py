"""The index tensor is not laid out, or not as long, as the code was compiled for.

## What it says
The kernel walks over the memory of the index input by the strides and the length that it was compiled
for. Nothing tests either when an AOTInductor model runs, so `idx[::2]`, a transposed index, or an index
shorter than its partner is read at the wrong places: numbers that nobody passed are checked, and fail.

## Why it matters
Every index that the caller sees is legal. Like int32 ids (AL106) it looks like bad data.

## Evidence it needs
The launch, to know that the index is an input of the model. Proven when the value printer shows other
strides than the wrapper's check of them; excluded when it shows the same, when
`AOTI_RUNTIME_CHECK_INPUTS` was on, or under torch.compile, which guards the layout; else possible.

## What to do
Pass `idx.contiguous()`; run once with `AOTI_RUNTIME_CHECK_INPUTS=1`, which says `unmatched stride value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import ArgumentKind, CheckKind
from aoti_logs.explain import Confidence, Verdict
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.wording import is_aot, main_index, print_hint, tensor_name

if TYPE_CHECKING:
    from aoti_logs.code.case import IndexCase
    from aoti_logs.code.model import InputCheck
    from aoti_logs.code.view import Tensor


def judge(case: IndexCase) -> Verdict | None:
    """Apply when an input of the model is the index and nothing tested its layout."""
    source = main_index(case)
    if not case.sites or source is None or source.tensor is None or not is_aot(case):
        return None
    if source.tensor.kind is not ArgumentKind.INPUT:
        return None
    checks = [c for c in (case.view.wrapper.checks if case.view else ()) if c.tensor == source.tensor.arg]
    strides = [c for c in checks if c.kind is CheckKind.STRIDE and c.dim is not None]
    if strides and (case.checks_on or not all(c.gated for c in strides)):
        return None
    return _of(case, source.tensor, strides)


def _of(case: IndexCase, tensor: Tensor, checks: list[InputCheck]) -> Verdict | None:
    name = tensor_name(tensor)
    fixes = (f"pass {name} as a contiguous tensor: `.contiguous()`",)
    dump = next(
        (d for d in reversed(case.numbers.dumps) if d.argument == tensor.arg and d.stride is not None), None
    )
    if dump is not None and dump.stride is not None and checks:
        given = dump.stride
        wrong = [
            c for c in checks if c.dim is not None and c.dim < len(given) and str(given[c.dim]) != c.expected
        ]
        if not wrong:
            return None
        return Verdict(
            "AL110",
            f"{name} was given with strides {list(given)}, and the code reads it with {wrong[0].expected} "
            f"in dimension {wrong[0].dim}",
            case.strength,
            (f"{tensor.arg} was printed with stride {list(given)} ({dump.span.place})",),
            fixes=fixes,
        )
    because = (
        f"the model walks over {name} by the strides that it was compiled for, and nothing tests them",
    )
    decide = [print_hint(f"the strides of {name}")]
    if checks:
        decide.insert(0, "AOTI_RUNTIME_CHECK_INPUTS=1 names a stride that differs")
    title = f"{name} may not be laid out as compiled (a slice with steps, a transpose, or shorter than its partner)"
    return Verdict("AL110", title, Confidence.POSSIBLE, because, tuple(decide), fixes)


RULE = Rule("AL110", "index-layout", __doc__ or "", judge)
