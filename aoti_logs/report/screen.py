"""What `report` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.safe import clean

if TYPE_CHECKING:
    from aoti_logs.report.write import Written

_MOST = 40


def render_written(written: Written) -> str:
    """Return the screen after a report was written."""
    lines = [f"{written.page}: {written.summary}"]
    if written.traces:
        traces = "1 trace" if written.traces == 1 else f"{written.traces:,} traces"
        lines.append(f"{written.index}: tlparse {written.version}, {traces}".rstrip())
    lines += [f"  {c.title}: {c.ours()}; tlparse: {c.theirs()}" for c in written.counts[:_MOST]]
    if len(written.counts) > _MOST:
        lines.append(f"  and {len(written.counts) - _MOST:,} more traces, on the page")
    lines += written.sentences[:_MOST]
    if len(written.sentences) > _MOST:
        lines.append(f"and {len(written.sentences) - _MOST:,} more sentences, on the page")
    lines += [f"failed: {problem}" for problem in written.problems]
    lines += [f"  tlparse: {line}" for line in written.last]
    return "\n".join(map(clean, lines)) + "\n"
