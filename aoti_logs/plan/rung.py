"""A rung: a step of a ladder as data, before it is known which run it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.ladder import Outcome


@dataclass(frozen=True)
class Rung:
    """One experiment of a family.

    `form` is what is run, `{command}` in it the command of the log; without that it says in words what is run. `change` says what has to be changed in the program first. `before` is a command of the shell before it. Of a step that takes effect when compiling, `env`
    is that of the compile and `run_env` that of the run after it. Texts may hold `{kernels}`, `{symbols}` and
    `{guard}`; a rung whose words this run does not have is left out.

    `needs` are traits of `plan/situation.py`: the rung is left out where one of them is known to be false.
    `older` says what older releases need instead, where nothing tells that the code is not of one.
    `has` names the evidence that makes it superfluous. `since` and `below` are releases of torch. `always` keeps
    it even when no outcome speaks of an explanation that is left.
    """

    name: str
    tells: str
    effect: str
    when: str
    cost: str
    proof: str
    env: tuple[tuple[str, str], ...] = ()
    form: str = "{command}"
    before: str = ""
    change: str = ""
    run_env: tuple[tuple[str, str], ...] = ()
    read: str | None = None
    outcomes: tuple[Outcome, ...] = ()
    misleads: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    has: str | None = None
    since: tuple[int, int] = (2, 4)
    below: tuple[int, int] | None = None
    older: str = ""
    always: bool = False
    rerun: bool = True
    """False when nothing has to be run after the compile: the compile itself tells."""
