"""The backward of a function did not compile, and torch went on without it.

## What it says
With dynamic shapes AOTAutograd tries to compile the backward together with the forward, and when that fails it
keeps quiet in case no backward is needed. The finding quotes the exception that it kept.

## Why it matters
The forward works. The first `backward()` compiles again and fails then, far from the cause.

## Example
`eager_compile_backwards_failure`: `RuntimeError: no backward for you`.

## Evidence it needs
`eager_compile_backwards_failure` in a trace. Where the later compile of the backward failed, too, that is the
finding, and this is a link of its chain.

## What to do
As for a failure of the forward: read the exception. Run under `torch.no_grad()` if no gradient is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.logs.log import read_log
from aoti_logs.parse.traces.payload_text import payload_source
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.events import ErrorText
    from aoti_logs.parse.traces.outcomes import Outcome
    from aoti_logs.records.record import TraceRecord


def raised(record: TraceRecord) -> ErrorText | None:
    """Return the last exception that a payload's traceback shows."""
    errors = read_log(payload_source(record)).errors
    return errors[-1] if errors else None


def kept_quiet(record: TraceRecord, outcome: Outcome, rank: int | None) -> Finding:
    """Return the warning of one backward."""
    error = raised(record)
    failure = read_failure(error.exception_type, error.text) if error is not None else None
    said = (
        ": ".join(t for t in ((failure.class_name or ""), failure.message) if t)
        if failure
        else "an exception"
    )
    frame = outcome.frame
    name = f"`{frame.name}`" if frame is not None and frame.name else "a function"
    title = f"the backward of {name} did not compile, and torch went on: {said}"
    place = error.span.place if error is not None else record.place
    verdict = Verdict(
        "AL609",
        title,
        Confidence.PROVEN,
        ("torch keeps this exception to itself in case no backward is needed",),
    )
    return Finding(
        rule="AL609",
        kind=str(failure.kind) if failure is not None else "compile_failed",
        role="note",
        severity="warning",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "compile_id": outcome.compile_id,
            "function": frame.name if frame is not None else None,
            "message": error.text if error is not None else None,
            "exception_type": failure.exception_type if failure is not None else None,
        },
        rank=rank,
        log=record.index.source.name,
        chain=(
            Link("kept quiet", "eager_compile_backwards_failure", record.place),
            Link("exception", said, place),
        ),
        verdicts=(verdict,),
    )


RULE = Rule("AL609", "backward-not-compiled", __doc__ or "")
