"""A size became a constant while a model was traced.

## What it says
Tracing made a symbol one number (`symbolic_shape_specialization`), outside of any compile of `torch.compile`,
and nothing later of an export is in the trace. If the size was declared dynamic (`Dim("b")`, `Dim.DYNAMIC`),
the export failed for that. If it was left to torch (`Dim.AUTO`), it did not: both look the same in a trace. So
this is a warning, and never more than likely.

A log (TORCH_LOGS=dynamic) says it for compiles of torch.compile too, with the line that asked. There it is a note,
and where the log has the exception as well (AL505), that finding quotes it.

## Why it matters
A failing export leaves no failure record in a trace. With the log lost, the specialization is the trail.

## Example
`s77 = L['x'].size()[0]` becomes 8 by the guard `Eq(s77, 8)`; the exporting call has `Dim("b")`.

## Evidence it needs
`symbolic_shape_specialization`, the guard before it, and no graph or metrics after it; in a log `set_replacement`
and the guard beside it. Where the line that
exports shows how the sizes are declared, that is used: `Dim("b")` makes it likely, `Dim.AUTO` a mere note.

## What to do
Look at the quoted call: is the size declared dynamic there? The guard's line is what fixes it. stderr of the
export has the exception (AL505).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.graphs.partial_graph import export_call, user_frame
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.rules.logged_specializations import logged_specializations
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import frame_facts, frame_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.record import StackFrame, TraceRecord
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.rules.log_notes import LogCase

_LATER = (
    "compilation_metrics",
    "dynamo_output_graph",
    "exported_program",
    "aot_joint_graph",
    "aot_forward_graph",
    "aot_inference_graph",
    "graph_dump",
    "artifact:before_pre_grad_graph",
)
_MOST = 20
_DYNAMIC = re.compile(r"\bDim\(|\bDim\.DYNAMIC\b|\bdims\(")
_DOUBT = "a trace looks the same when the size was left to torch (Dim.AUTO) and nothing failed"


def log_notes(case: LogCase) -> Iterator[Finding]:
    """Yield a note for each size that a log says became a constant, which no failure quotes."""
    quoted = {
        str(link.place)
        for f in case.told
        for link in f.chain
        if link.step == "constant" and link.place is not None
    }
    yield from logged_specializations(case.events, case.source, quoted)


def specializations(trace: TraceIndex, rank: int | None) -> list[Finding]:
    """Return a finding for each size that an export without later stages made a constant."""
    last = max((r.number for r in trace.find(*_LATER)), default=-1)
    found: list[Finding] = []
    seen: set[tuple[str, str, str]] = set()
    for record in trace.find("symbolic_shape_specialization"):
        if record.number < last or record.compile is not None or not isinstance(record.metadata, dict):
            continue
        key = tuple(str(record.metadata.get(k)) for k in ("symbol", "value", "sources"))
        if key not in seen and export_call(_stack(record)) is not None:
            seen.add(key)  # type: ignore[arg-type]
            found.append(_finding(trace, record, rank))
        if len(found) == _MOST:
            break
    return found


def _stack(record: TraceRecord) -> tuple[Any, ...]:
    own = record.frames(record.metadata.get("stack")) if isinstance(record.metadata, dict) else ()
    return own or record.frames()


def _finding(trace: TraceIndex, record: TraceRecord, rank: int | None) -> Finding:
    fields = record.metadata
    symbol, value = str(fields.get("symbol")), str(fields.get("value"))
    sources = [str(s) for s in fields.get("sources") or []]
    origin = input_of(sources[0]) if sources else None
    named = (
        f"dimension {origin.dim} of `{origin.name}`" if origin and origin.dim is not None else f"`{symbol}`"
    )
    call = export_call(_stack(record))
    guard = _guard(trace, record, symbol)
    links = [
        Link(
            "constant",
            f"{symbol} = {', '.join(sources) or '?'} becomes {value} ({fields.get('reason')})",
            record.place,
        )
    ]
    if guard is not None:
        links.append(Link("guard", f"{guard.metadata.get('expr')}", guard.place))
    user = user_frame(record.frames(fields.get("user_stack")))
    if user is not None:
        links.append(Link("python", frame_words(user), record.place))
    if call is not None:
        links.append(Link("export", frame_words(call), record.place))
    declared = _declared(call)
    title = f"{named} became {value} while exporting, and nothing of that export follows: it may have failed for it"
    decide: tuple[str, ...] = (
        "is this size declared dynamic (Dim(...), Dim.DYNAMIC) in the quoted call? Then it failed; with Dim.AUTO not",
    )
    confidence, doubt = Confidence.POSSIBLE, _DOUBT
    if declared == "dynamic":
        title = f"{named} was very likely declared dynamic, and became {value} while exporting: that fails an export"
        confidence, doubt, decide = (
            Confidence.LIKELY,
            "the trace does not record whether the export failed",
            (),
        )
    elif declared == "auto":
        title = f"{named} became {value} while exporting, which Dim.AUTO in the quoted call allows; it may be meant"
        decide = ()
    return Finding(
        rule="AL504",
        kind="specialization",
        role="note",
        severity="note" if declared == "auto" else "warning",
        confidence=confidence,
        title=title,
        facts={
            "symbol": symbol,
            "value": int(value) if value.lstrip("-").isdigit() and len(value) < 18 else value,
            "reason": fields.get("reason"),
            "sources": sources,
            "source": sources[0] if sources else None,
            "guard": guard.metadata.get("expr") if guard is not None else None,
            "input": origin.name if origin else None,
            "dim": origin.dim if origin else None,
            "user_frame": frame_facts(user) if user is not None else None,
            "export_call": frame_facts(call) if call is not None else None,
        },
        rank=rank,
        log=trace.source.name,
        chain=tuple(links),
        missing=(Missing("whether the export failed", "stderr of the export"),),
        verdicts=(Verdict("AL504", title, confidence, (), decide),),
        doubt=doubt,
    )


def _declared(call: StackFrame | None) -> str | None:
    """Return how the exporting line declares its sizes: `dynamic`, `auto`; None where it shows both or neither."""
    text = call.loc if call is not None else None
    if not text or "dynamic_shapes" not in text:
        return None
    dynamic, auto = _DYNAMIC.search(text) is not None, "Dim.AUTO" in text
    return None if dynamic == auto else "dynamic" if dynamic else "auto"


def _guard(trace: TraceIndex, record: TraceRecord, symbol: str) -> TraceRecord | None:
    """Return the guard on the symbol that stands right before."""
    found = None
    for guard in trace.find("guard_added_fast", "guard_added"):
        if guard.number > record.number:
            break
        if isinstance(guard.metadata, dict) and symbol in str(guard.metadata.get("expr")):
            found = guard
    return found


RULE = Rule("AL504", "size-became-constant", __doc__ or "")
