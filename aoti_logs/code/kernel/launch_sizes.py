"""Concrete sizes of one launch: what its scalar parameters are when the symbols of the wrapper have given values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.code.expr import Name
from aoti_logs.code.kernel.arithmetic import Language, integer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aoti_logs.code.model import Launch


def sizes_at(launch: Launch, symbols: Mapping[str, int], *, python: bool = False) -> dict[str, int]:
    """Return the values of a launch's scalar parameters, as far as the given symbols tell them.

    Args:
        launch: a launch whose arguments are bound to parameters.
        symbols: `{"s70": 5}`; names of the wrapper.
        python: the wrapper is Python, whose division rounds down.
    """
    language = Language.PYTHON if python else Language.CPP
    found = {}
    for argument in launch.arguments:
        expr = argument.value if argument.value is not None else Name(argument.name or "")
        value = integer(expr, symbols, language)
        if argument.param is not None and value is not None:
            found[argument.param] = value
    return found
