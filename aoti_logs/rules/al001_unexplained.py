"""Something failed, and no rule knows its cause yet.

## What it says
The log holds an error that follows from nothing else in it. It is quoted with its place, and the
errors after it stand under it. No cause is named.

## Why it matters
A tool that guesses where it knows nothing costs more than one that is silent.

## Evidence it needs
An error text: a Python exception, `terminate called`, a CUDA error, an error of the AOTInductor
runtime, a signal.

## What to do
Read the quoted place. If the failure is common, open an issue with the log: a rule can learn it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase
    from aoti_logs.explain import Verdict


def judge(case: IndexCase) -> Verdict | None:
    """Never apply to a bounds check; `rules/other_failures.py` makes its findings."""
    del case
    return None


RULE = Rule("AL001", "unexplained-failure", __doc__ or "", judge)
