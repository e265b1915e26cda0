"""A function was compiled as often as it may be.

## What it says
Dynamo compiles a function again when a guard of every earlier compile fails, at most 8 times
(`recompile_limit`, before torch 2.7 `cache_size_limit`). The finding names the function, the limit, and why
the last compile did not fit.

## Why it matters
From then on a call that fits none of the compiles runs without being compiled, and so do the functions that it calls,
silently but for one warning: the program is right, and slow. Calls that fit go on with what is compiled. With
`fullgraph=True`, or with `fail_on_recompile_limit_hit` (before torch 2.7 `fail_on_cache_limit_hit`), it is an error.

The limit counts the compiles for one object (a module); `accumulated_recompile_limit`, 256, counts those of one function
for all objects together.

## Example
`torch._dynamo hit config.recompile_limit (2)`, last reason `tensor 'x' size mismatch at index 0. expected 3,
actual 4`: the function sees another length at every call.

What changed is grouped over all times that are known, so that eight reasons for one growing number are one.

## Evidence it needs
The warning in a log (with TORCH_LOGS=recompiles also the reasons before the last), or the metrics of the compile that was refused, with `recompile_reasons` in a trace. In a
trace the exception `FailOnRecompileLimitHit` tells that it was an error.

## What to do
Mend what the reason names: `torch._dynamo.mark_dynamic(x, 0)` for a size, a tensor instead of a Python number
that changes, `torch._dynamo.config.allow_unspec_int_on_nn_module = True` for an integer that is an attribute of a module. Raising the limit only helps when the number of variants is known and small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Experiment, Link
from aoti_logs.parse.compiles.failure import Limit
from aoti_logs.parse.guards.recompile_reason import read_recompile_reason
from aoti_logs.rules.failure_case import Reached, Told
from aoti_logs.rules.recompile_words import advice, reason_facts, reason_text
from aoti_logs.rules.recompiles import changes_of
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.rules.failure_case import FailureCase
    from aoti_logs.rules.recompiles import Change

_NAMED = 3
_TELLING = 2  # so many reasons show whether it is one thing that changes


def tell(case: FailureCase) -> Told:
    """Name the function, the limit and the reasons, those of one cause together."""
    limit = case.failure.detail if isinstance(case.failure.detail, Limit) else Limit(None, None)
    number = limit.limit if limit.limit is not None else case.facts.get("limit")
    name = f"`{limit.function}`" if limit.function else case.what
    most = f"the limit of {number} compiles" if number is not None else "the limit of compiles"
    most += " for all objects together" if (limit.config or "").startswith("accumulated") else ""
    raised = case.reached is Reached.RAISED
    after = (
        "and that is an error here" if raised else "and runs uncompiled from now on where none of them fits"
    )
    texts = case.facts.get("reasons") or ([limit.last_reason] if limit.last_reason else list(limit.reasons))
    last = read_recompile_reason(texts[0]) if texts else None
    changes = _changes(case, limit)
    links: tuple[Link, ...] = ()
    if limit.last_reason:
        row = case.failure.text.count("\n", 0, max(case.failure.text.find(limit.last_reason), 0))
        links = (Link("reason", reason_text(last) if last else limit.last_reason, case.place_of(row)),)
    facts = {
        "config": limit.config,
        "limit": number,
        "function": limit.function or (case.function.name if case.function else None),
        "file": limit.file or (case.function.file if case.function else None),
        "line": limit.line or (case.function.line if case.function else None),
        "last_reason": reason_facts(last) if last else None,
        "reasons_distinct": list(dict.fromkeys(limit.reasons)),
        "changed": [change.facts() for change in changes],
    }
    if limit.reasons:
        facts["n_reasons"] = len(limit.reasons)
    reasons = [reason for change in changes for reason in change.reasons]
    command = case.facts.pop("command", None)
    return Told(
        f"{name} reached {most}, {after}",
        because=_because(changes, last),
        links=links,
        facts=facts,
        fixes=advice([*([last] if last else []), *reasons]),
        experiments=(_log_reasons(command),) if command and len(reasons) < _TELLING else (),
    )


def _changes(case: FailureCase, limit: Limit) -> list[Change]:
    """Group what is known of all times that the function was compiled again."""
    history = case.facts.pop("history", None) or []
    if not history:
        # Each text is the reason of one earlier compile; torch before 2.7 lists those of all.
        history = [[read_recompile_reason(text)] for text in limit.reasons]
    return changes_of(history)


def _because(changes: list[Change], last: RecompileReason | None) -> tuple[str, ...]:
    told = [f"the last compile did not fit: {reason_text(last)}"] if last else []
    total = sum(len(change.reasons) for change in changes)
    if total > 1:
        told += [f"{len(c.reasons)} of {total} compiles did not fit for {c.words}" for c in changes[:_NAMED]]
    return tuple(told)


def _log_reasons(command: str) -> Experiment:
    return Experiment(
        command,
        (("TORCH_LOGS", "recompiles"),),
        "compile",
        "each compile after the first one is then logged with its reason: what changes every time, and its values",
        "torch/_logging reads it when torch is imported; Dynamo logs what guard failed whenever it compiles again",
    )


RULE = Rule("AL502", "recompile-limit", __doc__ or "")
