"""Whether a kernel computes its index in exact 64-bit integers, from the load to the check.

The slice leaves casts out, because nearly all of them keep the value. Where one may not (`int8`,
`float`), numbers printed for the tensor say nothing about the index, and a clamp before the cast
bounds nothing behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aoti_logs.code.index.case import IndexCase

_TYPE = re.compile(
    r"\b(?:tl\.)?(u?int(?:8|16|32)|uint64|float\d*|double|half|bfloat16|Half|BFloat16|short|char|unsigned|fp\d+)(?:_t)?\b"
    r"|\b(int)\b(?!\s+\w)"
)
# A number of that type, not a value cast to it: `tl.full([1], 1000, tl.int32)`, `static_cast<int32_t>(1000)`.
_NUMBER = re.compile(r"tl\.full\([^\n]*\)|(?:static_cast<\w+>|\b\w+_t)\(-?\d+L*\)")
_FLOATS = re.compile(r"\*(?:fp|bf)\d|float|double|half|Half", re.I)
_OWN = re.compile(r"i(?:nt)?(8|16|32)\b|int(8|16|32)_t")


def is_exact(case: IndexCase) -> bool:
    """Return False when a cast between the load and the check may change the value."""
    if case.slice is None or case.site is None:
        return False
    own = set()
    for index in case.index:
        if index.dtype is not None and _FLOATS.search(index.dtype):
            return False
        found = _OWN.search(index.dtype or "")
        if found is not None:
            own.add(f"int{found[1] or found[2]}")
    source = case.site.kernel.source
    for line in case.slice.steps:
        text = _NUMBER.sub("", source.line_text(line))
        for match in _TYPE.finditer(text):
            name = match[1] or "int32"
            if name not in own:
                return False
    return True
