"""Whether the arguments of a call can be those of the parameters that a definition has.

A file that lost a line binds every later argument to a wrong parameter, silently. So a call is bound only when the numbers
fit, when every pointer is cast to the type that its parameter has (Inductor writes both from the same list,
`KernelArgs.cpp_argdefs` in `torch/_inductor/codegen/common.py`), and when all definitions at hand agree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.body import Param

_CAST = re.compile(r"\(((?:const )?[\w:]+(?:<[^()]{0,100}>)?(?: const)? ?\*+)\)")
_NUMBERED = re.compile(r"(in_out_ptr|in_ptr|out_ptr|ks)(\d{1,9})")
_LITERAL = re.compile(r"-?\d[\w.+-]*|true|false|-?std::numeric_limits<.*")
_REFERENCE = re.compile(r"const \w+_type_&|\w+_type_&")


def misfit(texts: Sequence[str], params: Sequence[Param], *, defaults: int = 0) -> str | None:
    """Return why the arguments cannot be those of the parameters, None when nothing speaks against it.

    Args:
        texts: the arguments as written.
        params: the parameters as the called C++ function declares them.
        defaults: how many of the last parameters a call may leave out.
    """
    if not len(params) - defaults <= len(texts) <= len(params):
        return f"{_counted(len(texts), 'argument')}, {_counted(len(params), 'parameter')}"
    if len({p.name for p in params}) < len(params):
        return "two parameters have one name"
    for text, param in zip(texts, params, strict=False):
        cast = _CAST.match(text)
        if cast is not None and _bare(cast[1]) != _bare(param.dtype):
            return f"`{text[:80]}` is no `{param.dtype}`, which `{param.name}` is"
        if cast is None and param.pointer and text != "nullptr" and "cast" not in text:
            return f"`{text[:80]}` is no pointer, which `{param.name}` is"
        if _REFERENCE.fullmatch(param.dtype) and _LITERAL.fullmatch(text):
            return f"`{text[:80]}` is no tensor, which `{param.name}` is"
    return None


def disorder(kernel: str, params: Sequence[Param]) -> str | None:
    """Return what is wrong when a fused kernel's parameters are not in the order in which Inductor numbers them.

    The lines of two parameters of one type can change places without any other trace.
    """
    if not kernel.startswith(("cpp_fused", "triton_")):
        return None
    numbers: dict[str, int] = {}
    for param in params:
        match = _NUMBERED.fullmatch(param.name)
        if match is not None and int(match[2]) <= numbers.get(match[1], -1):
            return f"`{param.name}` is out of order among its parameters"
        if match is not None:
            numbers[match[1]] = int(match[2])
    return None


def disagreement(definitions: Sequence[Sequence[Param]]) -> str | None:
    """Return what is wrong when definitions of one name have different parameters, None when they agree."""
    lists = {tuple((p.name, _bare(p.dtype)) for p in params) for params in definitions if params}
    return "its definitions have different parameters" if len(lists) > 1 else None


def _bare(dtype: str) -> str:
    return re.sub(r"\b(?:const|__restrict__)\b|\s", "", dtype)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
