"""Dynamo broke a function into several graphs.

## What it says
At each place listed, Dynamo met something that it cannot put into a graph, ended the graph before it, ran that
line as plain Python, and began another graph behind it (or skipped the function). One note lists all breaks of
a trace, or of one rank in a log, with compile id, file, line and reason.

## Why it matters
The result is right. Each break costs an optimization across it, a transition into Python, and often the
fusion that one compiled for. With `fullgraph=True` it would be an error.

## Example
`print("step")` in the middle of a forward.

## Evidence it needs
`dynamo_graph_break_reason` in a trace (torch 2.5 and later), or TORCH_LOGS=graph_breaks in a log (all versions).
Traces of torch 2.4 only have `restart_reasons` in the metrics: reasons without a place. Where a trace is at hand,
what a log says of the same breaks is not said again.

## What to do
Move the line out of the compiled function, or see the hint that torch gives. `fullgraph=True` finds the next
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.parse.compiles.graph_break import read_graph_break, read_restart_reason
from aoti_logs.parse.compiles.logged_graph_breaks import graph_breaks_in
from aoti_logs.parse.logs.whole_messages import line_of, readable_id
from aoti_logs.parse.traces.outcomes import metric
from aoti_logs.parse.traces.payload_text import line_place, row_of
from aoti_logs.rules.al602_dynamo_unsupported import USELESS
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import several
from aoti_logs.sources.source import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs.parse.compiles.graph_break import GraphBreak
    from aoti_logs.parse.traces.outcomes import Outcomes
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.rules.log_notes import LogCase
    from aoti_logs.sources.source import Place

_SHOWN = 12
_HINTS = 4
_PREAMBLES = ("Encountered graph break ", "Failed to handle graph break", "Graph break encountered:")


@dataclass(frozen=True)
class _Break:
    """One graph break of one compile."""

    compile_id: str | None
    found: GraphBreak
    place: Place | None
    number: int

    @property
    def reason(self) -> str:
        """Why, in one line: torch's name for the kind, else the first line that is no preamble."""
        text = self.found.kind or self.found.reason or self.found.text
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        told = [line for line in lines if not line.startswith(_PREAMBLES)]
        return (told or lines or ["no reason is recorded"])[0].removeprefix("Unsupported: ")

    @property
    def where(self) -> str:
        """File and line, empty where not recorded."""
        return f"{self.found.file}:{self.found.line}" if self.found.file else ""

    def facts(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "compile_id": self.compile_id,
            "file": self.found.file,
            "line": self.found.line,
            "function": self.found.function,
            "reason": self.reason,
            "explanation": self.found.explanation,
            "url": self.found.url,
            "skipped": self.found.skipped,
        }


def graph_breaks(trace: TraceIndex, found: Outcomes, rank: int | None) -> list[Finding]:
    """Return one note for all graph breaks of a trace."""
    outcomes = (*found.compiles, found.loose)
    breaks = [_read(o.compile_id, r) for o in outcomes for r in o.of("dynamo_graph_break_reason")]
    sure = Confidence.PROVEN
    if not breaks and "chromium_event" not in trace.counts():
        breaks, sure = list(_of_restarts(found)), Confidence.LIKELY
    return _note(breaks, sure, rank, trace.source.name)


def log_notes(case: LogCase) -> list[Finding]:
    """Return one note for the graph breaks of each rank that the messages of a log tell."""
    traced = {b for b in map(_same, _traced(case.evidence.traces)) if b is not None}
    ranks: dict[int | None, list[_Break]] = {}
    for message, found in graph_breaks_in(case.events.messages):
        if _same(found) in traced:
            continue
        row = row_of(message.text, f"{found.file}:{found.line}") if found.file else None
        place = message.span.source.place(line_of(message, row or 0))
        rank = message.rank if message.rank is not None else case.source.rank
        ranks.setdefault(rank, []).append(_Break(readable_id(message), found, place, message.span.start))
    return [
        f for rank, breaks in ranks.items() for f in _note(breaks, Confidence.PROVEN, rank, case.source.name)
    ]


def _traced(traces: Iterable[TraceIndex]) -> Iterator[GraphBreak]:
    for trace in traces:
        if trace.source.role is Role.SUBJECT:  # what is only consulted is not explained
            for record in trace.find("artifact:dynamo_graph_break_reason"):
                yield read_graph_break(record.text)


def _same(found: GraphBreak) -> tuple[object, ...] | None:
    """Return what a log and a trace say alike of one graph break."""
    return (found.file, found.line, found.reason) if found.file and found.reason else None


def _note(breaks: list[_Break], sure: Confidence, rank: int | None, log: str) -> list[Finding]:
    if not breaks:
        return []
    breaks.sort(key=lambda b: b.number)
    places: dict[tuple[str, str], list[_Break]] = {}
    for each in breaks:
        places.setdefault((each.where, each.reason), []).append(each)
    first = breaks[0]
    name = first.where.replace("\\", "/").rpartition("/")[2]
    at = f" at {several(len(places), 'place')}, the first {name}" if first.where else ""
    title = f"{several(len(breaks), 'graph break')}{at}: {first.reason}"
    hints = dict.fromkeys(h for b in breaks for h in b.found.hints if not h.lower().startswith(USELESS))
    return [
        Finding(
            rule="AL503",
            kind="graph_break",
            role="note",
            severity="note",
            confidence=sure,
            title=title,
            facts={
                "n_graph_breaks": len(breaks),
                "n_places": len(places),
                "graph_breaks": [b.facts() for b in breaks],
            },
            rank=rank,
            log=log,
            chain=tuple(_links(list(places.values()))),
            verdicts=(Verdict("AL503", title, sure, fixes=tuple(hints)[:_HINTS]),),
            doubt=None
            if sure is Confidence.PROVEN
            else "the metrics say why analysis restarted, and not where",
        )
    ]


def _links(places: list[list[_Break]]) -> Iterator[Link]:
    for group in places[:_SHOWN]:
        first = group[0]
        ids = list(dict.fromkeys(str(b.compile_id) for b in group))
        what = f"compile{'s' * (len(ids) > 1)} {', '.join(ids[:6])}" + (", ..." if len(ids) > 6 else "")
        what += "; the function is not compiled" if first.found.skipped else ""
        yield Link(
            "break", ": ".join(t for t in (first.where, first.reason) if t), first.place, details=(what,)
        )
    if len(places) > _SHOWN:
        yield Link("break", f"and {several(len(places) - _SHOWN, 'more place')}", None)


def _read(compile_id: str | None, record: TraceRecord) -> _Break:
    text = record.text
    found = read_graph_break(text)
    row = row_of(text, f"{found.file}:{found.line}") if found.file else None
    return _Break(compile_id, found, line_place(record, row or 0), record.number)


def _of_restarts(found: Outcomes) -> Iterator[_Break]:
    """Take the reasons in the metrics, where a trace has no records of breaks at all (torch 2.4)."""
    for outcome in found.compiles:
        reasons = metric(outcome.end, "restart_reasons")
        for reason in reasons if isinstance(reasons, list) and outcome.end is not None else ():
            end = outcome.end
            if end is not None:
                yield _Break(outcome.compile_id, read_restart_reason(str(reason)), end.place, end.number)


RULE = Rule("AL503", "graph-break", __doc__ or "")
