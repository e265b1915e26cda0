"""Signals by name, by Linux' number, and in the words of strsignal(3) and of shells."""

from __future__ import annotations

import re

NAMES = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
    31: "SIGSYS",
}  # fmt: skip
"""Names by number, of x86 and ARM Linux; other systems number SIGBUS otherwise."""

_NUMBERS = {name: number for number, name in NAMES.items()}
_WORDS = (
    ("segmentation", "SIGSEGV"), ("access violation", "SIGSEGV"), ("abort", "SIGABRT"), ("iot", "SIGABRT"),
    ("bus error", "SIGBUS"), ("floating point", "SIGFPE"), ("arithmetic", "SIGFPE"), ("illegal", "SIGILL"),
    ("killed", "SIGKILL"), ("terminated", "SIGTERM"), ("hangup", "SIGHUP"), ("interrupt", "SIGINT"),
    ("trace/breakpoint", "SIGTRAP"), ("trap", "SIGTRAP"), ("bad system call", "SIGSYS"), ("quit", "SIGQUIT"),
    ("exc_bad_access", "SIGSEGV"),
)  # fmt: skip
_NAME = re.compile(r"\bSIG[A-Z]{2,6}\b")


def by_words(words: str) -> str | None:
    """Return the signal of words like `Segmentation fault` or `IOT instruction`, or None."""
    named = _NAME.search(words)
    if named is not None and named[0] in _NUMBERS:
        return named[0]
    low = words.strip().lower()
    return next((signal for begin, signal in _WORDS if low.startswith(begin)), None)


def number_of(signal: str | None) -> int | None:
    """Return a signal's number on Linux, or None."""
    return _NUMBERS.get(signal) if signal is not None else None


def by_code(code: int) -> str | None:
    """Return the signal that an exit code tells: 128 + N from a shell, -N from Python's subprocess, or None."""
    number = -code if code < 0 else code - 128
    return NAMES.get(number)
