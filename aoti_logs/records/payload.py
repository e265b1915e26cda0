"""Payloads of TORCH_TRACE records: lines that each begin with one TAB, and the MD5 of their text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap

Piece = tuple[int, int]
"""Byte offsets of a run of whole lines of a payload."""

UNDECLARED = "payload lines that the envelope does not declare"
CHANGED = "the payload is not the one that was written: its checksum differs"

_DECLARED = re.compile(rb'"has_payload": ?"([0-9A-Fa-f]{32})"')


def declared_md5(data: bytes | mmap.mmap, env: int, head_end: int) -> str | None:
    """Return the MD5 that an envelope declares for its payload; None without `has_payload`."""
    # It is the last key, so the tail is looked at first: envelopes may be a megabyte long.
    tail = bytes(data[max(env, head_end - 64) : head_end])
    found = _DECLARED.search(tail) or _DECLARED.search(bytes(data[env:head_end]))
    return found[1].decode().lower() if found else None


def strip_tabs(raw: bytes) -> bytes:
    r"""Take one TAB off every line, and the end of the last line.

    Lines end at `\n` only: form feeds, NEL and U+2028 are part of the text.
    """
    return (b"\n" + raw).replace(b"\n\t", b"\n")[1:].removesuffix(b"\n")


def matches(payload: bytes, md5: str) -> bool:
    """Tell whether a payload has this MD5."""
    import hashlib

    return hashlib.md5(payload, usedforsecurity=False).hexdigest() == md5


def read(data: bytes | mmap.mmap, pieces: tuple[Piece, ...], *, crlf: bool) -> bytes:
    r"""Return the payload's text; `crlf` when the writer ended lines with `\r\n`."""
    raw = b"".join(bytes(data[start:end]) for start, end in pieces)
    text = strip_tabs(raw)
    return text.replace(b"\r\n", b"\n").removesuffix(b"\r") if crlf else text
