"""A graph was not finished: an exception left `make_fx`.

## What it says
A trace keeps no record of why `torch.export` failed. It has the graph up to the node at which the exception
was raised. The finding quotes that node, its line of the user's code, and the call of `torch.export`. Where
the last node is a comparison of a number that comes out of a tensor, a condition on data is likely what failed
(AL506).

## Why it matters
With the log lost, this is all there is; tlparse shows it as one more artifact.

## Example
The graph ends at `gt: "Sym(u0 > 5)" = item > 5`, made by `if n > 5:`.

## Evidence it needs
`make_fx_fail_partial` in the trace. That an exception left `make_fx` is certain; whether the caller could do
without is not, so it is never more than likely. Where torch itself asked for the graph (`torch.onnx.export` tries
several ways), it is a warning.

## What to do
Run the export again with stderr kept, or with `TORCH_DTRACE`: then the condition is recorded. Or use
`torch.export.draft_export`, which lists all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Missing, Verdict
from aoti_logs.parse.compiles.data_dependent import symbols_in
from aoti_logs.parse.graphs.partial_graph import export_call, is_torch, read_partial
from aoti_logs.rules.rule import Rule
from aoti_logs.rules.trace_words import frame_facts, frame_words

if TYPE_CHECKING:
    from aoti_logs.parse.graphs.partial_graph import PartialGraph
    from aoti_logs.records.record import StackFrame, TraceRecord

_DOUBT = "the trace does not record the exception, nor whether the caller went on without"


def stopped(record: TraceRecord, rank: int | None) -> Finding:
    """Return the finding of one graph that no failed compile accounts for."""
    partial = read_partial(record)
    call = export_call(record.frames())
    data = partial.condition is not None and bool(symbols_in(partial.condition))
    # Torch's own callers try several ways (torch.onnx), or trace something that they can do without.
    users = call is not None and call.file is not None and not is_torch(call.file)
    confidence = Confidence.LIKELY if users else Confidence.POSSIBLE
    what = "torch.export very likely failed" if users else "tracing a graph may have failed"
    if data:
        title = f"{what}: it cannot decide `{partial.condition}`, which depends on data"
    else:
        title = f"{what}{_where(partial)}"
    fixes = (
        ("torch._check(...) of the condition before that line, or torch.cond for both branches",)
        if data
        else ()
    )
    verdict = Verdict("AL611", title, confidence, (), (), fixes)
    return Finding(
        rule="AL611",
        kind="data_dependent" if data else "export_failed",
        role="cause" if users else "note",
        severity="error" if users else "warning",
        confidence=confidence,
        title=title,
        facts=_facts(partial, call, data=data),
        rank=rank,
        log=record.index.source.name,
        chain=tuple(_links(partial, call)),
        missing=(
            Missing(
                "the exception",
                "stderr of the export; or TORCH_DTRACE instead of TORCH_TRACE, for conditions",
            ),
        ),
        verdicts=(verdict,),
        doubt=_DOUBT,
    )


def _where(partial: PartialGraph) -> str:
    if partial.last is None:
        return " before the first node of the graph"
    return f" at `{partial.last.target or partial.last.name}`"


def _links(partial: PartialGraph, call: StackFrame | None) -> list[Link]:
    record, last = partial.record, partial.last
    nodes = f"{partial.n_nodes} node{'s' * (partial.n_nodes != 1)}"
    links = [Link("broke off", f"make_fx_fail_partial: the graph so far has {nodes}", record.place)]
    if last is not None:
        links.append(Link("last node", partial.last_text or last.name, last.place))
        if last.file is not None and last.code:
            where = f"{last.file}:{last.line} in {last.function}: {last.code}"
            links.append(Link("python", where, partial.code_place or last.place))
    if call is not None:
        links.append(Link("export", frame_words(call), record.place))
    return links


def _facts(partial: PartialGraph, call: StackFrame | None, *, data: bool) -> dict[str, object]:
    last = partial.last
    facts: dict[str, object] = {
        "last_partial_node": partial.last_text,
        "n_nodes": partial.n_nodes,
        "op": last.target if last is not None else None,
        "export_call": frame_facts(call) if call is not None else None,
    }
    if last is not None and last.file is not None:
        facts["user_frame"] = {
            "file": last.file,
            "line": last.line,
            "function": last.function,
            "code": last.code,
        }
    if data:
        facts |= {
            "expression": partial.condition,
            "innermost": partial.condition,
            "unbacked_symbols": list(symbols_in(partial.condition or "")),
        }
    return facts


RULE = Rule("AL611", "export-stopped", __doc__ or "")
