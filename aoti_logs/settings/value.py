"""What the text of a variable does, and what whoever wrote it most likely meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.settings.model import Setting

_ON = frozenset({"1", "true", "yes", "on", "y", "t", "enable", "enabled"})
_OFF = frozenset({"", "0", "false", "no", "off", "n", "f", "none", "disable", "disabled"})
_CVAR_ON = frozenset({"1", "y", "yes", "t", "true"})
_CVAR_OFF = frozenset({"0", "n", "no", "f", "false"})
_TRITON_ON = frozenset({"1", "true", "on"})
_SWITCHED = re.compile(r"(?:True|False|[01])$|unset: (?:off|on)|unset: buffered|the same as")
_ZERO = re.compile(r"\s*[+-]?0+\s*$")


def is_switch(known: Setting) -> bool:
    """Tell whether a setting is one that is on or off, and not a text, a number or a path."""
    if known.reading in {
        "one",
        "flag",
        "nonempty",
        "set",
        "not-zero",
        "python",
        "tristate",
        "cvar",
        "triton",
    }:
        return known.values is None
    return known.reading == "config" and _SWITCHED.match(known.default) is not None


def switched(known: Setting, text: str) -> bool | None:
    """Return whether a text switches a setting on, as torch 2.13 (or who else owns it) reads it.

    None for what is no switch, and for a text that is ignored or refused.
    """
    if not is_switch(known):
        return None
    match known.reading:
        case "one":
            return text == "1"
        case "flag" | "tristate":
            return {"1": True, "0": False}.get(text)
        case "nonempty":
            return text != ""
        case "set":
            return True
        case "not-zero":
            return not text.startswith("0")
        case "python":
            return text != "" and _ZERO.match(text) is None
        case "config":
            return text not in {"", "0"}
        case "cvar":
            low = text.lower()
            return True if low in _CVAR_ON else False if low in _CVAR_OFF else None
        case _:
            return text.lower() in _TRITON_ON


def meant(text: str) -> bool | None:
    """Return what the writer of a text most likely wanted, None where it is neither a yes nor a no."""
    word = text.strip().lower()
    return True if word in _ON else False if word in _OFF else None
