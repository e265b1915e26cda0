"""A NaN that the program noticed and the value printer shows: the record leads, the program's own words follow from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.explain import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding


def with_printed_values(findings: Sequence[Finding]) -> list[Finding]:
    """Let the first NaN that was printed (AL401) be the cause of what the program noticed later (AL404).

    Where several runs or ranks of one log could be meant, nothing is joined.
    """
    noticed = [f for f in findings if f.rule == "AL404" and f.role == "cause"]
    shown = [f for f in findings if f.rule == "AL401" and f.role == "note"]
    if len(noticed) != 1 or len(shown) != 1 or noticed[0].rank != shown[0].rank:
        return list(findings)
    first, last = shown[0], noticed[0]
    told, found = (f.chain[0].place if f.chain else None for f in (last, first))
    if told is None or found is None or told.source != found.source or told.line < found.line:
        return list(findings)
    follows = Link("follows", last.title, told)
    cause = replace(
        first, role="cause", severity="error", consequences=(*first.consequences, follows, *last.consequences)
    )
    return [cause if f is first else f for f in findings if f is not last]
