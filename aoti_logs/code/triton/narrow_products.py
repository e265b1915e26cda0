"""Products of a Triton kernel that are computed in 32 bits: `tl.program_id(0) * stride` wraps beyond 2,147,483,647.

Inductor chooses the width of the indices in kernels that it writes; in a kernel that a user wrote nobody does. In Triton
`tl.program_id` and `tl.arange` are int32, and a scalar parameter is what the signature says (`'stride': 'i32'`); a product of
int32 stays int32, also where it is added to a pointer. What is cast to int64 or comes from elsewhere (a load, a call) is not
judged.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_logs.code.triton.body import triton_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.code.model import Kernel

LARGEST = 2**31 - 1
_DEEPEST = 200


@dataclass(frozen=True)
class NarrowProduct:
    """A product of the number of a program and a parameter, in int32.

    `line` is in the kernel's source, `axis` that of the program's number (0 to 2), `param` the parameter.
    """

    line: int
    text: str
    axis: int
    param: str


@dataclass(frozen=True)
class _Value:
    """What is known of a value: int32 (`narrow`), and whether it is a program's number or a parameter itself."""

    narrow: bool
    axis: int | None = None
    param: str | None = None


_OTHER = _Value(narrow=False)


def narrow_products(kernel: Kernel, types: Mapping[str, str]) -> tuple[NarrowProduct, ...]:
    """Return the products in the order of the text, each once.

    Args:
        kernel: a Triton kernel.
        types: parameters and their types as the signature has them (`i32`, `i64`, `*fp32`, `constexpr`).
    """
    found = triton_function(kernel)
    if found is None:
        return ()
    function, line = found
    first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    known = {
        name: _Value(kind in {"i32", "constexpr"}, param=name)
        for name, kind in types.items()
        if not kind.startswith("*")
    }
    products = {(p.line, p.text): p for p in _Reader(known).block(function.body)}
    return tuple(
        NarrowProduct(line + p.line - first, p.text, p.axis, p.param)
        for p in sorted(products.values(), key=lambda p: p.line)
    )


class _Reader:
    def __init__(self, known: dict[str, _Value]) -> None:
        self._known = known

    def block(self, statements: list[ast.stmt], depth: int = 0) -> Iterator[NarrowProduct]:
        for statement in statements if depth < _DEEPEST else ():
            for value in _expressions(statement):
                yield from self._products(value)
            self._note(statement)
            for part in ("body", "orelse"):
                yield from self.block(getattr(statement, part, []), depth + 1)

    def _note(self, statement: ast.stmt) -> None:
        """Remember what an assignment gives a name; a name that is assigned twice is only what both are."""
        if isinstance(statement, ast.For):
            targets, value = [statement.target], _OTHER
        elif isinstance(statement, ast.Assign):
            targets, value = statement.targets, self._value(statement.value)
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
            targets, value = [statement.target], _OTHER
        else:
            return
        for target in targets:
            for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                plain = isinstance(target, ast.Name)
                same = name not in self._known or self._known[name] == value
                self._known[name] = value if plain and same else _OTHER

    def _products(self, value: ast.expr) -> Iterator[NarrowProduct]:
        for node in ast.walk(value):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                continue
            left, right = self._value(node.left), self._value(node.right)
            for one, other in ((left, right), (right, left)):
                if one.narrow and other.narrow and one.axis is not None and other.param is not None:
                    yield NarrowProduct(node.lineno, ast.unparse(node), one.axis, other.param)
                    break

    def _value(self, node: ast.expr) -> _Value:
        if isinstance(node, ast.Name):
            return self._known.get(node.id, _OTHER)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "tl.program_id",
            "triton.language.program_id",
        }:
            return _Value(narrow=True, axis=_axis(node))
        return _OTHER


def _axis(call: ast.Call) -> int | None:
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "axis"), None)
    value = given.value if isinstance(given, ast.Constant) else None
    return value if isinstance(value, int) and value in {0, 1, 2} else None


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, without those of the block below it."""
    for field in ("value", "test", "iter", "target"):
        value = getattr(statement, field, None)
        if isinstance(value, ast.expr):
            yield value
    if isinstance(statement, ast.Assign):
        yield from statement.targets
