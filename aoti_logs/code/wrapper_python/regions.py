"""Functions of a Python wrapper that are no part of the model's call: grids of kernels, example inputs.

Written by `user_defined_kernel_grid_fn_code` and `benchmark_compiled_module` of
`torch/_inductor/codegen/wrapper.py`.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.kernel.text import at_line_starts

if TYPE_CHECKING:
    from aoti_logs.sources.source import Source

_GRID = re.compile(rb"def (\w+)\(meta\):\n([ ]+return \([^\n]*\))\n(?![ ])")
_EXAMPLES = re.compile(rb"def (?:get_args|benchmark_compiled_module)\(")
_END = re.compile(rb"\n[^\s]")
_NUMBER = re.compile(r"[ ]+(\w+) = (-?\d{1,20}|-?\d{1,20}\.\d{0,20}(?:[eE][-+]?\d{1,3})?|True|False)[ ]*$")


def grid_functions(source: Source) -> dict[str, tuple[str, ...]]:
    """Return the functions that give a grid whatever the configuration is, with its parts as written."""
    found = {}
    for match in at_line_starts(source.data, _GRID, b"(meta):"):
        text = match[2].decode("utf-8", "replace").strip().removeprefix("return ")
        try:
            grid = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if isinstance(grid, ast.Tuple):
            found[match[1].decode("utf-8", "replace")] = tuple(ast.unparse(e) for e in grid.elts)
    return found


def example_numbers(source: Source) -> dict[str, int | float]:
    """Return the numbers that the wrapper's own benchmark passes: `arg1_1 = 5`.

    They are the sizes that the model was compiled with; for one that had no value then, torch writes 42.
    """
    data = source.data
    found: dict[str, int | float] = {}
    for match in at_line_starts(data, _EXAMPLES, b"def get_args(", b"def benchmark_compiled_module("):
        end = _END.search(data, match.end())
        for line in source.cut(match.end(), len(data) if end is None else end.start()).split("\n"):
            if number := _NUMBER.match(line):
                found.setdefault(number[1], ast.literal_eval(number[2]))
    return found
