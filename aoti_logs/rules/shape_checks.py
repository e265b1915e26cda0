"""The checks that decide a condition on data, written as the user's line of code has it."""

from __future__ import annotations

import ast
import re
import warnings

_LONGEST = 400
TRUTH = re.compile(r"Eq\(u\d+, 1\)")
"""How torch asks for the truth of a tensor, and whether a number is 1."""
_LINE = re.compile(r"(?:if|elif|while|assert)\b\s*(?P<condition>.+?)\s*(?::|,[^,]*)?$")
_INVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_SYMPY: dict[str, type[ast.cmpop]] = {
    ">": ast.Gt, ">=": ast.GtE, "<": ast.Lt, "<=": ast.LtE, "Eq": ast.Eq, "Ne": ast.NotEq,
}  # fmt: skip
_EXPRESSION = re.compile(
    r"(?P<function>Eq|Ne)\(.+, (?P<second>-?\d{1,18})\)|.+ (?P<op>[<>]=?) (?P<right>-?\d{1,18})"
)


def checks_for(expression: str, code: str | None) -> tuple[str, str] | None:
    """Return the two calls of `torch._check` of which one decides a condition.

    Args:
        expression: what torch could not decide, `u0 > 5`.
        code: the user's line that asks, `if n > 5:`.

    Returns:
        The condition of that line and its inverse as calls; None where the line does not plainly ask that: the truth of a
        tensor (`if x.sum() > 0`, `if s == 1`) is asked as `Eq(u0, 1)` and no number to check.
    """
    asked = _EXPRESSION.fullmatch(expression.strip()[:_LONGEST])
    tree = _condition(code)
    if asked is None or tree is None or TRUTH.fullmatch(expression.strip()):
        return None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or not _plain(tree.left):
        return None
    number = asked["second"] or asked["right"]
    same = type(tree.ops[0]) is _SYMPY[asked["function"] or asked["op"]]
    if not same or ast.unparse(tree.comparators[0]) != number:
        return None
    inverse = ast.Compare(tree.left, [_INVERSE[type(tree.ops[0])]()], tree.comparators)
    return f"torch._check({ast.unparse(tree)})", f"torch._check({ast.unparse(inverse)})"


def asks_truth(expression: str, code: str | None) -> bool:
    """Tell whether a line branches on the truth of a tensor; not where it may compare a number with 1 (`k.item() == 1`)."""
    tree = _condition(code)
    if tree is None or (code or "").lstrip().startswith("assert") or not TRUTH.fullmatch(expression.strip()):
        return False
    parts = [tree]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.BoolOp):
            parts += part.values
        elif isinstance(part, ast.UnaryOp):
            parts.append(part.operand)
        elif isinstance(part, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in part.ops):
            return False
    return True


def _condition(code: str | None) -> ast.expr | None:
    line = _LINE.match((code or "").strip()[:_LONGEST])
    if line is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(line["condition"], mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain(node: ast.expr) -> bool:
    """Tell a number that the code has under a name from what calls something, which may give a tensor."""
    parts = ast.Name | ast.Attribute | ast.BinOp | ast.Constant | ast.operator | ast.expr_context
    return all(isinstance(part, parts) for part in ast.walk(node))
