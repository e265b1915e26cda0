"""How often a byte stands in a file of any size."""

from __future__ import annotations

from typing import Any

_BLOCK = 1 << 24


def count_bytes(data: Any, byte: bytes) -> int:
    """Return how often a byte stands in bytes or a mapped file, a part at a time."""
    return sum(bytes(data[at : at + _BLOCK]).count(byte) for at in range(0, len(data), _BLOCK))
