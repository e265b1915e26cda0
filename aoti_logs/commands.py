"""Commands as a shell takes them: the one that a log shows, with its variables, and what an experiment sets besides."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAME_COMMAND = "<the same command as before>"
"""Stands for a command that no log shows."""
COMPILES = "<the command that compiles the model>"
"""Stands for the compile of a model of AOTInductor, where no log shows its command."""

OWN_SHELL = "bash -c "
"""How a command of several parts begins, after `in_one`."""
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.")
_SEVERAL = re.compile(
    r"&&|\|\||;|(?<![>&|])&(?![>&\d]|\s*$)|^(?:cd|source|\.|export|set|for|while|if|time|\(|\{)\s"
)
_FED = re.compile(r"^(?:cat|zcat|echo|printf|yes|head|tail|grep|sed|awk)\s[^|]*\|")

Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Shown:
    """A command that a log shows, with the variables that are set before it there."""

    text: str
    env: Variables = ()

    @classmethod
    def of(cls, facts: Mapping[str, str]) -> Shown | None:
        """Return the command of a note's facts: what is not `command` are variables."""
        text = in_one(facts.get("command"))
        return cls(text, tuple((k, v) for k, v in facts.items() if k != "command")) if text else None

    def line(self, env: Iterable[tuple[str, str]] = ()) -> str:
        """Return it as a shell takes it, with variables that are set besides."""
        return shell_line(joined(self.env, env), self.text)


@lru_cache(maxsize=1024)
def in_one(text: str | None) -> str | None:
    """Return a command before which variables and tools may stand: of several commands, the shell that runs them all.

    >>> in_one("cd build && python serve.py")
    "bash -c 'cd build && python serve.py'"
    """
    bare = _QUOTED.sub("_", text or "")
    if text and (_SEVERAL.search(bare) or _FED.match(bare)):
        return OWN_SHELL + shlex.quote(text)
    return text


def joined(shown: Iterable[tuple[str, str]], env: Iterable[tuple[str, str]]) -> Variables:
    """Return the variables of a shown command with those of an experiment behind them.

    A variable that the experiment sets replaces its old value; what TORCH_LOGS names is added up.
    """
    own = dict(env)
    kept = dict(shown)
    before = [w for w in kept.get("TORCH_LOGS", "").split(",") if w]
    if "TORCH_LOGS" in own and before:
        own["TORCH_LOGS"] = ",".join(dict.fromkeys([*before, *own["TORCH_LOGS"].split(",")]))
    return (*((k, v) for k, v in kept.items() if k not in own), *own.items())


def shell_line(env: Iterable[tuple[str, str]], text: str) -> str:
    """Return a command as a shell takes it, its variables before it."""
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env), text])
