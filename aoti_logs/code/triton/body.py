"""The body of a Triton kernel, read with Python's own parser.

Inductor writes Triton kernels as Python functions (`torch/_inductor/codegen/triton.py`); they stand
in the cache's `.py` files, in `async_compile.triton('name', '''...''')` of a Python wrapper, and as
a comment in an AOTInductor wrapper. Templates (flex attention) and kernels of users call functions that stand
beside them; `triton_statements` reads these where they are called.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING

from aoti_logs.code.body import Body, Param
from aoti_logs.code.triton.expr import Pointers, parse_python, to_expr
from aoti_logs.code.triton.statements import Functions, Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.code.model import Kernel

__all__ = ["parse_python", "to_expr", "triton_body", "triton_function"]

_DEF = re.compile(r"^(\s*)def (\w+)\(")
_AXES = re.compile(r"\[[^\[\]:]{0,200}:|expand_dims|reshape|\bview\(|trans\b|permute|\.T\b|join|split")
"""What may stand where a block gets another axis; slices (`[:, None]`) stand nowhere else in a kernel."""
_TORN = 40


def triton_body(kernel: Kernel) -> Body:
    """Read the body of a Triton kernel; what cannot be read is in `Body.unread`, nothing raises."""
    lines = kernel.source.lines_from(kernel.line, kernel.end_line)
    found = _definitions(lines)
    chosen = _chosen(found, lines, kernel.name)
    if chosen is None:
        return Body(kernel.name, kernel.params, (), ((kernel.line, "no function definition"),))
    start, stop = found[chosen]
    # A comment in C++ may end early; drop lines from the end until Python takes the text.
    for end in range(stop, max(start, stop - _TORN), -1):
        function = _function(lines[start:end])
        if function is None:
            continue
        params = kernel.params or _params(function)
        places = {lines[s].split("def ")[1].split("(")[0]: (s, e) for s, e in found}
        others = Functions(places, lines, kernel.line)
        numbers = (
            p.name for p in params if p.dtype and not p.pointer and not p.dtype.startswith("tensordesc")
        )
        pointers = Pointers((p.name for p in params if p.pointer), numbers)
        reader = Reader(kernel.line + start, others, pointers)
        reader.block(function.body)
        missing = [(kernel.line + n, lines[n].strip()) for n in range(end, stop) if lines[n].strip()]
        unread = tuple(reader.unread + missing)
        axes = _AXES.search("\n".join(lines)) is not None
        return Body(kernel.name, params, tuple(reader.statements), unread, tuple(places), axes)
    return Body(kernel.name, kernel.params, (), ((kernel.line + start, lines[start].strip()),))


def triton_function(kernel: Kernel) -> tuple[ast.FunctionDef, int] | None:
    """Return the function of a Triton kernel and the line of its `def` in the kernel's source; None when it is no Python."""
    lines = kernel.source.lines_from(kernel.line, kernel.end_line)
    found = _definitions(lines)
    chosen = _chosen(found, lines, kernel.name)
    if chosen is None:
        return None
    start, stop = found[chosen]
    for end in range(stop, max(start, stop - _TORN), -1):
        function = _function(lines[start:end])
        if function is not None:
            return function, kernel.line + start
    return None


def _function(lines: Sequence[str]) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent("\n".join(lines)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None


def _definitions(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return (first line, line after the last) of the functions, as places in `lines`."""
    starts = [(n, len(m[1])) for n, line in enumerate(lines) if (m := _DEF.match(line))]
    least = min((indent for _, indent in starts), default=0)
    return [(n, _end(lines, n, indent)) for n, indent in starts if indent == least]


def _end(lines: Sequence[str], start: int, indent: int) -> int:
    end = start + 1
    while end < len(lines):
        line = lines[end]
        shift = len(line) - len(line.lstrip())
        if line.strip() and shift <= indent and not line.strip().startswith(")"):
            break
        end += 1
    return end


def _chosen(found: Sequence[tuple[int, int]], lines: Sequence[str], name: str) -> int | None:
    """Choose the kernel among the functions: by name, else by its decorator, else the last one.

    A wrapper may call it by another name than its own (`scale_0` for a user's `scale`, and releases up to 2.4
    call every one `triton_`).
    """
    best: tuple[int, int] | None = None
    above = 0
    for n, (start, end) in enumerate(found):
        decorators = "\n".join(lines[above:start])
        rank = 0
        if lines[start].lstrip().startswith(f"def {name}("):
            rank = 3
        elif "@triton_heuristics." in decorators or "@triton.autotune" in decorators:
            rank = 2
        elif "@triton" in decorators:
            rank = 1
        if best is None or rank >= best[0]:
            best = rank, n
        above = end
    return None if best is None else best[1]


def _params(function: ast.FunctionDef) -> tuple[Param, ...]:
    return tuple(
        Param(a.arg, ast.unparse(a.annotation) if a.annotation else "", "ptr" in a.arg)
        for a in function.args.args
    )
