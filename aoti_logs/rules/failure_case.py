"""A failed compile, gathered from all that tells of it, and what a rule says about it.

Traces and logs end in the same type; the rules AL505 to AL608 do not know which of them spoke.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from aoti_logs.code.wrapper_release import Releases

if TYPE_CHECKING:
    from aoti_logs.explain import Experiment, Link, Missing
    from aoti_logs.parse.compiles.failure import Failure, UserFrame
    from aoti_logs.sources.source import Place, Source


class Reached(Enum):
    """Whether the exception reached the program."""

    RAISED = "raised"
    HANDLED = "handled"
    """torch went on without the compiled code."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Function:
    """The function that was compiled, or that a graph was made of."""

    name: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class FailureCase:
    """One failed compile.

    `place` is where it is told, `row_place` gives the place of a line (from 0) of its text. `told` are
    further links in the order of the chain. `generated` are texts of generated code by the path that torch
    wrote them to.
    """

    failure: Failure
    place: Place
    text_places: tuple[Place, ...] = ()
    compile_id: str | None = None
    function: Function | None = None
    backward: bool = False
    reached: Reached = Reached.RAISED
    why_reached: str | None = None
    doubt: str | None = None
    """What keeps it from being proven; None where `reached` says it."""
    exported: bool | None = None
    """Whether `torch.export` asked for it; None where nothing tells."""
    user: UserFrame | None = None
    user_place: Place | None = None
    told: tuple[Link, ...] = ()
    generated: tuple[Source, ...] = ()
    rank: int | None = None
    log: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    releases: Releases = field(default_factory=Releases)
    """The releases of torch that can have compiled it; asked for only where an advice depends on them."""

    @property
    def what(self) -> str:
        """Name what was compiled: `f`, the backward of `f`, the model; `this code` where that is not told."""
        if self.function is None:
            return "the model" if (self.compile_id or "").startswith("aoti/") else "this code"
        name = f"`{self.function.name}`"
        return f"the backward of {name}" if self.backward else name

    def place_of(self, row: int) -> Place:
        """Return the place of a line (from 0) of the failure's text."""
        return self.text_places[row] if 0 <= row < len(self.text_places) else self.place


@dataclass(frozen=True)
class Told:
    """What a rule says about a case: it becomes a finding."""

    title: str
    because: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    decide: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    experiments: tuple[Experiment, ...] = ()
