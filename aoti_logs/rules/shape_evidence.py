"""What a log says over sizes, put under the failures that it explains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aoti_logs.explain import Link
from aoti_logs.parse.sizes.shape_log import shapes_in
from aoti_logs.rules.al505_constraint import with_line
from aoti_logs.rules.al513_data_origin import with_origins
from aoti_logs.rules.guard_creation import with_guard
from aoti_logs.rules.logged_specializations import specialization_facts, specialized_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.rules.logged_specializations import Specialized


def with_shape_evidence(findings: Sequence[Finding], events: LogEvents) -> list[Finding]:
    """Let violated constraints quote the guard that made the size a constant, and conditions on data their values."""
    found = with_origins(findings, events)
    if any(f.rule == "AL505" for f in found):
        told = specialized_in(events)
        found = [_with_guards(f, told) if f.rule == "AL505" else f for f in found]
        found = with_guard(found, events)
        if any(True for _ in shapes_in(events.messages)):
            found = [with_line(f) if f.rule == "AL505" else f for f in found]  # what would tell it is logged
    return found


def _with_guards(finding: Finding, told: Sequence[Specialized]) -> Finding:
    first = finding.chain[0].place.line if finding.chain and finding.chain[0].place else None
    links: list[Link] = []
    facts: list[dict[str, Any]] = []
    for row in finding.facts.get("constraints") or ():
        # A constraint that is violated is told after the guard that violates it.
        own = [
            one
            for one in told
            if row.get("constant") is not None
            and one.told.said.value == str(row["constant"])
            and (row.get("source") in one.told.sources or row.get("source") is None)
            and (first is None or one.told.line <= first)
            and one.told.message.rank in {None, finding.rank}
        ]
        if not own or (row.get("source") is None and len({one.told.sources for one in own}) > 1):
            continue
        one = own[-1]
        measured = f"{one.told.said.symbol} = {', '.join(one.told.sources) or '?'}"
        links.append(Link("constant", f"{measured} becomes {one.told.said.value}", one.place))
        guard = one.guard_link()
        if guard is not None:
            links.append(guard)
        facts.append(specialization_facts(one))
    if not links:
        return finding
    return replace(finding, chain=(*finding.chain, *links), facts={**finding.facts, "specialized_by": facts})
