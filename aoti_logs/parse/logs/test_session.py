"""Test sessions that passed: the exceptions that they print were expected, caught or captured.

pytest (_pytest/terminal.py) writes `==== test session starts ====` and, last, `==== 2 passed, 1 xfailed in 0.12s ====`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.logs.announce import Announcer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import ErrorText
    from aoti_logs.parse.logs.lines import Log

_STARTS = b" test session starts "
_SUMMARY = re.compile(
    rb"^={3,} (?P<counts>\d{1,9} [a-z]+(?:, \d{1,9} [a-z]+)*) in \d[\d.]{0,20}s(?: \([\d:, a-z]{1,40}\))? ={3,}\r?$",
    re.MULTILINE,
)
_BAD = re.compile(rb"\b(?:failed|errors?)\b")
_PASSED = re.compile(rb"\bpassed\b")


def after_sessions(log: Log) -> list[ErrorText]:
    """Return the errors of a log; those within a session that passed end nothing, and are warnings."""
    spans = [log.span(start, end) for start, end in _passed(log)] if log.errors else []
    if not spans:
        return log.errors
    return [
        replace(e, form=ErrorForm.WARNING)
        if any(s.start <= e.span.start and e.span.end <= s.end for s in spans)
        else e
        for e in log.errors
    ]


def _passed(log: Log) -> Iterator[tuple[int, int]]:
    """Give where the sessions begin and end that passed; one that another begins within has no end of its own."""
    sessions = Announcer(log.data, (_STARTS,))
    start = sessions.next(0, log.size)
    while start is not None:
        following = sessions.next(start + 1, log.size)
        end = log.size if following is None else following
        found = _SUMMARY.search(log.data, start, end)
        if found is not None and _PASSED.search(found["counts"]) and not _BAD.search(found["counts"]):
            yield start, found.end()
        start = following
