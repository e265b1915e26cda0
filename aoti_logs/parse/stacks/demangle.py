"""Mangled names of the Itanium ABI (`_ZN...`), taken apart with the extra `demangle` where it is installed.

Backtraces of c10, gdb and the sanitizers are demangled; glibc's `backtrace_symbols`, CPython's C stack, folly and the
dynamic linker print names as they stand in the library. Without the extra they stay so.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MANGLED = re.compile(r"_{1,4}Z[A-Za-z0-9_.$]+")
_CLONE = re.compile(r"(?<=.)\..*$")
MISSING = 'mangled names stay as they are: pip install "aoti-logs[demangle]" takes them apart'
"""What to say where `demangled` gives None for lack of the extra."""


def is_mangled(symbol: str) -> bool:
    """Tell whether a symbol is a mangled C++ name."""
    return _MANGLED.fullmatch(symbol) is not None


@cache
def _demangler() -> Callable[[str], str] | None:
    try:
        import cxxfilt
    except Exception:  # it loads libstdc++ when imported; without that there is nothing to call
        return None
    found: Callable[[str], str] = cxxfilt.demangle
    return found


def can_demangle() -> bool:
    """Tell whether the extra is installed and works."""
    return _demangler() is not None


@lru_cache(maxsize=1 << 14)
def demangled(symbol: str) -> str | None:
    """Return the C++ name, or None where the symbol is none or nothing can take it apart."""
    demangle = _demangler() if is_mangled(symbol) else None
    if demangle is None:
        return None
    clone = _CLONE.search(symbol)
    bare = symbol[: clone.start()] if clone else symbol
    try:
        name = demangle(bare)
    except Exception:  # a name of the vector ABI, a cut one
        return None
    if name == bare:
        return None
    return f"{name} [clone {clone[0]}]" if clone else name
