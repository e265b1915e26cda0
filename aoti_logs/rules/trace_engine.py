"""From a trace to its findings: each failed compile once, then what did not fail and is worth knowing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.graphs.partial_graph import export_call
from aoti_logs.parse.traces.outcomes import outcomes
from aoti_logs.rules.al503_graph_break import graph_breaks
from aoti_logs.rules.al504_specialization import specializations
from aoti_logs.rules.al507_assumed_value import assumptions
from aoti_logs.rules.al609_backward import kept_quiet
from aoti_logs.rules.al610_unfinished import unfinished
from aoti_logs.rules.al611_export_stopped import stopped
from aoti_logs.rules.device_mix import with_devices
from aoti_logs.rules.failure_finding import failure_finding
from aoti_logs.rules.fake_kernels import fake_kernels
from aoti_logs.rules.recompiles import recompiles
from aoti_logs.rules.trace_failures import case_of, undecided_case
from aoti_logs.rules.traced_origins import with_traced_origins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Finding
    from aoti_logs.parse.traces.outcomes import Outcomes
    from aoti_logs.records.record import TraceRecord
    from aoti_logs.records.trace import TraceIndex

_ROLES = ["cause", "consequence", "note"]
_SEVERITIES = ["error", "warning", "note"]
_WARNED = 3
MOST = 50
"""So many distinct failures of one trace are shown; what is left is counted."""


def explain_trace(trace: TraceIndex, evidence: Evidence) -> list[Finding]:
    """Explain one trace: failures first, warnings, then notes."""
    found = outcomes(trace)
    rank = rank_of(trace, found)
    failures = _once([*_of_compiles(found, evidence), *_of_exports(found, rank)])
    failures = with_traced_origins(with_devices(failures, trace), trace)
    failures = [replace(f, facts={**f.facts, "n_failures": len(failures)}) for f in failures]
    partial = len(list(trace.find("artifact:make_fx_fail_partial")))
    if partial:
        failures = [replace(f, facts={**f.facts, "n_partial_graphs": partial}) for f in failures]
    notes = [
        *_of_backwards(found, rank),
        *specializations(trace, rank),
        *unfinished(trace, found, rank),
        *assumptions(trace, rank),
        *fake_kernels(trace, rank),
        *recompiles(found, rank),
        *graph_breaks(trace, found, rank),
    ]
    findings = [*_few_warnings(failures[:MOST]), *notes]
    return sorted(findings, key=lambda f: (_ROLES.index(f.role), _SEVERITIES.index(f.severity)))


def _few_warnings(failures: list[Finding]) -> list[Finding]:
    """Let only the first functions that Dynamo could not trace stand as warnings; the others are notes."""
    warnings = [f for f in failures if f.severity == "warning" and f.kind == "dynamo_unsupported"]
    return [replace(f, severity="note") if f in warnings[_WARNED:] else f for f in failures]


def rank_of(trace: TraceIndex, found: Outcomes) -> int | None:
    """Return the rank of the file's name, else the one that its records give."""
    if trace.source.rank is not None:
        return trace.source.rank
    records = (o.first for o in (*found.compiles, found.loose))
    return next((r.rank for r in records if r is not None and r.rank is not None), None)


def _of_compiles(found: Outcomes, evidence: Evidence) -> Iterator[Finding]:
    for outcome in (*found.compiles, found.loose):
        for record in outcome.failed:
            yield failure_finding(case_of(record, outcome, found, evidence))
        if not outcome.failed and outcome.end is None and outcome.of("dynamo_error"):
            yield failure_finding(case_of(outcome.of("dynamo_error")[-1], outcome, found, evidence))


def _of_exports(found: Outcomes, rank: int | None) -> Iterator[Finding]:
    """Yield what broke off outside of any compile that failed with metrics of its own."""
    undecided = found.loose.of("guard_on_data_dependent_error")
    for record in found.loose.of("make_fx_fail_partial"):
        told = [r for r in undecided if r.number < record.number and _call(r) == _call(record)]
        if told:
            undecided = [r for r in undecided if r.number > record.number]
            yield failure_finding(undecided_case(told[-1], record, rank))
        else:
            yield stopped(record, rank)


def _call(record: TraceRecord) -> tuple[str | None, int | None] | None:
    own = record.frames(record.metadata.get("stack")) if isinstance(record.metadata, dict) else ()
    call = export_call(own or record.frames())
    return None if call is None else (call.file, call.line)


def _of_backwards(found: Outcomes, rank: int | None) -> Iterator[Finding]:
    for outcome in found.compiles:
        if not outcome.failed:
            for record in outcome.of("eager_compile_backwards_failure")[:1]:
                yield kept_quiet(record, outcome, rank)


def _once(findings: list[Finding]) -> list[Finding]:
    """Join findings that say the same of the same function: it failed again at every call."""
    groups: dict[Any, list[Finding]] = {}
    for finding in findings:
        facts = finding.facts
        key = (finding.kind, finding.role, finding.title, facts.get("function"), str(facts.get("user_frame")))
        groups.setdefault(key, []).append(finding)
    return [_joined(group) for group in groups.values()]


def _joined(group: list[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    ids = [str(f.facts["compile_id"]) for f in group if f.facts.get("compile_id")]
    shown = ", ".join(dict.fromkeys(ids[:6]))
    more = f"this failed {len(group)} times" + (f", in the compiles {shown}" if shown else "")
    more += " and more" if len(ids) > 6 else ""
    return replace(
        first, facts={**first.facts, "n_times": len(group), "compile_ids": ids}, notes=(*first.notes, more)
    )
