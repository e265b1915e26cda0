"""An error of a log with all that stands around it, and what a rule says about it.

A rule that reads errors has `tell_error(case) -> ErrorTold | None` in its module and its name in
`rules/error_rules.py`. It is asked about the error that is the cause of what follows in its run and rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aoti_logs.commands import SAME_COMMAND, in_one
from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.explain import Experiment, Link, Missing
    from aoti_logs.parse.events import ErrorText, LogEvents
    from aoti_logs.sources.source import Source


def shown_command(events: LogEvents) -> str:
    """Return the command that a run shows first, or words for it."""
    told = next((dict(n.facts).get("command") for n in events.notes if n.kind == "command"), None)
    return in_one(told) or SAME_COMMAND


@dataclass(frozen=True)
class ErrorCase:
    """One error, asked about.

    `group` are the errors of the same rank and run in the order of the log, `error` among them; `events`
    is everything that this run printed.
    """

    error: ErrorText
    group: tuple[ErrorText, ...]
    events: LogEvents
    source: Source
    evidence: Evidence

    @property
    def command(self) -> str:
        """Return the command that the log shows, or words for it."""
        return shown_command(self.events)


@dataclass(frozen=True)
class ErrorTold:
    """What a rule says about an error: it becomes a finding.

    `confidence` is that of `title`. `links` stand behind the quoted error in the chain. `facts` are added
    to those that every error has (message, exception_type, last_frame, raised_from, ...).
    """

    code: str
    kind: str
    title: str
    confidence: Confidence = Confidence.PROVEN
    because: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    decide: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    doubt: str | None = None
    only_reported: bool = False
    """The Python line is where an error was reported, and need not be where it was made."""
