"""A function was compiled again.

## What it says
Dynamo compiles a function again when a guard of every earlier compile fails. The note names the function and
what changed (a size, a dtype, a Python number), quotes the reason of each time, and says what would keep it
from happening. One note for each function.

## Why it matters
A recompile costs seconds to minutes, and at the limit (AL502) the function is not compiled any more. One
recompile for a first change of a size is how torch finds out what is dynamic: that is not a fault.

## Example
`tensor 'x' size mismatch at index 0. expected 4, actual 5`, then `n == 1`.

## Evidence it needs
`recompile_reasons` in a trace (torch 2.5 and later).

## What to do
`torch._dynamo.mark_dynamic(x, 0)` for a size that varies, a tensor for a number that varies, one dtype, one
layout. `TORCH_LOGS=recompiles` shows the reasons while the program runs.
"""

from __future__ import annotations

from aoti_logs.rules.rule import Rule

RULE = Rule("AL501", "recompile", __doc__ or "")
