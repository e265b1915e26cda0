"""Small readings that several kinds of compile-time text share."""

from __future__ import annotations

# torch 2.4 and 2.6 use sys.maxsize (and its neighbours) where later releases print int_oo.
_INFINITE = 2**63 - 2


def limit(text: str) -> int | None:
    """Return an end of a value range as a number; None for infinity (`int_oo`, `oo`, `sys.maxsize - 1`).

    Ends that are not whole numbers are None too: sizes are whole.
    """
    try:
        value = int(text[:64])
    except ValueError:
        return None
    return None if abs(value) >= _INFINITE else value
