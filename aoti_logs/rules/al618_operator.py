"""An operator of PyTorch refused its arguments.

## What it says
Which operator, from which line of Python, and what it says. Where the text has them, the file and function of PyTorch
that raised it.

## Why it matters
The last frames of the traceback are PyTorch's own (`torch/_ops.py`, `functional.py`). The line that counts is the last one of
the program, and the shapes in the message are those that the operator was given there.

## Example
`RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)` from `torch.ops.aten.mm(...)`

## Evidence it needs
A traceback whose innermost line calls one operator. Python 3.11 and later mark the call.

## What to do
Print shapes and dtypes of the arguments just before the quoted line.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.rules.error_case import ErrorTold
from aoti_logs.rules.plain_kind import kind_of
from aoti_logs.rules.rule import Rule

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame
    from aoti_logs.rules.error_case import ErrorCase

_TYPES = {"RuntimeError", "IndexError", "ValueError", "TypeError", "NotImplementedError"}
_GENERATED = re.compile(r"/\w\w/c[a-z2-7]{51}\.py$")
_ROOTS = ("torch.", "F.", "aten.", "extern_kernels.", "self._op")

_RAISES = (ast.Call, ast.Subscript, ast.BinOp, ast.Compare, ast.UnaryOp, ast.comprehension)
"""What may raise beside a call in the same line, where Python marks nothing."""
_NO_OPERATOR = {"tensor", "load", "save", "compile", "manual_seed", "device", "jit"}


def tell_error(case: ErrorCase) -> ErrorTold | None:
    """Tell which operator refused what."""
    error = case.error
    short = (error.exception_type or "").rpartition(".")[2]
    if short not in _TYPES or error.assertion is not None or error.cuda_error or not error.python_frames:
        return None
    op = _operator(error.python_frames)
    if op is None or not error.message:
        return None
    generated = any(_GENERATED.search(f.file.replace("\\", "/")) for f in error.python_frames)
    where = "below code that Inductor generated" if generated else "and no generated code is in it"
    return ErrorTold(
        "AL618",
        kind_of(error),
        f"`{op}` refused its arguments: {error.message}",
        because=(f"the innermost line of the traceback calls `{op}`, {where}",),
        facts={
            "op": op.rpartition(".")[2] if not op.startswith("torch.ops.") else op.split(".")[3],
            "operator": op,
        },
        decide=("shape, dtype and device of the arguments just before that line",),
        confidence=Confidence.PROVEN,
    )


def _operator(frames: tuple[PythonFrame, ...]) -> str | None:
    """Return what the innermost line calls, when it is one operator and nothing else."""
    last = frames[-1]
    if last.code is None:
        return None
    op = _called(last.code, last.marked)
    if op == "self._op" and len(frames) > 1 and last.file.replace("\\", "/").endswith("torch/_ops.py"):
        above = frames[-2]
        op = _called(above.code, above.marked) if above.code else None
        return op if op is not None and op.startswith(("torch.ops.", "aten.")) else None
    if op is None or op == "self._op":
        return None
    return None if op.split(".")[1] in _NO_OPERATOR else op


def _called(code: str, marked: str | None) -> str | None:
    """Return the function of the call that raised: what is marked, else a line that does nothing else.

    Of `torch.ones(3)[7]` and `x @ torch.randn(2)` the index and the product may have raised, not the call.
    """
    text = marked or code
    tree = _parsed(text)
    raised = _value(tree) if tree is not None else None
    if tree is None or not isinstance(raised, ast.Call):
        return None
    if not marked and any(isinstance(n, _RAISES) and n is not raised for n in ast.walk(tree)):
        return None
    name = _dotted(raised.func)
    return name if name is not None and name.startswith(_ROOTS) else None


def _value(tree: ast.Module) -> ast.expr | None:
    """Return what a statement computes last."""
    statement = tree.body[0] if tree.body else None
    if isinstance(statement, ast.With):
        return statement.items[0].context_expr if len(statement.items) == 1 else None
    return (
        statement.value if isinstance(statement, ast.Expr | ast.Return | ast.Assign | ast.AnnAssign) else None
    )


def _parsed(text: str) -> ast.Module | None:
    for form in (text, f"{text.rstrip(':')}: pass", f"{text} pass"):
        try:
            return ast.parse(form.strip()[:4096])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _dotted(node: ast.AST) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


RULE = Rule("AL618", "operator-refused", __doc__ or "")
