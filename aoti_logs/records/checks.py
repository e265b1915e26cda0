"""All payloads of a trace compared with the checksums that their envelopes declare."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from aoti_logs.records import payload as _payload
from aoti_logs.records.record import Check

if TYPE_CHECKING:
    from aoti_logs.records.trace import TraceIndex

_KEY = b'"has_payload"'
_DECLARES = _KEY + b': "'
_CHECKSUM = 34
"""Length of `MD5"}`, with which nearly all envelopes end that declare a payload."""
_NOTHING = Check(None, None, None, None)


def checks(index: TraceIndex) -> list[Check]:
    """Return what `TraceRecord.check` says, of every record; only what is not as usual goes through it."""
    data, columns, problems = index.source.data, index.columns, index.context.problems
    breaks = columns.breaks
    found: list[Check] = []
    for number, (env, head_end, end) in enumerate(
        zip(columns.env, columns.head_end, columns.end, strict=True)
    ):
        usual = number not in breaks and number not in problems
        at = head_end - _CHECKSUM
        if usual and end <= head_end + 1 and _KEY not in data[env:head_end]:
            found.append(_NOTHING)
        elif usual and data[at - len(_DECLARES) : at] == _DECLARES and data[head_end - 1] == 0x7D:
            raw = data[head_end + 1 : end]
            # As many TABs as lines: all of them are those that torch put there. The checksum has the last word.
            if raw.count(b"\t") == raw.count(b"\n") and raw.endswith(b"\n"):
                text = raw.translate(None, b"\t")[:-1]
            else:
                text = _payload.strip_tabs(raw)
            digest = hashlib.md5(text, usedforsecurity=False).hexdigest()
            if digest.encode() == data[at : head_end - 2]:
                found.append(Check(len(text), digest, True, None))
            else:
                found.append(index[number].check())
        else:
            found.append(index[number].check())
    return found
