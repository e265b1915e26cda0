"""C++ names as linkers write them: demangled by `cxxfilt` where it is installed, else their plain part.

Format: the Itanium C++ ABI. Without `cxxfilt` (extra `demangle`) a name becomes its namespaces, classes and function,
without parameters: `_ZN3c107WarningC1ESt7variant...` is `c10::Warning::Warning`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"_?_ZN?(?:[VK]*)(?:St)?(?=\d)")
_SPECIAL = {
    "_ZTV": "vtable for ",
    "_ZTI": "typeinfo for ",
    "_ZTS": "typeinfo name for ",
    "_ZGV": "guard variable for ",
}
_MOST = 32


@lru_cache(maxsize=1024)
def demangled(symbol: str) -> str | None:
    """Return the C++ name of a symbol, None for one that is not mangled or cannot be read."""
    if not symbol.startswith(("_Z", "__Z")):
        return None
    return _by_library(symbol) or _plain(symbol)


def _by_library(symbol: str) -> str | None:
    try:
        import cxxfilt
    except ImportError:
        return None
    try:
        found = str(cxxfilt.demangle(symbol, external_only=False))
    except (cxxfilt.Error, ValueError):
        return None
    return found if found != symbol else None


def _plain(symbol: str) -> str | None:
    """Read the nested name at the beginning of a symbol."""
    lead = next((words for start, words in _SPECIAL.items() if symbol.startswith(start)), "")
    text = "_Z" + symbol[4:] if lead else symbol
    found = _NAME.match(text)
    if found is None:
        return None
    at, parts = found.end(), []
    if found[0].endswith("St"):
        parts.append("std")
    while len(parts) < _MOST and at < len(text) and text[at].isdigit():
        length = re.match(r"\d{1,4}", text[at:])
        if length is None:
            break
        at += len(length[0])
        name = text[at : at + int(length[0])]
        if len(name) < int(length[0]) or not re.fullmatch(r"\w+", name):
            break
        parts.append("(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name)
        at += int(length[0])
    if not parts:
        return None
    if re.match(r"[CD][1-5]", text[at:]):
        parts.append(("~" if text[at] == "D" else "") + parts[-1])
    return lead + "::".join(parts)
