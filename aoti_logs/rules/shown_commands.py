"""The commands that logs show: which one compiled the model of AOTInductor that a run loads."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from aoti_logs.commands import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents

_HEADS = (b"Graph signature:", b"ExportGraphSignature(input_specs=")

_KNOWN: WeakKeyDictionary[Evidence, Shown | None] = WeakKeyDictionary()
"""What was found already: each finding of a run asks, and a log may show thousands of commands."""


def commands_of(events: LogEvents) -> Iterator[Shown]:
    """Yield the commands that a log shows, in its order."""
    for note in events.notes:
        shown = Shown.of(dict(note.facts)) if note.kind == "command" else None
        if shown is not None:
            yield shown


def compile_command(evidence: Evidence) -> Shown | None:
    """Return the command of the log, among all at hand, that prints an exported program; None where several do.

    Several logs of one command are one; several commands in such a log leave open which of them compiled.
    """
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _compile_command(evidence)
    return _KNOWN[evidence]


def _compile_command(evidence: Evidence) -> Shown | None:
    found: set[Shown] = set()
    for source, events in evidence.logs:
        if any(source.data.find(head) >= 0 for head in _HEADS):
            found |= set(commands_of(events))
    return found.pop() if len(found) == 1 else None
