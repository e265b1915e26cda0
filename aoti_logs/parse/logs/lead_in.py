"""What stands before text on its line and is no part of it: progress bars that were not ended, a person's quote mark.

tqdm (tqdm/std.py, `format_meter`) writes a bar without a line feed, so that what another thread or a runtime prints
next stands right behind it: `  1%|1         | 1/100 [00:00<00:09, 10.00it/s]Memory access fault by GPU node-1 ...`.
Terminals part them by a carriage return, which a pasted log has lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap

_BAR = re.compile(
    rb"[^\n|]{0,200}?\d{1,3}%\|[^|\n]{0,1000}\| {1,4}[^\n\[\]|]{0,80}\[[^\]\n|]{0,300}\](?=[^\n\r])"
)
_COUNTED = re.compile(rb"(?:[^\n|:]{0,100}: )?\d{1,12}it \[\d\d:\d\d[^\]\n|]{0,200}\](?=[^\n])")
_QUOTE = re.compile(rb"(?!>>>)(?:> ?){1,3}(?<= )(?=[^\s>])")
_MOST = 64  # bars on one line
_READ = 1 << 12


def behind_lead_in(data: bytes | mmap.mmap, start: int, end: int) -> int:
    """Return where the text of a line begins.

    Args:
        data: the log.
        start: where the line begins.
        end: where it ends.
    """
    at = start
    for _ in range(_MOST):
        text = bytes(data[at : min(end, at + _READ)])
        found = _QUOTE.match(text) if at == start and text[:1] == b">" else None
        if found is None and b"%|" in text:
            found = _BAR.match(text)
        if found is None and b"it [" in text:
            found = _COUNTED.match(text)
        if found is None:
            return at
        at += found.end()
    return at
