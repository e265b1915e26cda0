"""The data broke a promise that the code was compiled with.

## What it says
Which condition does not hold. It comes from a `torch._check(...)` in the model, or from a range that a size was exported
with; the generated code tests it when it runs.

## Why it matters
The exception's text is the bare condition (`u0 <= 4`), without a word that it is a check. It is neither a bug of the
compiled code nor of the compile: the code was told that such data does not come.

## Example
`RuntimeError: u0 <= 4` raised by `raise RuntimeError('u0 <= 4')` in generated code.

## Evidence it needs
The exception with the statement in the generated code, or the text `Runtime assertion failed for expression`.

## What to do
Give data for which the condition holds, or compile again with a wider promise. `TORCH_LOGS=dynamic` tells where the
symbol was made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment
from aoti_logs.parse.asserts.generated_assert import read_runtime_check
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.error_case import ErrorCase

_UNBACKED = re.compile(r"\b[uf]\d+\b")


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell which condition does not hold."""
    error = case.error
    found = read_runtime_check(error)
    if found is None:
        return None
    symbols = tuple(dict.fromkeys(_UNBACKED.findall(found.expression)))
    because = ["the compiled code tests this when it runs, because the compile took it for granted"]
    if symbols:
        because.append(f"{', '.join(symbols)}: a number that comes out of the data (`.item()`, `nonzero`)")
    return ErrorTold(
        "AL617",
        "runtime_assert",
        f"the data does not keep a promise of the compile: {found.expression}",
        because=tuple(because),
        facts={"expression": found.expression, "node": found.node, "unbacked_symbols": list(symbols)},
        decide=("which `torch._check` or which range of a dynamic size says this",),
        experiments=(
            Experiment(
                case.command,
                (("TORCH_LOGS", "dynamic"),),
                "compile",
                "tells where each symbol was made and which checks were taken over",
                "torch/fx/experimental/symbolic_shapes.py logs `create_unbacked_symbol` and runtime asserts",
            ),
        ),
    )


RULE = Rule("AL617", "runtime-assertion", __doc__ or "")
