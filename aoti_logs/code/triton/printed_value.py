"""Values that `repr` printed into generated Python: literals, and calls that are none (`DeviceProperties(...)`)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TypeAlias

_DEEPEST = 60


@dataclass(frozen=True)
class Text:
    """What is no literal, as written: `ReductionHint.INNER`, `torch.float32`, a name."""

    text: str

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class Made:
    """A call: `AttrsDescriptor(divisible_by_16=(0, 1), equal_to_1=())`, `DeviceProperties(type='cuda', ...)`."""

    name: str
    args: tuple[Printed, ...]
    fields: dict[str, Printed]


Printed: TypeAlias = "bool | int | float | str | Text | Made | tuple[Printed, ...] | frozenset[Printed] | dict[Printed, Printed] | None"
"""A value; lists and tuples are both tuples, `set()` is a frozenset, keys that cannot be hashed are their text."""


def printed(node: ast.expr, depth: int = 0) -> Printed:
    """Return the value of an expression; what is no literal is kept as text. Nothing is executed."""
    if depth > _DEEPEST:
        return Text("...")
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return tuple(printed(e, depth + 1) for e in elts)
        case ast.Set(elts=elts):
            return frozenset(_key(printed(e, depth + 1)) for e in elts)
        case ast.Call(func=ast.Name(id="set" | "frozenset"), args=[], keywords=[]):
            return frozenset()
        case ast.Dict(keys=keys, values=values):
            pairs = [(k, v) for k, v in zip(keys, values, strict=True) if k is not None]
            return {_key(printed(k, depth + 1)): printed(v, depth + 1) for k, v in pairs}
        case ast.Call(func=func, args=args, keywords=keywords):
            fields = {k.arg: printed(k.value, depth + 1) for k in keywords if k.arg is not None}
            return Made(ast.unparse(func), tuple(printed(a, depth + 1) for a in args), fields)
        case _:
            return Text(ast.unparse(node))


def _key(value: Printed) -> Printed:
    try:
        hash(value)
    except TypeError:
        return Text(str(value))
    return value


def number(value: Printed) -> int | None:
    """Return a whole number, None for everything else (also for True)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def strings(value: Printed) -> tuple[str, ...] | None:
    """Return a list of texts, None for everything else."""
    if isinstance(value, tuple | frozenset) and all(isinstance(v, str | Text) for v in value):
        return tuple(str(v) for v in value)
    return None


def text_of(value: Printed) -> str | None:
    """Return a text or a name, None for everything else."""
    return str(value) if isinstance(value, str | Text) else None


def mapping(value: Printed) -> dict[Printed, Printed]:
    """Return a dictionary, an empty one for everything else."""
    return value if isinstance(value, dict) else {}
