"""The runtime of a compiled model warns and goes on.

## What it says
An input that is not aligned as the code was compiled for, and is copied at every call; a constant that an update of the
weights did not give, so that it stays as compiled; a library made by an older torch, which lacks a function that the
runner knows. Each is a note.

## Why it matters
Such a line explains a slow model, a weight that did not change, or a function that fails later, and looks like noise.

## Example
`[WARNING] Found constant or module state buffer or empty module state parameter running_mean in model, but not provided
by user!`

## Evidence it needs
The line.

## What to do
Give inputs that begin at a multiple of 16 bytes (`x[1:]` does not); give every constant that is meant to change; compile
again with the torch that serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.aoti.facts import ConstantError, DlopenError, UnalignedInput
from aoti_logs.parse.events import ErrorForm
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import ErrorText
    from aoti_logs.rules.log_notes import LogCase


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for each thing that is warned of, with how often."""
    groups: dict[str, list[tuple[ErrorText, str, dict[str, Any]]]] = {}
    for error in case.events.errors:
        told = _told(error) if error.form is ErrorForm.WARNING else None
        if told is not None:
            title, facts = told
            groups.setdefault(title, []).append((error, title, facts))
    for rows in groups.values():
        error, title, facts = rows[0]
        yield Finding(
            rule="AL220",
            kind="aoti_warning",
            role="note",
            severity="note",
            confidence=Confidence.PROVEN,
            title=title,
            facts={**facts, "n_lines": len(rows), "message": error.message},
            rank=error.rank if error.rank is not None else case.source.rank,
            log=case.source.name,
            chain=(Link("warning", error.message, error.span.place),),
            verdicts=(Verdict("AL220", title, Confidence.PROVEN),),
        )


def _told(error: ErrorText) -> tuple[str, dict[str, Any]] | None:
    detail = error.detail
    if isinstance(detail, UnalignedInput):
        title = f"input {detail.index} is not aligned to {detail.alignment} bytes, so every call copies it"
        return title, {"input_index": detail.index, "alignment": detail.alignment}
    if isinstance(detail, ConstantError) and detail.problem == "not_provided":
        return f"an update of the weights does not give `{detail.name}`, which stays as it is", {
            "constant": detail.name
        }
    if isinstance(detail, ConstantError) and detail.problem == "folding":
        return "constants are folded in a model that was compiled without that", {}
    if isinstance(detail, DlopenError) and detail.library is None:
        title = (
            f"the model's library has no `{detail.undefined_symbol}`: an older torch made it than loads it"
        )
        return title, {"undefined_symbol": detail.undefined_symbol}
    return None


RULE = Rule("AL220", "runtime-warning", __doc__ or "")
