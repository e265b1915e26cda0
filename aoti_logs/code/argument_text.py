"""An argument of a call as a person reads it, without casts and suffixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.size_expr import size_text

if TYPE_CHECKING:
    from aoti_logs.code.model import Argument, Launch

_TENSORS = {ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT}


def value_text(argument: Argument, *, cpp: bool) -> str | None:
    """Return the value of a size or a literal as one canonical expression (`64*s23`), None where it is none.

    Args:
        argument: the argument.
        cpp: the wrapper is C++.
    """
    return size_text(argument.value, cpp=cpp)


def behind(argument: Argument, *, cpp: bool) -> str:
    """Return what an argument passes on: a tensor's name, a size's expression, a literal, else its text."""
    if argument.kind in _TENSORS and argument.name:
        return argument.name
    return value_text(argument, cpp=cpp) or argument.name or argument.text


def passed(launch: Launch, *, cpp: bool) -> list[str]:
    """Return what stands behind the casts of each argument of a call.

    For a fused kernel these are the kernel's parameters in order; what only a launcher needs is left out.
    """
    whole = launch.backend is Backend.EXTERN
    return [
        behind(a, cpp=cpp)
        for a in launch.arguments
        if whole or a.param is not None or (launch.unbound and a.kind is not ArgumentKind.OTHER)
    ]
