"""In which order ranks failed, and whether their logs are of one run, as far as times and names tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding

_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d[T ])?(?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d)?$"
)


_OF_RUN = re.compile(r"(?:attempt|run|job|try|retry|restart|round)[-_.=]?$", re.IGNORECASE)
"""What stands before the number of a run, where a number of a rank would look the same."""


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings by their times; nothing where a time is missing, of another form, or the first two are equal."""
    read = [_TIME.match(str(f.facts.get("time") or "")) for f in findings]
    told = [(m["date"], m["clock"], m["part"], m["zone"]) for m in read if m is not None]
    if len(told) < 2 or len(told) < len(findings):
        return []
    if len({(date is None, part is None, zone) for date, _, part, zone in told}) > 1:
        return []
    keys = [((date or "")[:10], clock, (part or "").ljust(9, "0")) for date, clock, part, _ in told]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [findings[n] for n in order] if keys[order[0]] < keys[order[1]] else []


def of_one_run(logs: Sequence[tuple[str, int]]) -> bool:
    """Tell whether logs, each of a rank, are of one run as far as their names tell: they differ in the rank only."""
    names = [(re.split(r"(\d+)", name), rank) for name, rank in logs]
    first, rank = names[0]
    for other, its in names[1:]:
        if other == first:
            continue
        if len(other) != len(first):
            return False
        for at, (one, its_own) in enumerate(zip(first, other, strict=True)):
            if one == its_own:
                continue
            number = one.isdigit() and its_own.isdigit() and not _OF_RUN.search(first[at - 1])
            if not number or (int(one[:9]), int(its_own[:9])) != (rank, its):
                return False
    return True
