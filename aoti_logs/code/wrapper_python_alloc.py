"""Allocations in a Python wrapper: `buf0 = empty_strided_cuda((s70, 16), (16, 1), torch.float32)`.

Written by `make_allocation` of `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer

if TYPE_CHECKING:
    from aoti_logs.code.wrapper_python_text import Function


def allocated(function: Function, name: str, line: int, callee: str, call: ast.Call) -> Buffer:
    """Return the buffer that an allocation makes."""
    given = list(call.args)
    words = {k.arg: k.value for k in call.keywords}
    shape, stride = (elements(function, a) for a in (*given[:2], None, None)[:2])
    kind = given[2] if len(given) > 2 else words.get("dtype")
    device = callee.removeprefix("torch.").removeprefix("empty_strided").strip("_") or None
    if device is None and "device" in words:
        found = re.search(r"['\"](\w+)", function.text(words["device"]))
        device = None if found is None else found[1]
    dtype = None if kind is None else function.text(kind).removeprefix("torch.")
    return Buffer(name, line, shape, stride, dtype, device)


def elements(function: Function, node: ast.expr | None) -> tuple[str, ...] | None:
    """Return the elements of a tuple or list as written; None for anything else."""
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(function.text(e) for e in node.elts)
    return None
