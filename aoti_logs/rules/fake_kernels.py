"""Fake kernels that a draft export found missing or wrong (AL605), as notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence, Finding, Link, Verdict
from aoti_logs.rules.al605_no_fake_kernel import register

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Place


def fake_kernels(trace: TraceIndex, rank: int | None) -> list[Finding]:
    """Return a note for each operator, once."""
    found: dict[tuple[str, str], Finding] = {}
    for record in trace.find("missing_fake_kernel", "mismatched_fake_kernel"):
        fields = record.metadata
        if not isinstance(fields, dict) or not fields.get("op"):
            continue
        reason = fields.get("reason") if record.name == "mismatched_fake_kernel" else None
        operator = str(fields["op"])
        key = (record.name, operator)
        if key not in found:
            said = str(reason) if reason is not None else None
            found[key] = fake_kernel(operator, said, record.place, trace.source.name, rank)
    return list(found.values())


def fake_kernel(
    operator: str, reason: str | None, place: Place | None, log: str, rank: int | None
) -> Finding:
    """Make the note of one operator; `reason` says how its fake kernel contradicts the real one."""
    if reason is None:
        kind, title = (
            "unsupported_operator",
            f"operator `{operator}` has no fake kernel; draft_export went on",
        )
        fix = register(operator)
    else:
        kind = "mismatched_fake_kernel"
        title = f"the fake kernel of `{operator}` contradicts the real one: {reason.strip()}"
        fix = "make the fake kernel return what the real one does; torch.library.opcheck tests it"
    return Finding(
        rule="AL605",
        kind=kind,
        role="note",
        severity="warning",
        confidence=Confidence.PROVEN,
        title=title,
        facts={"op": operator, "reason": reason.strip() if reason else None},
        rank=rank,
        log=log,
        chain=(Link("operator", operator if reason is None else f"{operator}: {reason.strip()}", place),),
        verdicts=(Verdict("AL605", title, Confidence.PROVEN, fixes=(fix,)),),
    )
