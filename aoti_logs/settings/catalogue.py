"""The settings, read from the TOML files beside this module; names that a wrong one may have meant."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from aoti_logs.errors import UnknownNameError
from aoti_logs.settings.model import Effect, Kind, Proof, Setting

TOPICS = {
    "aotinductor": "AOTInductor",
    "inductor": "Inductor",
    "dynamo": "Dynamo and sizes",
    "logging": "Logs, traces, stacks",
    "device": "CUDA and HIP",
    "triton": "Triton",
    "distributed": "torch.distributed and NCCL",
    "process": "Python, glibc, OpenMP",
}
"""The files of the catalogue with their titles."""

_AGAIN = {Effect.BUILD: "build", Effect.COMPILE: "compile", Effect.LOAD: "load", Effect.FIRST_RUN: "load"}
# "2.6+ FILE: TEXT" stands in 2.6 and newer, "-2.6 FILE: TEXT" in 2.6 and older.
_PROOF = re.compile(r"(?:(\d+\.\d+)\+ |-(\d+\.\d+) )?(\S+?): (.+)", re.S)


@cache
def all_settings() -> tuple[Setting, ...]:
    """Return every setting, by topic."""
    folder = files("aoti_logs.settings")
    found: list[Setting] = []
    for topic in TOPICS:
        table = tomllib.loads(folder.joinpath(f"{topic}.toml").read_text(encoding="utf-8"))
        found += [_setting(name, topic, row) for name, row in table.items()]
    return tuple(found)


def setting(name: str) -> Setting:
    """Return a setting by its name, its config value, its key in `inductor_configs`, or a name that it had before.

    Raises:
        UnknownNameError: nothing has this name; its text names the nearest.
    """
    wanted = name.strip().partition("=")[0].removeprefix("$")
    table = _by_name()
    found = table.get(wanted) or table.get(wanted.upper())
    if found is None:
        near = nearest(wanted)
        hint = f"; nearest: {', '.join(near)}" if near else "; `aoti-logs settings` lists them all"
        raise UnknownNameError(f"no setting is called {name}{hint}")
    return found


def nearest(name: str, count: int = 5) -> tuple[str, ...]:
    """Return names that look like this one, best first, each setting once."""
    table = {key.lower(): found.name for key, found in _by_name().items()}
    wanted = name.lower()[:200]
    close = get_close_matches(wanted, table, n=count, cutoff=0.75)
    inside = [key for key in table if len(wanted) >= 4 and wanted in key]
    words = get_close_matches(wanted, table, n=count, cutoff=0.6)
    return tuple(dict.fromkeys(table[key] for key in (*close, *inside, *words)))[:count]


@cache
def _by_name() -> dict[str, Setting]:
    table: dict[str, Setting] = {}
    # A setting's own name wins over an older name of another one (PYTORCH_CUDA_ALLOC_CONF).
    for found in all_settings():
        table[found.name] = found
    for found in all_settings():
        for name in found.names:
            table.setdefault(name, found)
    return table


def _setting(name: str, topic: str, row: dict[str, Any]) -> Setting:
    kind = Kind(row.pop("kind", "config" if name.startswith("torch.") else "environment"))
    effect = Effect(row.pop("effect"))
    config = row.get("config")
    read = row.pop("read", None)
    if read is None:
        module = (config or name).partition("config")[0] + "config"
        read = f"when {module} is imported" if kind is Kind.ENVIRONMENT else "when code is compiled"
    proof = tuple(_proof(text) for text in row.pop("proof", ()))
    again = row.pop("again", _AGAIN.get(effect, "process"))
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
    }
    return Setting(
        name=name, topic=topic, kind=kind, effect=effect, again=again, read=read, proof=proof, **fields
    )


def _proof(text: str) -> Proof:
    match = _PROOF.fullmatch(text)
    if match is None:
        raise ValueError(f"no proof: {text!r}")
    return Proof(file=match[3], text=match[4], since=match[1], until=match[2])
