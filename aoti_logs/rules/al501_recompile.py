"""A function was compiled again.

## What it says
Dynamo compiles a function again when a guard of every earlier compile fails. The note names the function and
what changed (a size, a dtype, a Python number), quotes the reason of each time, and says what would keep it
from happening. One note for each function.

## Why it matters
A recompile costs seconds to minutes, and at the limit (AL502) the function is not compiled any more. One
recompile for a first change of a size, or of a number that is an argument (floats from torch 2.6 on), is how torch finds out
what is dynamic: that is not a fault. Sizes 0 and 1, integer attributes of modules, sizes of parameters, strings, lengths of lists and
identities of objects never become dynamic by themselves.

## Example
`tensor 'x' size mismatch at index 0. expected 4, actual 5`, then `n == 1`.

With `error_on_recompile`, or under the stance `fail_on_recompile`, the first recompile is an error.

## Evidence it needs
`recompile_reasons` in a trace (torch 2.5 and later), TORCH_LOGS=recompiles in a log, or the text of the
exception. A trace of torch 2.4 tells that a function was compiled again (ids `0/1`, `0/2`), and not why.

## What to do
`torch._dynamo.mark_dynamic(x, 0)` for a size that varies (an error where a line makes it a constant;
`maybe_mark_dynamic` is none), a tensor for a number that varies, one dtype, one layout. `TORCH_LOGS=recompiles` shows the reasons while the program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Link
from aoti_logs.parse.guards.logged_recompile import HEAD, STANCE, read_recompiles
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.log_failures import text_places
from aoti_logs.rules.logged_recompiles import logged_recompiles
from aoti_logs.rules.recompile_words import advice, newest_first, reason_facts, reason_text
from aoti_logs.rules.recompiles import changes_of
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Finding
    from aoti_logs.rules.error_case import ErrorCase
    from aoti_logs.rules.log_notes import LogCase

_STANCE = "torch.compiler.set_stance('fail_on_recompile')"
_CONFIG = "torch._dynamo.config.error_on_recompile"


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield a note for each function that a log says was compiled again."""
    yield from logged_recompiles(case.events, case.source)


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell of a recompile that is an error because somebody asked for that."""
    text = case.error.text
    if not text.startswith((HEAD, STANCE)):
        return None
    found = read_recompiles(text)
    if not found:
        return None
    recompile = found[0]
    reasons = newest_first(recompile.reasons)
    changes = changes_of([reasons])
    places = text_places(case.error)
    links = [
        Link("recompile", reason_text(reason), places[row] if row < len(places) else case.error.span.place)
        for reason, row in zip(recompile.reasons, recompile.rows, strict=True)
    ]
    what = changes[0].words if changes else "nothing that is recorded"
    asked = _STANCE if text.startswith(STANCE) else _CONFIG
    return ErrorTold(
        code="AL501",
        kind="recompile",
        title=f"`{recompile.function}` would have to be compiled again, which is an error here; what changed: {what}",
        because=(f"{asked} makes every recompile an error",),
        links=tuple(links),
        facts={
            "function": recompile.function,
            "file": recompile.file,
            "line": recompile.line,
            "n_reasons": len(reasons),
            "reasons": [reason_facts(reason) for reason in reasons],
            "changed": [change.facts() for change in changes],
        },
        fixes=advice(reasons[:1]),
    )


RULE = Rule("AL501", "recompile", __doc__ or "")
