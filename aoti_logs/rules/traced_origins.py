"""Where a value that only data knows was made, from the records that a trace has of it.

`create_unbacked_symbol` (torch 2.6 and later) holds the user's frames, and the stack of the call: the innermost frame
outside of libraries is the line that made the value. Of frames of the stack that is only what was running.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.rules.trace_words import frame_facts, frame_words
from aoti_logs.rules.user_frames import is_library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.records.record import StackFrame, TraceRecord
    from aoti_logs.records.trace import TraceIndex

_NAME = "create_unbacked_symbol"
_SHOWN = 3
_RULES = {"AL506", "AL611"}


def with_traced_origins(findings: Sequence[Finding], trace: TraceIndex) -> list[Finding]:
    """Let each condition on data of a trace quote where its values were made."""
    if not any(f.rule in _RULES and f.facts.get("unbacked_symbols") for f in findings):
        return list(findings)
    made = list(trace.find(_NAME))
    return [_with_origins(f, made) if f.rule in _RULES else f for f in findings]


def _with_origins(finding: Finding, made: Sequence[TraceRecord]) -> Finding:
    links, facts = [], []
    for symbol in finding.facts.get("unbacked_symbols") or ():
        own = [r for r in made if _symbol(r) == symbol and _of(finding, r)]
        # A failure that is analysed again makes its values again: the last ones before it.
        for record in own[-1:]:
            found = _frame(record)
            if found is not None:
                frame, exact = found
                at = "is made at" if exact else "is made in what runs at"
                links.append(Link("origin", f"{symbol} {at} {frame_words(frame)}", record.place))
                facts.append(_facts(symbol, record, frame))
    if not links:
        return finding
    return replace(finding, chain=(*finding.chain, *links), facts={**finding.facts, "allocated_at": facts})


def _of(finding: Finding, record: TraceRecord) -> bool:
    """Tell whether a value was made in the compile that failed, before it failed."""
    facts = finding.facts
    first = finding.chain[0].place if finding.chain else None
    return (
        facts.get("process") in {None, record.process}
        and (facts.get("compile_id") or None) == record.compile
        and (first is None or record.place.line < first.line)
    )


def _symbol(record: TraceRecord) -> str | None:
    fields = record.metadata
    return fields.get("symbol") if isinstance(fields, dict) else None


def _frame(record: TraceRecord) -> tuple[StackFrame, bool] | None:
    """Return the innermost frame of the user's; False beside it where only the whole stack has one."""
    fields: dict[str, Any] = record.metadata
    for name in ("user_stack", "stack"):
        own = [f for f in record.frames(fields.get(name) or []) if f.file and not is_library(f.file)]
        if own:
            return own[-1], name == "user_stack"
    return None


def _facts(symbol: str, record: TraceRecord, frame: StackFrame) -> dict[str, Any]:
    frames = record.metadata.get("stack")
    count = len(frames) if isinstance(frames, list) else None
    return {"symbol": symbol, "n_frames": count, "user_frame": frame_facts(frame)}


def lines_of_origin(traces: Iterable[TraceIndex], symbol: str) -> Iterator[tuple[StackFrame, TraceRecord]]:
    """Yield each line at which a symbol was made in traces that need not be of the same run, each line once."""
    seen = set()
    for trace in traces:
        for record in trace.find(_NAME):
            found = _frame(record) if _symbol(record) == symbol else None
            if found is not None and (found[0].file, found[0].line) not in seen:
                seen.add((found[0].file, found[0].line))
                yield found[0], record


def with_origins_at_hand(findings: Sequence[Finding], traces: Sequence[TraceIndex]) -> list[Finding]:
    """Note where the values of a condition on data are made in traces at hand, where nothing of its own run tells."""
    return [
        replace(f, notes=(*f.notes, *_notes(f, traces))) if f.rule == "AL506" and traces else f
        for f in findings
    ]


def _notes(finding: Finding, traces: Sequence[TraceIndex]) -> Iterator[str]:
    if finding.facts.get("allocated_at"):
        return
    for symbol in finding.facts.get("unbacked_symbols") or ():
        lines = list(lines_of_origin(traces, symbol))
        told = ", or ".join(f"{frame_words(frame)} ({record.place})" for frame, record in lines[:_SHOWN])
        if lines:
            more = f" and at {len(lines) - _SHOWN} more lines" if len(lines) > _SHOWN else ""
            doubt = "whether it is of this run is not told"
            yield f"in the trace at hand {symbol} is made at {told}{more}; {doubt}"
