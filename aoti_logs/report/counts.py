"""Our counts of a trace beside tlparse's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.report.text import many

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.report.plan import Slot
    from aoti_logs.report.tlparse import Said

_EXAMPLES = 5


@dataclass(frozen=True)
class Counts:
    """Counts of one trace.

    Attributes:
        title: the trace, or the rank whose records are shown.
        trace: name of the trace, whose counts ours are.
        records: records, interned strings (`str`) among them.
        strings: interned strings.
        damaged: records whose envelope is no JSON or whose payload is not what its checksum says.
        damaged_lines: lines of the first of them.
        text_rows: stretches of bytes that belong to no record.
        tlparse: the counts that tlparse printed; None when it printed none.
    """

    title: str
    trace: str
    records: int
    strings: int
    damaged: int
    damaged_lines: tuple[int, ...]
    text_rows: int
    tlparse: Mapping[str, int] | None

    def ours(self) -> str:
        """Return our counts in words."""
        parts = [f"{many(self.records, 'record')}, {self.strings:,} of them interned strings"]
        if self.damaged:
            lines = ", ".join(f"{line:,}" for line in self.damaged_lines)
            more = ", ..." if self.damaged > len(self.damaged_lines) else ""
            parts.append(f"{self.damaged:,} damaged (line {lines}{more})")
        if self.text_rows:
            parts.append(f"text that is no record in {many(self.text_rows, 'place')}")
        words = ", ".join(parts)
        return f"in all of {self.trace}: {words}" if self.trace != self.title else words

    def theirs(self) -> str:
        """Return tlparse's counts as it names them."""
        if self.tlparse is None:
            return "prints no counts"
        return ", ".join(f"{name} {count:,}" for name, count in self.tlparse.items()) or "nothing"


def count(slot: Slot, said: Said | None) -> Counts:
    """Count the records of a slot's trace; of all ranks when it has those of several."""
    index: TraceIndex = slot.feed.trace.index
    damaged = [number for number, check in enumerate(index.checks) if check.problem is not None]
    stats = said.stats[-1] if said is not None and said.stats else None
    return Counts(
        slot.feed.title,
        slot.feed.trace.name,
        len(index),
        index.counts().get("str", 0),
        len(damaged),
        tuple(index[number].line for number in damaged[:_EXAMPLES]),
        len(index.unparsed),
        stats,
    )
