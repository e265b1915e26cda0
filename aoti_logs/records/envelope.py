"""Prefix and JSON envelope of a TORCH_TRACE record.

A record is `V1129 12:10:21.164000 4741 torch/_dynamo/utils.py:2350] {"chromium_event": {}, ...}`: the
prefix is the log formatter's of `torch/_logging/_internal.py`, the envelope is what `trace_structured`
hands to `json.dumps`, so it may hold bare NaN.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = (
    rb"[A-Z]{1,16}[01]\d[0-3]\d \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,20} (?!\s)"
    rb"[^\]\n]{1,1024}(?:\](?! )[^\]\n]{0,1024}){0,8}:\d{1,9}\] "
)
"""The usual prefix with its last blank; compiled by those who search for it."""

_PARTS = re.compile(
    rb"(?s)([A-Z]+)(\d{4} \d\d:\d\d:\d\d\.\d+) +(\d+) (.*):(\d+)\] ?$",
)
LOOSE = re.compile(
    rb"[VIWEC][01]\d[0-3]\d \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,20} (?!\s)[^\n]{1,1024}:\d{1,9}\] \Z"
)
"""A prefix that ends where the searched text ends, whatever its path holds."""

NAME = re.compile(rb'\{ ?"([^"\\\n]{1,200})": ?(?:\{ ?"name": ?"([^"\\\n]{0,200})")?')
"""The first key of an envelope, and `name` where that is the first key of its value."""

CONTEXT_KEYS = frozenset(
    {
        "rank",
        "compiled_autograd_id",
        "frame_id",
        "frame_compile_id",
        "attempt",
        "severity",
        "timestamp",
        "pathname",
        "thread",
        "subgraph_name",
        "has_payload",
        "stack",
    }
)
"""Envelope keys that never name the entry (`torch/_logging/_internal.py`)."""

_LONGEST_INTEGER = 300
"""Digits."""

NAMED = frozenset({"artifact", "graph_dump"})
"""Entries that are told apart by the `name` in their metadata."""


def parse_prefix(prefix: bytes) -> tuple[str, str, int, str, int] | None:
    """Return level, time (`MMDD HH:MM:SS.uuuuuu`), process, path and line of a prefix."""
    found = _PARTS.match(prefix)
    if found is None:
        return None
    level, time, process, path, line = (part.decode("utf-8", "replace") for part in found.groups())
    return level, time, int(process), path, int(line)


def decode_json(raw: bytes) -> Any:
    """Return the value of a JSON text, or raise ValueError.

    What torch writes is not always JSON: NaN and Infinity are accepted, a lone surrogate becomes
    U+FFFD, because no frame could hold it.
    """
    import orjson

    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    import json

    try:
        return _without_surrogates(json.loads(raw.decode("utf-8", "replace"), parse_int=_whole))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def decode_object(raw: bytes) -> tuple[dict[str, Any], str | None]:
    """Return an envelope, and what is wrong with it in words; then it is empty."""
    try:
        value = decode_json(raw)
    except ValueError as error:
        return {}, f"the envelope is not JSON: {error}"
    return (value, None) if isinstance(value, dict) else ({}, "the envelope is not a JSON object")


def _whole(digits: str) -> int | float:
    # What no float can hold would be an error wherever it is reckoned with.
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def object_end(raw: bytes) -> int:
    """Return where the JSON object at the start of `raw` ends, -1 when it does not."""
    import json

    try:
        value, end = json.JSONDecoder().raw_decode(raw.decode("latin-1"))
    except (ValueError, RecursionError):
        return -1
    return end if isinstance(value, dict) else -1


def entry_names(envelope: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys that name entries; normally exactly one."""
    return tuple(key for key in envelope if key not in CONTEXT_KEYS)


def compile_id(envelope: dict[str, Any]) -> str | None:
    """Return the compile id as torch prints it: `0/1`, `0/1_2` with an attempt, `!0/1/0`, `!0`.

    None where the record knows none, as for every AOTInductor record of torch 2.7 and later.
    """
    get = envelope.get
    ids = get("compiled_autograd_id"), get("frame_id"), get("frame_compile_id"), get("attempt")
    try:
        return _compile_text(*ids)
    except TypeError:  # a list or an object: nothing that could be kept
        return _compile_text.__wrapped__(*ids)


@lru_cache(maxsize=1 << 14, typed=True)
def _compile_text(*ids: object) -> str | None:
    autograd, frame, number, attempt = map(natural, ids)
    has_frame = frame is not None and number is not None
    if autograd is None and not has_frame:
        return None
    text = f"{frame}/{number}" if has_frame else ""
    if autograd is not None:
        text = f"!{autograd}/{text}".removesuffix("/")
    return f"{text}_{attempt}" if attempt else text


def rank(envelope: dict[str, Any]) -> int | None:
    """Return the rank a record gives, None when it gives none or nonsense."""
    return natural(envelope.get("rank"))


def natural(value: object) -> int | None:
    """Return an integer of at least 0 as it is, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
