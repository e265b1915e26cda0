"""The death of another process in the text of a Python exception.

Formats: CPython Lib/subprocess.py (`CalledProcessError.__str__`), torch/multiprocessing/spawn.py
(`ProcessExitedException`), torch/utils/data/dataloader.py and _utils/signal_handling.py, CPython
Lib/concurrent/futures/process.py, Ray's python/ray/exceptions.py.
"""

from __future__ import annotations

import re

from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.deaths.signals import NAMES, by_code, by_words, number_of

_FORMS = (
    re.compile(r"died with <Signals\.(?P<name>SIG\w+): (?P<number>\d+)>"),
    re.compile(r"died with unknown signal (?P<number>\d+)"),
    re.compile(r"process (?P<where>\d+) terminated with signal (?P<name>SIG\w+)"),
    re.compile(r"worker \(pid (?P<pid>\d+)\) is killed by signal: (?P<words>[A-Z][\w /]*)"),
    re.compile(r"[Ww]orker \(pid\(s\) (?P<pid>\d+)[\d, ]*\) exited unexpectedly"),
    re.compile(r"exit(?:ed with)? code:? ?(?P<code>-\d{1,3})\b"),
    re.compile(r"exitcode[:=] ?(?P<code>-\d{1,3})\b"),
    re.compile(r"A (?:child process|process in the process pool) (?:was )?terminated abruptly"),
    re.compile(r"A task failed because the .{1,80}process died|The (?:actor|worker) died unexpectedly"),
)


def child_death(text: str) -> Death | None:
    """Return what an exception tells of the end of another process, or None where it tells nothing of one."""
    for pattern in _FORMS:
        found = pattern.search(text)
        if found is None:
            continue
        part = {k: v for k, v in found.groupdict().items() if v is not None}
        number = int(part["number"]) if "number" in part else None
        signal = part.get("name") or (by_words(part["words"]) if "words" in part else None)
        if signal is None and number is not None:
            signal = NAMES.get(number)
        if signal is None and "code" in part:
            signal = by_code(int(part["code"]))
            if signal is None:
                continue
        return Death(
            "python",
            signal,
            number if number is not None else number_of(signal),
            part.get("words"),
            int(part["pid"]) if "pid" in part else None,
            where=part.get("where"),
        )
    return None
