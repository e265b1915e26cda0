"""The limit on compiles of one function: which setting, which function, the last reason.

Format: `grammars/recompile_limit.lark`.
"""

from __future__ import annotations

import re

from aoti_logs.parse.compiles.failure import Limit
from aoti_logs.parse.shape import fields, first

LITERALS = ("hit config.", "hit recompilation cache limit", "recompile limit exceeded", "_limit reached")
"""One of these stands in the text."""

_LONGEST = 4096
_QUOTED = re.compile(r"\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")


def read_limit(text: str, *, headless: bool = False) -> Limit | None:
    """Read a warning or the text of an exception; None when it is about something else.

    Args:
        text: the text.
        headless: whether its first lines may be cut off, so that none of `LITERALS` stands in it.
    """
    if not headless and not any(words in text for words in LITERALS):
        return None
    limit = Limit(None, None)
    told = False
    for line in text.split("\n")[:100]:
        words = line.strip()[: _LONGEST * 4]
        read = _line(limit, words)
        if read is not None:
            limit, told = read, True
    return limit if told else None


def _line(limit: Limit, words: str) -> Limit | None:
    """Return the limit with what one line adds, None when it adds nothing."""
    from dataclasses import replace

    if " hit config." in words:
        found = fields("recompile_limit", "hit", _from_torch(words, " hit config."))
        return replace(limit, config=found["CONFIG"][0], limit=_number(found["NUMBER"][0])) if found else None
    if "hit recompilation cache limit" in words:
        found = fields("recompile_limit", "old", _from_torch(words, " hit recompilation"))
        if found is None:
            return None
        lists = first(found, "LISTS") or ""
        return Limit(
            "cache_size_limit",
            _number(found["NUMBER"][0]),
            found["NAME"][0],
            found["FILE"][0],
            _number(found["LINE"][0]),
            reasons=tuple(a or b for a, b in _QUOTED.findall(lists)),
        )
    if words.startswith("function: "):
        found = fields("recompile_limit", "function", words)
        if found is None:
            return None
        name, file, line = found["NAME"][0], found["FILE"][0], _number(found["LINE"][0])
        return replace(limit, function=name, file=file, line=line)
    if words.startswith(("last reason: ", "reasons: ")):
        found = fields("recompile_limit", "reason", words)
        return replace(limit, last_reason=found["TEXT"][0]) if found else None
    if "cache size limit (currently set to" in words:
        found = fields("recompile_limit", "exceeded", words[words.find("exceeding the ") :])
        return replace(limit, config=found["CONFIG"][0], limit=_number(found["NUMBER"][0])) if found else None
    if "_limit reached" in words:
        found = fields("recompile_limit", "reached", words)
        return replace(limit, config=found["CONFIG"][0]) if found else None
    return None


def _from_torch(words: str, behind: str) -> str:
    """Leave out what stands before torch's own words: a prefix, another program's output."""
    return words[
        max(words.rfind(" torch", 0, words.index(behind)), words.rfind(":torch", 0, words.index(behind)))
        + 1 :
    ]


def _number(text: str) -> int:
    return int(text[:9])
