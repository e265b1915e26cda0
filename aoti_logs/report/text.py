"""Text from a log as it may stand in a sentence or on somebody else's page."""

from __future__ import annotations

import re
from typing import Any

from aoti_logs.render.safe import clean

_OPENS_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ESCAPED = re.compile("[\udc80-\udcff]")
_LONGEST = 60


def shown(text: str) -> str:
    """Return a text in quotes, harmless and short."""
    text = clean(text)
    return f'"{text}"' if len(text) <= _LONGEST else f'"{text[:_LONGEST]} ..."'


def many(count: int, noun: str, verb: str = "") -> str:
    """Return a count with its noun, and a verb where one follows: `1 record is`, `2 records are`."""
    words = f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
    return f"{words} {_ONE.get(verb, verb) if count == 1 else verb}" if verb else words


_ONE = {"are": "is", "have": "has", "stand": "stands", "give": "gives"}


def without_tags(text: str) -> str:
    """Replace what a browser would take for the beginning of a tag; `a < b` stays."""
    return _OPENS_TAG.sub("\u2039", text)


def without_surrogates(value: Any) -> Any:
    """Return a JSON value with U+FFFD for each half of a surrogate pair."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def as_utf8(raw: bytes) -> tuple[bytes, int]:
    """Return bytes with U+FFFD for each byte that is not UTF-8, and how many those were."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return escaped_as_utf8(raw.decode("utf-8", "surrogateescape"))
    return raw, 0


def escaped_as_utf8(text: str) -> tuple[bytes, int]:
    """Return the same for text that was decoded with `surrogateescape`."""
    text, count = _ESCAPED.subn("\ufffd", text)
    return text.encode(), count
