"""Births of buffers in a Python wrapper: `buf0 = empty_strided_cuda((s70, 16), (16, 1), torch.float32)`, views,
results of subgraphs.

Written by `make_allocation`, `codegen_reinterpret_view`, `make_buffer_reuse` and `codegen_subgraph_call` of `PythonWrapperCodegen` (`torch/_inductor/codegen/wrapper.py`).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.code.model import Buffer

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def viewed(function: Function, name: str, line: int, callee: str, call: ast.Call, old: str | None) -> Buffer:
    """Return the buffer that `reinterpret_tensor` or `alloc_from_pool` makes of an older one."""
    pooled = callee == "alloc_from_pool"
    given = (*call.args[3 if pooled else 1 :], None, None, None)
    shape, stride = (elements(function, a) for a in given[:2])
    offset = function.text(given[2]) if given[2] is not None and not pooled else None
    if callee not in {"reinterpret_tensor", "alloc_from_pool"}:
        shape, stride, offset = None, None, "?"
    kind = function.text(call.args[2]) if pooled and len(call.args) > 2 else None
    return Buffer(
        name,
        line,
        shape,
        stride,
        None if kind is None else kind.removeprefix("torch."),
        alias_of=old,
        view=True,
        offset=offset,
        reuse=is_reuse(function, call),
    )


def is_reuse(function: Function, node: ast.stmt | ast.expr) -> bool:
    """Tell whether the code says `# reuse` behind a statement: the values of the older buffer are dead."""
    end = node.end_lineno or node.lineno
    return end <= len(function.lines) and function.lines[end - 1].rstrip().endswith("# reuse")


def given_back(
    node: ast.stmt, targets: tuple[str, ...], results: tuple[str, ...], line: int
) -> Iterator[Buffer]:
    """Yield what `buf3 = true_graph_0(args)` or `(buf0[0], buf0[1]) = body_graph_0(args)` makes.

    `results` are the names that the function returns; empty when they are not known.
    """
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and results:
        yield Buffer(targets[0], line)
        targets = tuple(f"{targets[0]}[{n}]" for n in range(len(results)))
    for n, name in enumerate(targets):
        if len(results) != len(targets):
            yield Buffer(name, line)
        elif name != results[n]:
            yield Buffer(name, line, alias_of=results[n], view=True)


def elements(function: Function, node: ast.expr | None) -> tuple[str, ...] | None:
    """Return the elements of a tuple or list as written; None for anything else."""
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(function.text(e) for e in node.elts)
    return None
