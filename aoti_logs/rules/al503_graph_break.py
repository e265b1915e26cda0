"""Dynamo broke a function into several graphs.

## What it says
At each place listed, Dynamo met something that it cannot put into a graph, ended the graph before it, ran that
line as plain Python, and began another graph behind it (or skipped the function). One note lists all breaks of
a trace with compile id, file, line and reason.

## Why it matters
The result is right. Each break costs an optimization across it, a transition into Python, and often the
fusion that one compiled for. With `fullgraph=True` it would be an error.

## Example
`print("step")` in the middle of a forward.

## Evidence it needs
`dynamo_graph_break_reason` in a trace (torch 2.5 and later). Torch 2.4 only has `restart_reasons` in the
metrics: reasons without a place.

## What to do
Move the line out of the compiled function, or see the hint that torch gives. `fullgraph=True` finds the next
one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.payload_text import line_place
from aoti_logs.parse.trace_outcomes import metric
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several

if TYPE_CHECKING:
    from aoti_logs.parse.trace_outcomes import Outcomes
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex

_SHOWN = 12
_AT = re.compile(r"Graph break in user code at (?P<file>[^\n]{1,1000}):(?P<line>\d+)")
_REASON = re.compile(r"^(?:Graph Break Reason|Reason): (?:Unsupported: )?(?P<reason>[^\n]*)", re.M)
_INNER = re.compile(r"Graph break encountered:\n\n(?P<reason>[^\n]+)")
_ATTEMPT = re.compile(r"^Encountered graph break when attempting to trace [^\n]*\n+(?P<reason>[^\n]+)", re.M)


def graph_breaks(trace: TraceIndex, found: Outcomes, rank: int | None) -> list[Finding]:
    """Return one note for all graph breaks of a trace."""
    rows = [
        _row(outcome.compile_id, r)
        for outcome in found.compiles
        for r in outcome.of("dynamo_graph_break_reason")
    ]
    rows.sort(key=lambda row: row["record"].number)
    sure = Confidence.PROVEN
    if not rows:
        rows, sure = _of_restarts(trace, found), Confidence.LIKELY
    if not rows:
        return []
    links = []
    for row in rows[:_SHOWN]:
        where = f"{row['file']}:{row['line']}: " if row["file"] else ""
        links.append(
            Link("break", f"{where}{row['reason']}", row["place"], details=(f"compile {row['compile_id']}",))
        )
    if len(rows) > _SHOWN:
        links.append(Link("break", f"and {len(rows) - _SHOWN} more", None))
    first = rows[0]
    at = f", the first at {(first['file'] or '').rpartition('/')[2]}:{first['line']}" if first["file"] else ""
    title = f"{several(len(rows), 'graph break')}{at}: {first['reason']}"
    return [
        Finding(
            rule="AL503",
            kind="graph_break",
            role="note",
            severity="note",
            confidence=sure,
            title=title,
            facts={
                "n_graph_breaks": len(rows),
                "graph_breaks": [
                    {k: row[k] for k in ("compile_id", "file", "line", "reason")} for row in rows
                ],
            },
            rank=rank,
            log=trace.source.name,
            chain=tuple(links),
            verdicts=(Verdict("AL503", title, sure),),
            doubt=None if sure is Confidence.PROVEN else "torch 2.4 notes why it restarted, and not where",
        )
    ]


def _row(compile_id: str | None, record: TraceRecord) -> dict[str, Any]:
    text = record.text
    at, reason = _AT.search(text), reason_of(text)
    row = text.count("\n", 0, at.start()) if at else 0
    return {
        "compile_id": compile_id,
        "file": at["file"] if at else None,
        "line": int(at["line"][:9]) if at else None,
        "reason": reason,
        "place": line_place(record, row),
        "record": record,
    }


def reason_of(text: str) -> str:
    """Return why it broke, in one line."""
    inner = _INNER.search(text) or _ATTEMPT.search(text)
    found = inner or _REASON.search(text)
    reason = found["reason"].strip() if found else text.strip().partition("\n")[0]
    if reason.startswith("Encountered graph break when attempting") and (later := _ATTEMPT.search(text)):
        return later["reason"].strip()
    return reason


def _of_restarts(trace: TraceIndex, found: Outcomes) -> list[dict[str, Any]]:
    """Take the reasons in the metrics, where the trace has no records of breaks at all (torch 2.4)."""
    if "chromium_event" in trace.counts():
        return []
    rows = []
    for outcome in found.compiles:
        reasons = metric(outcome.end, "restart_reasons")
        for reason in reasons if isinstance(reasons, list) else ():
            rows.append(
                {
                    "compile_id": outcome.compile_id,
                    "file": None,
                    "line": None,
                    "reason": str(reason).partition("\n")[0],
                    "place": outcome.end.place if outcome.end else None,
                    "record": outcome.end,
                }
            )
    return rows


RULE = Rule("AL503", "graph-break", __doc__ or "")
