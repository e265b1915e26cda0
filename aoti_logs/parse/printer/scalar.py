"""Values of scalars that generated code prints with `%ld`, whatever their type is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.parse.events import Dump

_FLOATING = re.compile(
    r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eEfF]))(?:[eE][-+]?\d+)?[fFlL]?$|.*\b(?:float|double)\b"
)
_LARGEST = 2**63


def scalar_value(dump: Dump) -> int | None:
    """Return the value of a scalar's record as an integer, or None.

    A float is garbage there (`%ld` reads it as an integer): where the argument is a literal with a point, or is cast to a
    floating type, None is returned.
    """
    if dump.format == "python" and dump.numel is None and dump.value is not None:
        return int(dump.value) if re.fullmatch(r"-?\d{1,18}", dump.value) else None
    if dump.format != "cpp_scalar" or dump.value is None or _FLOATING.match(dump.argument or ""):
        return None
    if not re.fullmatch(r"-?\d{1,19}", dump.value):
        return None
    value = int(dump.value)
    return value if -_LARGEST <= value < _LARGEST else None
