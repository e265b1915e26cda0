"""Which trace holds the interned strings that another one uses without defining them.

Since torch 2.13 a forked child writes a file of its own and goes on with its parent's string table, and
`torch.export.draft_export` writes a second file of the same process. Both begin with a whole record and use
ids below the first that they define.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.records.trace import TraceIndex


def parent_of(child: TraceIndex, others: Iterable[TraceIndex]) -> TraceIndex | None:
    """Return the trace whose strings a file goes on with; None where that is not sure.

    It lies in the same folder, or is of the same process; it begins earlier, is of no other rank, and defines
    the ids that the child lacks. Several such traces are one answer only where they define them alike.
    """
    own = child.string_definitions.of_all
    lacking = min(own, default=None)
    if lacking == 0 or not len(child) or child.columns.start[0] != 0:
        return None
    candidates = [other for other in others if other is not child and _fits(child, other)]
    candidates = [c for c in candidates if c.processes[:1] == child.processes[:1]] or candidates
    # Ids count up from 0 without a gap, so a parent has all that are below the child's first.
    candidates = [c for c in candidates if lacking is None or _defines(c, lacking)]
    wanted = None
    for candidate in candidates:
        table = {n: text for n, text in candidate.strings.items() if lacking is None or n < lacking}
        if wanted is not None and table != wanted:
            return None
        wanted = table
    return candidates[0] if candidates else None


def _defines(trace: TraceIndex, below: int) -> bool:
    defined = trace.string_definitions.of_all
    return below <= len(defined) and all(number in defined for number in range(below))


def _fits(child: TraceIndex, other: TraceIndex) -> bool:
    if not len(other) or 0 not in other.string_definitions.of_all:
        return False
    ranks = {child.source.rank, other.source.rank} - {None}
    if len(ranks) > 1 or other[0].time > child[0].time:
        return False
    near = child.source.name.rpartition("/")[0] == other.source.name.rpartition("/")[0]
    return near or other.processes[:1] == child.processes[:1]
