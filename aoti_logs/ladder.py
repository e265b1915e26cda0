"""A ladder of experiments: what to run next, and after that, until one explanation is left.

`plan/` makes ladders; findings carry them, renderers show them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.commands import shell_line

if TYPE_CHECKING:
    from aoti_logs.sources.source import Place

EFFECTS = ("run", "load", "compile")
"""When a step takes effect: in a new process, when a package is loaded, when code is compiled (again)."""


@dataclass(frozen=True)
class Command:
    """One command of a step: `phase` is `compile`, `run` or `read` (of what the others wrote).

    `shown` is True where the log shows the command; else `text` holds words in angle brackets for it. `before` is a
    command of the shell that comes before it, without its environment. `sets` is what of `env` the step adds to the
    variables of the shown command. `change` says in words what has to be changed in the program first.
    """

    phase: str
    text: str
    env: tuple[tuple[str, str], ...] = ()
    shown: bool = False
    before: str = ""
    sets: tuple[tuple[str, str], ...] = ()
    change: str = ""

    @property
    def line(self) -> str:
        """The command as a shell takes it, its environment before it."""
        line = shell_line(self.env, self.text)
        return f"{self.before}; {line}" if self.before else line

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "phase": self.phase,
            "command": self.text,
            "change": self.change or None,
            "env": dict(self.env),
            "before": self.before,
            "shown_by_log": self.shown,
        }


@dataclass(frozen=True)
class Outcome:
    """What may be seen after a step, and which explanations (codes of rules) that proves or excludes."""

    seen: str
    means: str = ""
    proves: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "seen": self.seen,
            "means": self.means,
            "proves": list(self.proves),
            "excludes": list(self.excludes),
        }


@dataclass(frozen=True)
class Step:
    """One experiment.

    `takes_effect` is one of `EFFECTS`; `recompile` is True when nothing changes before the model is compiled
    again; `when` says who reads the setting, and when. `proof` says where that stands. `only_if` names what is not
    known of this run and has to be so for the step to help.
    """

    name: str
    tells: str
    commands: tuple[Command, ...]
    takes_effect: str
    recompile: bool
    when: str
    cost: str
    proof: str
    outcomes: tuple[Outcome, ...] = ()
    misleads: tuple[str, ...] = ()
    only_if: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "name": self.name,
            "only_if": list(self.only_if),
            "tells": self.tells,
            "commands": [c.to_dict() for c in self.commands],
            "takes_effect": self.takes_effect,
            "recompile": self.recompile,
            "when": self.when,
            "cost": self.cost,
            "proof": self.proof,
            "outcomes": [o.to_dict() for o in self.outcomes],
            "misleads": list(self.misleads),
        }


@dataclass(frozen=True)
class Done:
    """A step that is left out because this run has its evidence already; `because` quotes it."""

    name: str
    because: str
    place: Place | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "name": self.name,
            "because": self.because,
            "source": self.place.source if self.place else None,
            "line": self.place.line if self.place else None,
        }


@dataclass(frozen=True)
class Ladder:
    """All steps for one failure, the cheapest and least invasive first.

    `open` are the explanations (codes of rules) that are left, as far as rules name them.
    """

    open: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    done: tuple[Done, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "open": list(self.open),
            "steps": [s.to_dict() for s in self.steps],
            "done": [d.to_dict() for d in self.done],
        }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_COMMAND = _object(
    {
        "phase": {"enum": ["compile", "run", "read"]},
        "command": _TEXT,
        "change": {"type": ["string", "null"]},
        "env": {"type": "object", "additionalProperties": _TEXT},
        "before": _TEXT,
        "shown_by_log": {"type": "boolean"},
    }
)
_STEP = _object(
    {
        "name": _TEXT,
        "only_if": _TEXTS,
        "tells": _TEXT,
        "commands": {"type": "array", "items": _COMMAND},
        "takes_effect": {"enum": list(EFFECTS)},
        "recompile": {"type": "boolean"},
        "when": _TEXT,
        "cost": _TEXT,
        "proof": _TEXT,
        "outcomes": {
            "type": "array",
            "items": _object({"seen": _TEXT, "means": _TEXT, "proves": _TEXTS, "excludes": _TEXTS}),
        },
        "misleads": _TEXTS,
    }
)
_DONE = _object(
    {
        "name": _TEXT,
        "because": _TEXT,
        "source": {"type": ["string", "null"]},
        "line": {"type": ["integer", "null"]},
    }
)
SCHEMA: dict[str, Any] = _object(
    {
        "open": _TEXTS,
        "steps": {"type": "array", "items": _STEP},
        "done": {"type": "array", "items": _DONE},
    }
)
"""JSON Schema of a ladder, for that of explanations."""
