"""One record as a report tells it: what is known of prefix, envelope and payload, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

EMPTY_MD5 = "d41d8cd98f00b204e9800998ecf8427e"
"""What a record declares whose payload is the empty text; tlparse writes no file for it."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A payload as a report holds it.

    `line` is the line of `source` where it begins; `by_line` tells whether each of its lines is a line
    of `source`, else all of it is at `line`. `exact` is False where tlparse wrote it anew (JSON).
    """

    text: bytes
    source: Source
    line: int = 1
    by_line: bool = True
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One record. Of what a report does not say the value is None, for `time` the empty string.

    `start` and `end` are the bytes of `source` that tell of it, `line` the first of their lines.
    `microseconds` is the time of a chromium event since the epoch, in UTC.
    """

    envelope: dict[str, Any]
    source: Source
    start: int
    end: int
    line: int
    time: str = ""
    process: int | None = None
    emitter: tuple[str, int] | None = None
    payload: Payload | None = None
    problem: str | None = None
    microseconds: float | None = None
    begins: bool = False
    """Whether it is the begin of a chromium event."""
