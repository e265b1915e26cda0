"""A number that is read from data is used as a size or an offset, and no assertion tests it.

## What it says
Which unbacked symbols (`u0`) the code reads out of a tensor (`.item()`), and that no `Expected u0 <= ...` of the generated
code speaks of them.

## Why it matters
A negative or too large number becomes a size of memory or an address. Eager tests such numbers in every operator,
compiled code only where an assertion was compiled in.

## Example
`u0 is read from data (buf1.item()) and no assertion of the code tests it`

## Evidence it needs
The wrapper of an AOTInductor model. Sizes of tensors that data decides (`nonzero`) are right by themselves, and not told.

## What to do
`torch._check(u0 >= 0)` and `torch._check(u0 <= limit)` in the model become assertions. They are left out when the
model is compiled with `TORCHINDUCTOR_SCALAR_ASSERTS=0`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.sizes.evidence import Enforced
from aoti_logs.code.sizes.missing_checks import Gap
from aoti_logs.rules.model_case import MOST_LINKS, ModelCase, listed
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Finding

RULE = Rule("AL717", "data-size-unasserted", __doc__ or "")


def tell_model(case: ModelCase) -> Iterator[Finding]:
    """Speak of numbers from data without an assertion."""
    view = case.aot
    if view is None:
        return
    found = []
    for gap in view.missing_checks:
        size = view.sizes.get(gap.symbol or "")
        if gap.gap is Gap.UNBACKED and size is not None and size.dim is None:
            found.append((gap, size))
    if not found:
        return
    confidence, doubt = case.absent
    names = listed(f"`{gap.symbol}`" for gap, _ in found)
    one = len(found) == 1
    origin = f" ({view.symbols.definition(found[0][1])})" if one else ""
    yield case.finding(
        "AL717",
        "data_size_unasserted",
        f"{names} {'is' if one else 'are'} read from data{origin} and no assertion of the code tests {'it' if one else 'them'}",
        warning=True,
        confidence=confidence,
        facts={"unasserted": [gap.symbol for gap, _ in found], "enforced": str(Enforced.NEVER)},
        links=[case.link("value", size.line, size.text) for _, size in found[:MOST_LINKS]],
        because=("a negative or too large number becomes a size of memory, or an address",),
        fixes=(
            f"torch._check({found[0][0].symbol} >= 0) and torch._check({found[0][0].symbol} <= its limit) in the model, then compile again",
        ),
        doubt=doubt,
    )
