"""What torch's loggers put in front of a message.

Format: `grammars/torch_logs.lark`. Nearly every line of a large log has the default prefix, so that one is read by a
pattern; a test compares it with the grammar. Formats of a user's own are in `parse/logs/log_format.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.shape import Fields

_RANK = r"(?:\[rank(?P<rank>\d{1,7})\]:? ?)?"
DEFAULT = (
    _RANK
    + r"(?P<level>[VIWECF])(?P<date>\d{4}) (?P<time>\d\d:\d\d:\d\d\.\d{1,9}) +(?P<process>\d{1,20}) "
    + r"(?P<file>[^\s][^\n]{0,1000}?):(?P<line>\d{1,9})\]"
    + r"(?: \[(?P<trace>!?\d{1,9}(?:/\d{1,9}){0,9}(?:_\d{1,9})?)\])?(?: \[__(?P<artifact>\w{1,100})\])?(?![^ \r\n])"
)
_OTHERS = {
    "short": re.compile(_RANK + r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[A-Za-z_][\w.]{0,300}:"),
    "bracket": re.compile(
        _RANK
        + r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{1,6}\] (?:\[!?\d[\d/_]{0,40}\] )?[A-Za-z_][\w.]{0,300}: \[[A-Z]{4,8}\]"
    ),
    "cpp": re.compile(
        _RANK + r"\[[VIWEFC](?:\d{3,4} \d\d:\d\d:\d\d\.\d{1,9})? ?[^\s\]:]{1,300}:\d{1,9}\](?= )"
    ),
}
_LEVELS = {"V": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "FATAL"}
_RANK_FIRST = re.compile(_RANK)


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix taken apart; `style` is `default`, `short`, `bracket`, `cpp` or a %-format of Python's logging.

    `text` is the prefix as it stands, without what a launcher put before it. `rank` is the one that torch wrote.
    """

    style: str
    text: str
    level: str
    time: str = ""
    process: int = 0
    module: str = ""
    module_line: int = 0
    compile_id: str | None = None
    artifact: str | None = None
    rank: int | None = None


_TEXT = re.compile(DEFAULT)


def default_prefix(text: str) -> Prefix | None:
    """Read the default prefix at the beginning of a line, by a pattern."""
    found = _TEXT.match(text)
    return None if found is None else of_groups(found[0], found.group(*GROUPS))


GROUPS = ("rank", "level", "date", "time", "process", "file", "line", "trace", "artifact")
"""Groups of `DEFAULT`, in the order in which `of_groups` takes them."""


def of_groups(text: str, groups: tuple[str | None, ...]) -> Prefix:
    """Return the prefix of which a pattern gave the parts."""
    rank, level, date, time, process, file, line, trace, artifact = groups
    return Prefix(
        "default", text, _LEVELS[level or ""], f"{date} {time}", int((process or "0")[:18]), file or "",
        int(line or 0), trace, artifact, None if rank is None else int(rank),
    )  # fmt: skip


def prefix_by_grammar(style: str, text: str) -> Prefix | None:
    """Read a whole prefix of a style (`default`, `short`, `bracket`, `cpp`) by its grammar; None when it does not fit."""
    rank = _RANK_FIRST.match(text)
    read = fields("torch_logs", style, text[rank.end() :] if rank else text)
    if read is None:
        return None
    logger = first(read, "LOGGER") or ""
    level = first(read, "LEVEL")
    return Prefix(
        style=style,
        text=text,
        level=first(read, "LEVEL_NAME") or "" if level is None else _LEVELS[level],
        time=_time(read),
        process=int((first(read, "PID") or "0")[:18]),
        module=first(read, "FILE") or first(read, "CPP_FILE") or logger.partition(".__")[0],
        module_line=int((first(read, "LINE") or "0")[:9]),
        compile_id=first(read, "TRACE"),
        artifact=first(read, "ARTIFACT") or logger.partition(".__")[2] or None,
        rank=int(rank["rank"]) if rank and rank["rank"] else None,
    )


def other_prefix(text: str) -> Prefix | None:
    """Read the prefix of another style than the default at the beginning of a line.

    A prefix that looks like one and does not fit its grammar has the style `unreadable`.
    """
    for style, pattern in _OTHERS.items():
        found = pattern.match(text)
        if found is not None:
            return prefix_by_grammar(style, found[0]) or Prefix("unreadable", found[0], "")
    return None


def with_rank(prefix: Prefix, rank: int | None) -> Prefix:
    """Return the prefix with the rank that a launcher wrote, where torch wrote none."""
    return prefix if rank is None or prefix.rank is not None else replace(prefix, rank=rank)


def _time(found: Fields) -> str:
    if "TIME" in found:
        return f"{found['DATE'][0]} {found['TIME'][0]}"
    return first(found, "WHEN") or ""
