"""What torchrun reports of its workers: one block for each that failed, the first one under `Root Cause`.

Format: torch/distributed/elastic/multiprocessing/errors/__init__.py (`_FAILURE_FORMAT_TEMPLATE`, the same from 1.9 to 2.13,
the name of the signal since 2.8); `grammars/death.lark`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.death import Death
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.signals import by_code, number_of

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Line, Log

_CODE = re.compile(r"exitcode\s+: -\d")
_ABOVE = re.compile(r"(?:time|host|rank)\s+: |\[\d+\]:$|Root Cause \(first observed failure\):$|Failures:$")
_BELOW = re.compile(r"error_file: |traceback : Signal \d+ ")
_HEAD = 6  # lines above the exit code that belong to the block


def read_elastic(log: Log, line: Line) -> bool:
    """Claim the block of a worker that a signal ended; the line is that of its exit code."""
    if not _CODE.match(line.text.strip()):
        return False
    found = fields("death", "elastic_code", line.text.strip())
    if found is None:
        return False
    above: list[Line] = []
    now = log.before(line)
    while now is not None and len(above) < _HEAD and _ABOVE.match(now.text.strip()):
        above.insert(0, now)
        now = log.before(now)
    below: list[Line] = []
    after = log.after(line)
    while after is not None and len(below) < 2 and _BELOW.match(after.text.strip()):
        below.append(after)
        after = log.after(after)
    texts = [x.text.strip() for x in above]
    rank = next((r for t in texts if (r := fields("death", "elastic_rank", t)) is not None), None)
    host = next((t.partition(":")[2].strip() for t in texts if t.startswith("host ")), None)
    signal = by_code(int(found["CODE"][0][:9]))
    pid = int(found["PID"][0][:9])
    where = f"rank {first(rank, 'RANK')}" if rank is not None else None
    death = Death("elastic", signal, number_of(signal), pid=pid, where=where, program=host)
    root = any(t.startswith("Root Cause") for t in texts)
    # torchrun itself ends the other workers by SIGTERM when one has failed.
    form = ErrorForm.WARNING if signal == "SIGTERM" and not root else ErrorForm.SIGNAL
    span = log.claim("signal", [*above, line, *below])
    # Where no line has a rank, what the launcher says is about the same run as everything else.
    ranked = any(e.rank is not None for e in log.errors)
    number = int(first(rank, "RANK") or "-1") if rank is not None and ranked else line.rank
    text = f"{where or 'a worker'} (pid {pid}) ended by {signal}" if signal else line.text.strip()
    log.errors.append(ErrorText(form, text, span, signal=signal, rank=number, text=text, detail=death))
    return True
