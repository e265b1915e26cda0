"""Values that a run printed where its failure does not stand: in the file of its other stream, or below the failure.

stdout and stderr are often kept in two files, or joined one after the other. Which file is the other half is told by its
name (`X.stdout.txt` and `X.stderr.txt`, `job.out` and `job.err`, `job.o123` and `job.e123` in one folder), or by a call
with just two logs. Neither is a proof: what is taken from there is likely at most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.parse.events import Assertion, Dump, LogEvents
    from aoti_logs.sources.source import Source

_STREAM = re.compile(
    r"(?<![A-Za-z])(?:(?P<out>stdout|out)|(?P<err>stderr|err))(?![A-Za-z])|\.(?:(?P<o>o)|(?P<e>e))(?=\d+(?:[.-]\d+)?\Z)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Elsewhere:
    """Printed values that stand elsewhere. `bound` when only one run can be meant; `why` says what speaks for it."""

    dumps: tuple[Dump, ...]
    source: Source
    why: str
    bound: bool
    shapes: LogEvents | None = None
    """The events of the other file, whose own lines may tell shapes."""


def stream_of(name: str) -> tuple[str, str] | None:
    """Return (name without the word for the stream, `out` or `err`) of a file that is named by a stream.

    >>> stream_of("a/bad.stderr.txt")
    ('a/bad.*.txt', 'err')
    """
    folder, slash, file = name.replace("\\", "/").rpartition("/")
    found = list(_STREAM.finditer(file))
    if not found:
        return None
    last = found[-1]
    stream = "out" if last["out"] or last["o"] else "err"
    return f"{folder}{slash}{file[: last.start()]}*{file[last.end() :]}", stream


def elsewhere(
    assertion: Assertion, events: LogEvents, logs: Sequence[tuple[Source, LogEvents]]
) -> Elsewhere | None:
    """Return the printed values that may belong to a failure above which none are printed.

    Args:
        assertion: the failure.
        events: what its run printed into its log.
        logs: all logs at hand.
    """
    here = assertion.first.source
    single = len(events.assertions) == 1
    below = tuple(d for d in events.dumps if d.span.start > assertion.first.start)
    if below:
        return Elsewhere(below, here, "they stand below the failure in the same log", single)
    at_hand = [(s, e) for s, e in logs if s is not here and s.name != here.name]
    own = stream_of(here.name)
    halves = [pair for pair in at_hand if own is not None and _is_other(own, stream_of(pair[0].name))]
    if len(halves) == 1:
        return _of_file(halves[0], here, events, "its name is that of the other stream of this log", single)
    asked = [s for s, _ in logs if s.asked and s.role is Role.SUBJECT]
    if halves or len(asked) != 2 or here not in asked:
        return None
    other = next(pair for pair in at_hand if pair[0] in asked)
    named = own is not None and stream_of(other[0].name) is not None  # two names, and not of one run
    return _of_file(other, here, events, "it was given together with this log", single and not named)


def _is_other(own: tuple[str, str], other: tuple[str, str] | None) -> bool:
    return other is not None and own[0].lower() == other[0].lower() and own[1] != other[1]


def _of_file(
    other: tuple[Source, LogEvents], here: Source, events: LogEvents, why: str, single: bool
) -> Elsewhere | None:
    source, told = other
    ranks = {here.rank, source.rank} - {None}
    if not told.dumps or told.assertions or len(ranks) > 1:
        return None
    mine, theirs = _commands(events), _commands(told)
    if mine and theirs and mine != theirs:
        return None
    return Elsewhere(told.dumps, source, why, single and len(theirs) < 2, told)


def _commands(events: LogEvents) -> list[tuple[tuple[str, str], ...]]:
    return [tuple(n.facts) for n in events.notes if n.kind == "command"]
