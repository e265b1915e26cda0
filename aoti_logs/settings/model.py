"""What is known about one setting."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """Where a setting is made."""

    ENVIRONMENT = "environment"
    """A variable of the process."""
    CONFIG = "config"
    """A config value of torch that no variable sets; for AOTInductor also an entry of `inductor_configs`."""
    BUILD = "build"
    """A macro when torch is built."""


class Effect(StrEnum):
    """When a setting changes what happens."""

    BUILD = "build"
    """When torch is built."""
    PROCESS = "process"
    """From the start of the process, or of CUDA in it, until its end."""
    IMPORT = "import"
    """From the import of torch on."""
    COMPILE = "compile"
    """When code is compiled or exported; what is compiled keeps it."""
    LOAD = "load"
    """When a package is loaded."""
    FIRST_RUN = "first run"
    """At the first run of a loaded model, which keeps it."""
    RUN = "run"
    """At every run."""


READINGS = {
    "one": "only `1` is on; any other text is off, also `true`, `on` and the empty one",
    "flag": "`1` is on, `0` is off; any other text is ignored, with a warning",
    "python": "off when it is not set, is empty or is the number 0; any other text is on, also `no` and `false`",
    "nonempty": "any text that is not empty is on, also `0` and `false`",
    "set": "on when it is set at all, also when it is empty or `0`",
    "not-zero": "off when it is not set or its text begins with `0`; everything else is on, also `false` and the empty text",
    "config": "`1` is True, `0` is False; any other text is taken as it is, and one that is not empty counts as on, also `false`",
    "tristate": "`1` is on, `0` is off; any other text is as if it were not set",
    "cvar": "`1`, `y`, `yes`, `t`, `true` are on, `0`, `n`, `no`, `f`, `false` are off, in any case of letters; any other text is an error",
    "triton": "`1`, `true`, `on` are on, in any case of letters; other texts are off",
    "number": "a number",
    "text": "a text",
    "path": "a path",
}
"""How the text of a variable becomes a value, by the word that the catalogue uses."""

AGAIN = {
    "build": "torch has to be built again",
    "compile": "compile again",
    "process": "start the process again; nothing has to be compiled again",
    "load": "load the package again, or start the process again; nothing has to be compiled again",
}
"""What has to be done for a change to be seen."""


@dataclass(frozen=True)
class Proof:
    """A file of torch, below its folder, and a text in it that shows what is said.

    `since` and `until` are the first and the last release in which it stands, None where the setting's own range holds.
    """

    file: str
    text: str
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True)
class Setting:
    """One setting.

    `config` is the config value that an environment variable gives its default; `default` is that value as Python
    writes it, or words. `since` and `until` are the first and the last release of torch that knows the name; "2.4" means
    2.4 or older, and None that it is not torch's. `formerly` are names that it had before. `rules` are the codes of the
    rules that name it. Releases were read from the wheels of 2.4 to 2.13 (tests/payloads/settings_releases.json).
    """

    name: str
    topic: str
    kind: Kind
    does: str
    effect: Effect
    again: str
    read: str
    default: str
    reading: str | None = None
    config: str | None = None
    values: str | None = None
    since: str | None = None
    until: str | None = None
    owner: str | None = None
    formerly: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    cost: str = ""
    misleads: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    proof: tuple[Proof, ...] = ()
    measured: str | None = None
    outside: str | None = None

    @property
    def option(self) -> str | None:
        """Its key in `inductor_configs={...}` and torch.compile's `options`, None where it has none."""
        value = self.name if self.kind is Kind.CONFIG else self.config
        prefix = "torch._inductor.config."
        return value.removeprefix(prefix) if value is not None and value.startswith(prefix) else None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that finds it: its own, its config value's, the older ones."""
        found = (self.name, self.config, self.option, *self.formerly)
        return tuple(dict.fromkeys(n for n in found if n is not None))

    def known_in(self, release: str) -> bool:
        """Say whether a release of torch, "2.9", knows it; settings that are not torch's are known in all."""
        wanted = number(release)
        # The oldest release that was read is 2.4: what stands there may be older.
        first = number(self.since) if self.since is not None and self.since != "2.4" else (0, 0)
        return first <= wanted <= (number(self.until) if self.until is not None else (99, 99))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**asdict(self), "kind": str(self.kind), "effect": str(self.effect), "option": self.option}


def number(release: str) -> tuple[int, int]:
    """Return "2.13.0+cpu" as (2, 13). Raise ValueError for what is no release."""
    major, _, rest = release.removeprefix("v").partition(".")
    return int(major), int(rest.split(".")[0].split("+")[0] or 0)
