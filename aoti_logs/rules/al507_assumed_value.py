"""A draft export decided a condition by its example.

## What it says
`torch.export.draft_export` does not stop at a condition on data: it takes what the example says and goes on.
The finding lists each such condition with its result and its line. Fake kernels that are missing or that
contradict the real ones are noted under AL605.

## Why it matters
The exported program is right for inputs that decide the same way, and refuses others when it runs (torch adds
an assertion).

## Example
`u0 > 5` was taken as `False` at `if n > 5: return x[:n]`.

## Evidence it needs
`propagate_real_tensors_provenance` in the trace that draft_export writes (to a file of its own), or its report
in a log.

## What to do
Say it in the model: `torch._check(n <= 5)` before the line makes the assumption the model's own. If both
outcomes occur, use `torch.cond`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.compiles.data_dependent import symbols_in
from aoti_logs.parse.graphs.partial_graph import user_frame
from aoti_logs.parse.sizes.shape_log import decisions, shapes_in
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import frame_facts, frame_words, several

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.parse.sizes.shape_log import Decision, ShapeLine
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.rules.log_notes import LogCase

_SHOWN = 12


def assumptions(trace: TraceIndex, rank: int | None) -> list[Finding]:
    """Return one note for all conditions that draft exports of a trace decided."""
    records = [r for r in trace.find("propagate_real_tensors_provenance") if isinstance(r.metadata, dict)]
    if not records:
        return []
    rows = [_row(record) for record in records]
    links = tuple(
        Link("assumed", f"{row['expression']} is {row['result']}", record.place, details=_details(row))
        for record, row in list(zip(records, rows, strict=True))[:_SHOWN]
    )
    return [note(rows, links, trace.source.name, rank)]


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield one note for what a log says was taken from real data, where no report of the draft export tells it."""
    if any(f.rule == "AL507" for f in case.told):
        return
    by_rank: dict[int | None, list[tuple[ShapeLine, Decision]]] = {}
    for line, said in decisions(shapes_in(case.events.messages)):
        if said.entry == "propagate_real_tensors" and symbols_in(said.expression or ""):
            by_rank.setdefault(line.message.rank, []).append((line, said))
    for rank, told in by_rank.items():
        rows = [
            {"expression": said.expression, "result": said.result, "user_frame": None, "code": None}
            for _, said in told
        ]
        links = tuple(
            Link("assumed", f"{said.expression} is {said.result}", line.message.span.source.place(line.line))
            for line, said in told[:_SHOWN]
        )
        yield note(rows, links, case.source.name, rank if rank is not None else case.source.rank)


def note(rows: Sequence[dict[str, Any]], links: tuple[Link, ...], log: str, rank: int | None) -> Finding:
    """Make the note of the conditions, from a trace or from a report."""
    first = rows[0]
    more = f" and {several(len(rows) - 1, 'more condition')}" if len(rows) > 1 else ""
    title = (
        f"a draft export took `{first['expression']}` as {first['result']}{more} because the example says so"
    )
    verdict = Verdict(
        "AL507",
        title,
        Confidence.PROVEN,
        fixes=("torch._check(...) of each condition before its line, if it always holds",),
    )
    return Finding(
        rule="AL507",
        kind="data_dependent",
        role="note",
        severity="warning",
        confidence=Confidence.PROVEN,
        title=title,
        facts={
            "expression": first["expression"],
            "innermost": first["expression"],
            "result": first["result"],
            "unbacked_symbols": list(symbols_in(first["expression"])),
            "user_frame": first["user_frame"],
            "n_conditions": len(rows),
            "conditions": list(rows),
        },
        rank=rank,
        log=log,
        chain=links,
        verdicts=(verdict,),
    )


def _row(record: TraceRecord) -> dict[str, Any]:
    fields = record.metadata
    user = user_frame(record.frames(fields.get("user_stack")))
    held = fields.get("frame_locals")
    return {
        "expression": str(fields.get("expr")),
        "result": str(fields.get("result")),
        "user_frame": frame_facts(user) if user is not None else None,
        "code": held.get("loc") if isinstance(held, dict) else None,
        "where": frame_words(user) if user is not None else None,
    }


def _details(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["where"],) if row["where"] else ()


RULE = Rule("AL507", "assumed-value", __doc__ or "")
