"""A trace ends within a compile.

## What it says
A compile began (`dynamo_start`, or `compile_fx_aot` of AOTInductor), and neither its metrics nor its end were
written. The finding names it, and the last record of the trace.

## Why it matters
Torch writes the metrics of every compile, of one that fails, too. Where they are missing the process was
killed (out of memory, a time limit, a crash of a compiler in the process), or it hangs, or the trace was
copied while it ran. These cannot be told apart here.

## Example
The last record is a graph; the compile `0/3` has no metrics.

## Evidence it needs
The trace up to its end. Nothing is said where metrics are damaged.

## What to do
Look at what ended the process: its exit code, `dmesg` for the OOM killer, the scheduler. If it still runs,
`py-spy dump` shows where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.traces.outcomes import Outcomes
    from aoti_logs.records.trace import TraceIndex

_LOOK = 400  # records
_DOUBT = "killed, hanging, or copied while it ran: a trace does not tell"


def unfinished(trace: TraceIndex, found: Outcomes, rank: int | None) -> list[Finding]:
    """Return one note for the compiles of which no end was recorded."""
    open_ = [(o.compile_id or "", o.start, o.frame) for o in found.unfinished if o.start is not None]
    names = [f"{compile_id} of `{frame.name}`" if frame else compile_id for compile_id, _, frame in open_]
    links = [
        Link("begun", f"dynamo_start of compile {name}", start.place)
        for name, (_, start, _) in zip(names, open_, strict=True)
    ]
    for number in sorted(trace.aot_compiles.unfinished):
        first = trace[trace.aot_compiles.stretches[number][0]]
        names.append(f"aoti/{number}")
        links.append(
            Link("begun", f"compile_fx_aot, the AOTInductor compile {number} of this trace", first.place)
        )
    if not names:
        return []
    last = trace[len(trace) - 1]
    phase = _open_phase(trace)
    within = f", within {phase}" if phase else ""
    links.append(Link("last", f"the trace ends with {last.key}{within}", last.place))
    title = f"the trace ends within the compile {names[0]}"
    if len(names) > 1:
        title = f"the trace ends within {len(names)} compiles: {', '.join(names[:4])}"
    title += "; the process may have been killed"
    decide = ("what ended the process: its exit code, the OOM killer, a time limit; or does it still run?",)
    return [
        Finding(
            rule="AL610",
            kind="compile_unfinished",
            role="note",
            severity="warning",
            confidence=Confidence.POSSIBLE,
            title=title,
            facts={
                "compile_ids": [n.partition(" ")[0] for n in names],
                "last_record": last.key,
                "last_line": last.line,
                "phase": phase,
            },
            rank=rank,
            log=trace.source.name,
            chain=tuple(links),
            verdicts=(Verdict("AL610", title, Confidence.POSSIBLE, (), decide),),
            doubt=_DOUBT,
        )
    ]


def _open_phase(trace: TraceIndex) -> str | None:
    """Return the innermost phase that had begun and not ended, from the last events of the trace."""
    ended: list[str] = []
    for number in range(len(trace) - 1, max(len(trace) - _LOOK, 0) - 1, -1):
        record = trace[number]
        value = record.json() if record.name == "chromium_event" else None
        if not isinstance(value, dict):
            continue
        name = str(value.get("name"))
        if value.get("ph") == "E":
            ended.append(name)
        elif value.get("ph") == "B":
            if name not in ended:
                return name
            ended.remove(name)
    return None


RULE = Rule("AL610", "compile-unfinished", __doc__ or "")
