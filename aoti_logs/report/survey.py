"""One look at a trace before tlparse gets it: what has to be changed, and whose records are in it."""

from __future__ import annotations

import codecs
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoti_logs.report.heads import Head, heads, usual_prefix
from aoti_logs.report.mend import decode, encode, mend
from aoti_logs.report.reasons import Reason
from aoti_logs.report.text import as_utf8

if TYPE_CHECKING:
    import mmap

    from aoti_logs.report.tlparse import Options

LEFT_OUT = b"(left out by aoti-logs)"
"""What stands in the place of a line that tlparse is not given, so that payloads stay apart."""
_CHUNK = 1 << 20


@dataclass
class Survey:
    """What was seen. Of each line that tlparse could take for a record: `start`, `rank` (-1 for none),
    `process`, `string` (1 for an interned string), `mended` (1 for a line that has to be changed).

    Attributes:
        changes: how often each kind of change is needed, without `BYTES` and `RANK_ADDED`.
        examples: one example of each kind.
        all_utf8: False when some bytes are not UTF-8.
    """

    start: array[int] = field(default_factory=lambda: array("Q"))
    rank: array[int] = field(default_factory=lambda: array("q"))
    process: array[int] = field(default_factory=lambda: array("q"))
    string: array[int] = field(default_factory=lambda: array("B"))
    mended: array[int] = field(default_factory=lambda: array("B"))
    changes: Counter[Reason] = field(default_factory=Counter)
    examples: dict[Reason, str] = field(default_factory=dict)
    all_utf8: bool = True

    @property
    def ranks(self) -> list[int]:
        """The ranks that records give, each once, in order of appearance."""
        return [rank for rank in dict.fromkeys(self.rank) if rank >= 0]


def survey(data: bytes | mmap.mmap, options: Options) -> Survey:
    """Look at all of a trace.

    Args:
        data: the trace.
        options: what tlparse is asked for.
    """
    seen = Survey(all_utf8=_is_utf8(data))
    for head in heads(data):
        line, envelope, changes = mended_line(data, head, options)
        if changes:
            seen.changes.update(reason for reason, _ in changes)
            for reason, example in changes:
                seen.examples.setdefault(reason, example)
        if envelope is None and line is None:
            continue
        rank = (envelope or {}).get("rank")
        seen.start.append(head.start)
        seen.rank.append(rank if type(rank) is int else -1)
        seen.process.append(head.process if head.process < 2**63 else -1)
        seen.string.append("str" in (envelope or {}))
        seen.mended.append(line is not None)
    return seen


def mended_line(
    data: bytes | mmap.mmap, head: Head, options: Options, rank: int | None = None
) -> tuple[bytes | None, dict[str, object] | None, list[tuple[Reason, str]]]:
    """Return a line as tlparse is given it, its envelope, and what was changed.

    Args:
        data: the trace.
        head: the line.
        options: what tlparse is asked for.
        rank: the rank to give it.

    Returns:
        The line without its end, None when it stays as it is; the envelope, None when the line holds
        none that tlparse could read; the changes.
    """
    if not head.plain:
        return LEFT_OUT, None, [(Reason.NUMBER, "")]
    raw = as_utf8(bytes(data[head.env : head.end]))[0].strip(b" \t\r")
    try:
        envelope, changes = decode(raw)
        if envelope is None:
            return None, None, []
        changes = changes + mend(envelope, raw, options)
    except RecursionError:
        return LEFT_OUT, None, [(Reason.DEEP, "")]
    if any(reason is Reason.STRING for reason, _ in changes):
        return LEFT_OUT, None, [change for change in changes if change[0] is Reason.STRING]
    prefix = bytes(data[head.start : head.env])
    if not head.taken:
        prefix = usual_prefix(data, head)
        changes.append((Reason.PREFIX, f"{bytes(data[head.start : head.env]).decode('utf-8', 'replace')}"))
    if rank is not None:
        envelope["rank"] = rank
    if not changes and rank is None:
        return None, envelope, []
    return prefix + encode(envelope), envelope, changes


def _is_utf8(data: bytes | mmap.mmap) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _CHUNK):
            decoder.decode(bytes(data[at : at + _CHUNK]))
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
