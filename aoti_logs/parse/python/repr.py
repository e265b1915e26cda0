"""Values as Python's `repr` writes them, also of objects that are no literals.

Format: `grammars/python_repr.lark`. Nothing is evaluated: a call stays a name with its arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

_LONGEST = 1 << 16
_DEEPEST = 60
_NUMBER = re.compile(r"-?\d{1,30}$")
_FLOAT = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?$")
_WORDS = {"None": None, "True": True, "False": False}
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Text:
    """A name, an expression or an object as printed: `torch.float32`, `4*s1`, `<function f at 0x7f>`."""

    text: str


@dataclass(frozen=True)
class Call:
    """`FixedLayout('cuda', size=[2])`: a name, and values with and without names."""

    name: str
    values: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...]

    def get(self, name: str) -> Any:
        """Return the value of a name, or None."""
        return dict(self.named).get(name)


def read_repr(text: str) -> Any:
    """Read a value; `Text` of the whole where it is no such text.

    Returns:
        None, bool, int, float, str, list (of lists, tuples and sets), dict (keys that are no texts are written as
        printed), `Call`, or `Text`.
    """
    told = text.strip()
    found = _tree(told) if len(told) <= _LONGEST and _depth(told) <= _DEEPEST else None
    return Text(told) if found is None else _value(found, told)


def plain(value: Any) -> Any:
    """Return a value without `Text` and `Call`: these are written as text."""
    if isinstance(value, Text):
        return value.text
    if isinstance(value, Call):
        parts = [str(plain(v)) for v in value.values] + [f"{k}={plain(v)}" for k, v in value.named]
        return f"{value.name}({', '.join(parts)})"
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def calls(value: Any) -> Iterator[Call]:
    """Yield a value's calls, the outer ones first."""
    todo = [value]
    while todo:
        now = todo.pop(0)
        if isinstance(now, Call):
            yield now
            todo = [*now.values, *(v for _, v in now.named), *todo]
        elif isinstance(now, list):
            todo = [*now, *todo]
        elif isinstance(now, dict):
            todo = [*now.values(), *todo]


def _depth(text: str) -> int:
    depth = deepest = 0
    for letter in text:
        if letter in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif letter in _CLOSING:
            depth -= 1
    return deepest


@lru_cache(maxsize=1024)
def _tree(text: str) -> Tree[Token] | None:
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        return parser("python_repr").parse(text)
    except LarkError:
        return None


def _value(node: Tree[Token] | Token, text: str) -> Any:
    from lark import Tree

    if not isinstance(node, Tree):
        return _word(node)
    children = _kept(node)
    if node.data in {"start", "value"} and len(children) == 1:
        return _value(children[0], text)
    if node.data == "value":
        return Text(_printed(node, text))
    if node.data in {"list", "tuple"}:
        return [_value(c, text) for c in children]
    if node.data == "dict":
        pairs = [[_value(v, text) for v in _kept(entry)] for entry in children]
        if any(len(p) == 1 for p in pairs):
            return [p[0] for p in pairs]
        return {k if isinstance(k, str) else str(plain(k)): v for k, v in pairs}
    values, named = [], []
    for argument in children[1:]:
        parts = _kept(argument)
        if len(parts) == 2:
            named.append((str(parts[0]), _value(parts[1], text)))
        else:
            values.append(_value(parts[0], text))
    return Call(str(children[0]), tuple(values), tuple(named))


def _kept(node: Tree[Token] | Token) -> list[Tree[Token] | Token]:
    """Return the parts of a node; what is left out in the text is None in the tree."""
    parts: list[Tree[Token] | Token | None] = list(getattr(node, "children", ()))
    return [part for part in parts if part is not None]


def _printed(node: Tree[Token], text: str) -> str:
    tokens = list(node.scan_values(lambda _: True))
    return text[tokens[0].start_pos : tokens[-1].end_pos] if tokens else ""


def _word(token: Token) -> Any:
    told = str(token)
    if token.type == "STRING":
        return _unescaped(told.lstrip("rbuf")[1:-1])
    if told in _WORDS:
        return _WORDS[told]
    if _NUMBER.match(told):
        return int(told)
    return float(told) if len(told) < 40 and _FLOAT.match(told) else Text(told)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text) if "\\" in text else text
