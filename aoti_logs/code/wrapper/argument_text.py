"""An argument of a call as a person reads it, without casts and suffixes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.accesses import memory_accesses
from aoti_logs.code.model import ArgumentKind, Backend
from aoti_logs.code.sizes.expr import size_text

if TYPE_CHECKING:
    from aoti_logs.code.model import Argument, Launch
    from aoti_logs.code.view import ModelView

_INDUCTORS = re.compile(r"triton_[a-z]{3}_|cpp_")
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
    # An expression that cannot be made canonical is not the one symbol in it.
    alone = None if argument.kind is ArgumentKind.EXPRESSION else argument.name
    return value_text(argument, cpp=cpp) or alone or argument.text


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


def only_written(view: ModelView, launch: Launch) -> set[str | None]:
    """Return the tensors that a call gives only to be written: those of `out_ptr0` and the like.

    In a kernel of Inductor the name tells it; a user may read what is called so.
    """
    outputs = {
        a.param: a.name for a in launch.arguments if a.param is not None and a.param.startswith("out_ptr")
    }
    body = None if not outputs or _INDUCTORS.match(launch.kernel) else view.body(launch.kernel)
    for access in () if body is None else memory_accesses(body):
        if access.kind != "store" and access.pointer is not None:
            outputs.pop(access.pointer, None)
    return set(outputs.values())
