"""Which evidence of one run is at hand, which is not, and how to record it: the answer of `Run.doctor()`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from aoti_logs.commands import shell_line
from aoti_logs.sources.name import readable

if TYPE_CHECKING:
    from aoti_logs.sources.source import Place


class State(StrEnum):
    """Whether evidence of one kind is at hand."""

    HERE = "here"
    PARTLY = "partly"
    """Some of it, or some of what it should say."""
    MISSING = "missing"
    NOT_NEEDED = "not needed"
    """This run has no use for it: launches do not wait on a CPU, one process has no other ranks."""


@dataclass(frozen=True)
class Recording:
    """How to record evidence of one kind.

    `command` is the run's own where a log shows it, else words for it. `takes_effect`: `run` (a new process is enough),
    `compile` (the model has to be compiled again), `now` (the file exists already and has to be given).
    """

    command: str
    env: tuple[tuple[str, str], ...] = ()
    takes_effect: str = "run"
    care: str | None = None
    typed: bool = True
    """False for what is no command: a line to add to a script, a file to give."""

    @property
    def line(self) -> str:
        """The whole line to type."""
        return shell_line(self.env, self.command)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "command": readable(self.command),
            "env": {readable(name): readable(value) for name, value in self.env},
            "takes_effect": self.takes_effect,
            "care": self.care,
            "typed": self.typed,
        }


@dataclass(frozen=True)
class EvidenceKind:
    """One kind of evidence.

    `found` says what was seen, or what tells that there is none; `place` is where. `allows` says what an explanation
    can say with it that it cannot say without.
    """

    kind: str
    state: State
    found: str
    allows: str
    recording: Recording | None = None
    place: Place | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kind": self.kind,
            "state": str(self.state),
            "found": readable(self.found),
            "allows": self.allows,
            "recording": None if self.recording is None else self.recording.to_dict(),
            "source": None if self.place is None else readable(self.place.source),
            "line": None if self.place is None else self.place.line,
        }


@dataclass(frozen=True)
class Understood:
    """How much of one log was understood.

    `bytes` are all of it, `unparsed_bytes` those that no reader claimed, mostly what the program itself printed;
    `first` is where the first of them stand. `doubts` say what looks cut off or torn.
    """

    source: str
    bytes: int
    unparsed_bytes: int
    first: Place | None = None
    doubts: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Share of the bytes that was understood, from 0 to 1; 1 for an empty log."""
        return 1.0 - self.unparsed_bytes / self.bytes if self.bytes else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "source": readable(self.source),
            "bytes": self.bytes,
            "unparsed_bytes": self.unparsed_bytes,
            "share": round(self.share, 4),
            "first_unparsed_line": None if self.first is None else self.first.line,
            "doubts": [readable(d) for d in self.doubts],
        }


@dataclass(frozen=True)
class Checkup:
    """The answer of `Run.doctor()`.

    `about` says in words what kind of run this is. `command` is the command that a log shows for the run. `versions` are
    releases of torch by what tells them.
    """

    inputs: tuple[str, ...]
    about: str
    command: str | None
    evidence: tuple[EvidenceKind, ...]
    logs: tuple[Understood, ...]
    versions: Mapping[str, str]
    problems: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[EvidenceKind, ...]:
        """What this run has a use for, and is not at hand or only in part."""
        return tuple(e for e in self.evidence if e.state in {State.MISSING, State.PARTLY})

    def __getitem__(self, kind: str) -> EvidenceKind:
        """Return what is said of one kind of evidence; KeyError for an unknown kind."""
        for one in self.evidence:
            if one.kind == kind:
                return one
        raise KeyError(kind)

    def __str__(self) -> str:
        """Return the screen as plain text."""
        from aoti_logs.render.checkup_text import render_checkup

        return render_checkup(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "schema": 1,
            "inputs": [readable(name) for name in self.inputs],
            "about": readable(self.about),
            "command": None if self.command is None else readable(self.command),
            "evidence": [e.to_dict() for e in self.evidence],
            "logs": [u.to_dict() for u in self.logs],
            "versions": {readable(k): readable(v) for k, v in self.versions.items()},
            "problems": [readable(p) for p in self.problems],
        }
