"""What is changed in one record so that tlparse reads it, and does nothing but write its pages.

A record comes from strangers, and tlparse takes names in it for paths and texts in it for HTML. The
rules here are about the JSON value that tlparse sees; a record that needs none of them is passed on as
it is, byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

from aoti_logs.records.envelope import CONTEXT_KEYS
from aoti_logs.report.export import mend_export
from aoti_logs.report.reasons import LARGEST_STRING_ID, Reason
from aoti_logs.report.text import shown, without_surrogates, without_tags

if TYPE_CHECKING:
    from aoti_logs.report.tlparse import Options

Changes = list[tuple[Reason, str]]
"""Reason and example of each change."""

_PATHS = frozenset({"artifact", "graph_dump", "optimize_ddp_split_child", "dump_file"})
"""Entries whose `name` tlparse makes a path of."""
_NOT_PLAIN = re.compile(r"[/\\\x00-\x1f\x7f]|^[A-Za-z]:")
_CLIMBS = re.compile(r"^[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)")
_LONGEST_NAME = 150  # bytes; a name on disk has at most 255, and tlparse puts words around it
_MD5 = re.compile(r"[0-9A-Fa-f]{32}")
_WEB = re.compile(r"https?://[^\s]", re.IGNORECASE)
_NEGATIVE_FILE = re.compile(rb'"filename" ?: ?-')
_UNUSED_FILE = 2**32 - 1
_CODE = "inductor_output_code"
_NO_REASON = "(no reason was recorded)"


def decode(raw: bytes) -> tuple[dict[str, Any] | None, Changes]:
    """Return the JSON object that a line ends with, as tlparse may see it; None when it sees none.

    Where orjson refuses, a reader that accepts more than tlparse's does decides: what tlparse skips
    without looking may be no JSON to others.

    Raises:
        RecursionError: it is nested too deeply to be looked at.
    """
    import orjson

    try:
        value = orjson.loads(raw)
        return (value if isinstance(value, dict) else None), []
    except orjson.JSONDecodeError:
        pass
    reader = json.JSONDecoder(
        parse_int=_integer, parse_float=_finite, parse_constant=lambda _: None, strict=False
    )
    try:
        value = reader.decode(raw.decode("utf-8", "replace"))
    except ValueError:
        return None, []
    return (without_surrogates(value), [(Reason.JSON, "")]) if isinstance(value, dict) else (None, [])


def _integer(text: str) -> int | float | None:
    return int(text) if len(text) < 20 else _finite(text)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def encode(envelope: dict[str, Any]) -> bytes:
    """Return an envelope in the form that torch gives it."""
    try:
        return json.dumps(envelope, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_no_infinity(envelope)).encode()


def _no_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _no_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_no_infinity(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def mend(envelope: dict[str, Any], raw: bytes, options: Options) -> Changes:
    """Change an envelope in place where tlparse would refuse it, lose it, or do more than show it.

    Args:
        envelope: the decoded envelope.
        raw: its text.
        options: what tlparse is asked for.

    Returns:
        What was changed. `Reason.STRING` means that the whole line is to be left out.
    """
    changes: Changes = []
    for key, value in envelope.items():
        if key in CONTEXT_KEYS:
            continue
        if isinstance(value, list) and key != "str":
            envelope[key] = None
            changes.append((Reason.LIST, shown(key)))
        elif isinstance(value, dict):
            changes += _names(key, value, options)
    changes += _context(envelope)
    changes += _entries(envelope)
    if _NEGATIVE_FILE.search(raw) and _frames(envelope):
        changes.append((Reason.FRAME, ""))
    if options.export:
        changes += mend_export(envelope)
    return changes


def plain_name(name: str) -> str:
    """Return a name that is one name on disk, wherever tlparse puts it; plain names stay as they are."""
    plain = _NOT_PLAIN.sub(lambda found: "_" * len(found[0]), name)
    if len(plain.encode("utf-8", "replace")) > _LONGEST_NAME:
        digest = hashlib.md5(name.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        plain = plain.encode("utf-8", "replace")[: _LONGEST_NAME - 20].decode("utf-8", "ignore")
        plain = f"{plain}_{digest[:12]}"
    return plain


def _names(key: str, entry: dict[str, Any], options: Options) -> Changes:
    changes: Changes = []
    name = entry.get("name")
    if isinstance(name, str) and (key in _PATHS or _CLIMBS.search(name)):
        plain = plain_name(name)
        if plain != name:
            changes.append((Reason.NAME, f"{shown(name)} is {shown(plain)}"))
        if options.provenance and _CODE in plain:
            # The page takes the last dump of that name for code that is HTML already.
            plain = plain.replace(_CODE, "inductor-output-code")
            changes.append((Reason.CODE_NAME, f"{shown(name)} is {shown(plain)}"))
        entry["name"] = plain
    file = entry.get("filename")
    if key == _CODE and isinstance(file, str):
        last = file.rpartition("/")[2]
        plain = plain_name(last)
        if plain != last:
            entry["filename"] = plain
            changes.append((Reason.NAME, f"{shown(last)} is {shown(plain)}"))
    return changes


def _context(envelope: dict[str, Any]) -> Changes:
    changes: Changes = []
    declared = envelope.get("has_payload")
    if isinstance(declared, str) and not _MD5.fullmatch(declared):
        digest = hashlib.md5(declared.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        envelope["has_payload"] = digest
        changes.append((Reason.CHECKSUM, f"{shown(declared)} is {digest}"))
    rank = envelope.get("rank")
    if rank is not None and not (type(rank) is int and 0 <= rank < 2**32):
        del envelope["rank"]
        changes.append((Reason.RANK, shown(str(rank))))
    interned = envelope.get("str")
    if isinstance(interned, list) and any(type(n) is int and n > LARGEST_STRING_ID for n in interned):
        changes.append((Reason.STRING, shown(str(interned))))
    return changes


def _entries(envelope: dict[str, Any]) -> Changes:
    changes: Changes = []
    link = envelope.get("link")
    if isinstance(link, dict) and isinstance(link.get("url"), str) and not _WEB.match(link["url"]):
        changes.append((Reason.URL, shown(link["url"])))
        link["url"] = "about:blank"
    metrics = envelope.get("compilation_metrics")
    if isinstance(metrics, dict):
        restarts = metrics.get("restart_reasons")
        if isinstance(restarts, list):
            harmless = [without_tags(text) if isinstance(text, str) else text for text in restarts]
            changes += [
                (Reason.MARKUP, shown(old)) for old, new in zip(restarts, harmless, strict=True) if old != new
            ]
            metrics["restart_reasons"] = harmless
        if metrics.get("fail_type") is not None and metrics.get("fail_reason") is None:
            metrics["fail_reason"] = _NO_REASON
            changes.append((Reason.NO_REASON, ""))
    return changes


def _frames(value: Any) -> bool:
    """Replace negative file ids; true when there were some."""
    changed = False
    if isinstance(value, dict):
        file = value.get("filename")
        if type(file) is int and file < 0:
            value["filename"] = _UNUSED_FILE
            changed = True
        for item in value.values():
            changed = (isinstance(item, dict | list) and _frames(item)) or changed
    elif isinstance(value, list):
        for item in value:
            changed = (isinstance(item, dict | list) and _frames(item)) or changed
    return changed
