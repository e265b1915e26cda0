"""One failure told by a log and by a trace is one finding.

They are taken for the same when kind, innermost text and rank agree. The surer of the two leads; of equals the
log, which has the whole traceback. The other becomes a link that says what it quotes: the same text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Confidence, Finding, Link
from aoti_logs.rules.al505_constraint import with_line
from aoti_logs.rules.trace_failures import RETRIED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONG_ENOUGH = 12  # characters of a message of which one is no other
_LARGEST_PROCESS = 1 << 22  # of Linux
_UNHEARD = "the log has no traceback of it; the program may have caught it"
_ORDER = [Confidence.PROVEN, Confidence.LIKELY, Confidence.POSSIBLE, Confidence.UNKNOWN]


def joined(logs: Sequence[Finding], traces: Sequence[Finding]) -> list[Finding]:
    """Return the findings of logs and traces, each failure once."""
    found = list(logs)
    rest: list[Finding] = []
    fitting = [_fitting(found, trace) for trace in traces]
    for finding, logs_of_it in zip(traces, fitting, strict=True):
        if not logs_of_it:
            rest.append(finding)
            continue
        at = min(logs_of_it, key=lambda n: (-_alike(logs[n], finding), n))
        # Several logs or traces with one text may be of several runs that failed alike: named, and no link.
        alone = len(logs_of_it) == 1 and sum(at in others for others in fitting) == 1
        found[at] = _one(found[at], finding) if alone else _named(found[at], finding)
    return [*found, *rest]


def _fitting(logs: Sequence[Finding], trace: Finding) -> list[int]:
    """Return the numbers of the findings of logs that may be the same failure, of the best fitting class only."""
    keys = set(_keys(trace))
    found = [
        n
        for n, f in enumerate(logs)
        if _same_rank(f, trace) and _same_process(f, trace) and keys & set(_keys(f))
    ]
    best = max((_alike(logs[n], trace) for n in found), default=0)
    return [n for n in found if _alike(logs[n], trace) == best]


def _alike(log: Finding, trace: Finding) -> int:
    """Tell how well the exceptions fit: the same class, or one that the log's exception was raised from."""
    own = str(trace.facts.get("exception_type")).rpartition(".")[2]
    classes = [str(c).rpartition(".")[2] for c in log.facts.get("chain") or ()]
    return 2 if own in classes[:1] else int(own in classes)


def _keys(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield what identifies a failure; nothing for notes that are no failures."""
    facts, text = finding.facts, str(finding.facts.get("innermost") or "")
    if text:
        yield finding.kind, text
    if finding.kind in {"unsupported_operator", "export_failed"} and facts.get("op"):
        yield "operator", str(facts["op"]).removeprefix("torch.ops.")
    refused = str(facts.get("inner_message") or "") if finding.rule == "AL604" else ""
    if len(refused) >= _LONG_ENOUGH:
        yield (
            "refused",
            refused,
        )  # the log may name the operator of ATen that a trace names as Python's function
    if finding.rule in {"AL001", "AL611"} and facts.get("export_call"):
        yield "export", f"{facts['export_call'].get('file')}:{facts['export_call'].get('line')}"
    if finding.kind == "constraint_violation":
        for row in facts.get("constraints") or ():
            if row.get("constant") is not None:
                yield "constant", f"{row.get('source')} {row['constant']}"
    if finding.kind == "specialization":
        yield "constant", f"{facts.get('source')} {facts.get('value')}"
        yield "constant", f"None {facts.get('value')}"  # `You marked b as dynamic` tells no source
    if finding.rule in {"AL001", "AL601", "AL603"}:
        said = text or str(facts.get("message") or "").partition("\n")[0]
        if len(said) >= _LONG_ENOUGH:
            yield "text", said


def _same_rank(one: Finding, other: Finding) -> bool:
    return one.rank == other.rank or None in {one.rank, other.rank}


def _same_process(one: Finding, other: Finding) -> bool:
    """Tell whether no process ids speak against it; a failure told by another process is of another run."""
    ids = {n for n in (one.facts.get("process"), other.facts.get("process")) if n is not None}
    # Torch 2.4 writes thread ids of 15 digits: a log and a trace of one run may have different ones.
    return len(ids) < 2 or any(n > _LARGEST_PROCESS for n in ids)


def _one(log: Finding, trace: Finding) -> Finding:
    # A graph that broke off does not know the exception that the log has.
    sure = trace.rule != "AL611" and _ORDER.index(trace.confidence) < _ORDER.index(log.confidence)
    lead, other = (trace, log) if sure else (log, trace)
    if lead.rule == "AL502":  # a trace holds the reasons of all compiles: nothing is left to log
        lead = replace(lead, experiments=())
    if lead.rule == "AL505" and lead is log and any(k.step == "python" for k in trace.chain):
        made = tuple(replace(k, step="line") for k in trace.chain if k.step == "python")
        lead = with_line(replace(lead, chain=(*lead.chain, *made)))
    if lead is log and "odd_tensors" in trace.facts.keys() - log.facts.keys():
        lead = _with_tensors(log, trace)
    place = other.chain[0].place if other.chain else None
    link = Link("trace" if other is trace else "log", _words(other), place)
    own = any(k.step == "python" for k in lead.chain)
    python = () if own else tuple(k for k in other.chain if k.step == "python")
    if not any(k.step == "origin" for k in lead.chain):
        python += tuple(k for k in other.chain if k.step == "origin")
    facts: dict[str, Any] = dict(lead.facts)
    facts |= {k: v for k, v in other.facts.items() if facts.get(k) is None}
    if trace.doubt == RETRIED:
        return _caught(replace(lead, facts=facts, chain=(*lead.chain, *python, link)))
    if lead is trace and log.facts.get("log_level") and log.doubt is not None:
        lead = _doubted(lead, _UNHEARD)
    role = "cause" if "cause" in {lead.role, other.role} else lead.role
    return replace(
        lead,
        facts=facts,
        role=role,
        severity="error" if role == "cause" else lead.severity,
        rank=lead.rank if lead.rank is not None else other.rank,
        chain=(*lead.chain, *python, link),
        consequences=(*lead.consequences, *other.consequences),
    )


def _with_tensors(log: Finding, trace: Finding) -> Finding:
    """Give a log's finding what only the trace knows of the tensors on two devices."""
    links = tuple(link for link in trace.chain if link.step == "tensor")
    told = trace.verdicts[0]
    verdicts = tuple(
        replace(v, because=told.because, fixes=told.fixes, decide=told.decide) for v in log.verdicts
    )
    return replace(log, chain=(*log.chain, *links), verdicts=verdicts, experiments=())


def _caught(lead: Finding) -> Finding:
    """Make a warning of a failure after which the trace goes on with the same function."""
    return replace(_doubted(lead, RETRIED), role="note", severity="warning")


def _doubted(lead: Finding, doubt: str) -> Finding:
    verdicts = tuple(replace(v, confidence=Confidence.LIKELY) for v in lead.verdicts)
    return replace(lead, confidence=Confidence.LIKELY, doubt=doubt, verdicts=verdicts)


def _named(finding: Finding, trace: Finding) -> Finding:
    place = trace.chain[0].place if trace.chain else None
    return replace(
        finding, notes=(*finding.notes, f"{_words(trace)} ({place}); whether in this run cannot be told")
    )


def _words(finding: Finding) -> str:
    """Say what the other source has of the failure."""
    facts = finding.facts
    if facts.get("last_partial_node"):
        return f"the graph ends at {facts['last_partial_node']}"
    if finding.kind == "specialization":
        return f"{facts.get('symbol')} = {facts.get('source')} becomes {facts.get('value')}"
    if finding.rule == "AL611":
        return "make_fx_fail_partial: the graph broke off before its first node"
    if facts.get("compile_id"):
        return f"compile {facts['compile_id']} ends with the same text"
    return "the same text"
