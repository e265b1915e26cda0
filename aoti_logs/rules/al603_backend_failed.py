"""The backend of `torch.compile` raised an exception.

## What it says
Dynamo had traced the function; the backend that was given the graph (`inductor`, or one of the user's)
failed. The finding names the backend and the exception inside.

## Why it matters
The user's code is not at fault as far as Dynamo can tell: the graph is whole. What failed is what was made
of it.

## Example
`backend='bad_backend' raised: RuntimeError: backend exploded`

## Evidence it needs
The metrics of the compile or the exception in a log. Where the inner exception has a rule of its own
(a C++ compiler, lowering), that rule speaks instead.

## What to do
`backend="eager"` runs the traced graph without a backend, `backend="aot_eager"` with AOTAutograd only: the
first of them that fails shows which part is at fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.failure_case import Told
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.rules.failure_case import FailureCase


def tell(case: FailureCase) -> Told:
    """Say which backend failed on what."""
    failure = case.failure
    backend = f"backend `{failure.backend}`" if failure.backend else "the backend"
    name = failure.inner_names[-1] if failure.inner else None
    said = ": ".join(part for part in (name, failure.message) if part) or "it gives no text"
    return Told(
        f"{backend} failed on {case.what if case.function else 'the graph'}: {said}",
        decide=(
            'compile with backend="eager", then with backend="aot_eager": the first that fails is at fault',
        ),
    )


RULE = Rule("AL603", "backend-failed", __doc__ or "")
