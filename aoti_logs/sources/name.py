"""Names as text that can be written: file systems allow names that are not UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(name: str) -> str:
    r"""Return a name with each byte that is not UTF-8 as `\xNN`, so that different names stay different.

    Python holds such a byte as a lone surrogate, which neither JSON nor a table nor a terminal takes.
    """
    return _SURROGATE.sub(_escaped, name)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
