"""What a Dynamo source measures: `L['batch']['ids'].size()[0]` is dimension 0 of the user's `batch['ids']`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from lark import Token, Tree

    Node = Tree[Token]

_LONGEST = 4096
_DEEPEST = 40
_SAME_INPUT = frozenset(
    {"___as_tensor", "___from_numpy", "int", "float", "bool", "cast_symbool_to_symint_guardless"}
)
_GET_ITEM = frozenset({"dict.__getitem__", "list.__getitem__", "tuple.__getitem__"})
_GET_ATTRIBUTE = frozenset({"getattr", "object.__getattribute__"})
_MODULE_TABLES = {"_modules": "module", "_parameters": "parameter", "_buffers": "buffer"}


class Origin(NamedTuple):
    """The input that a Dynamo source stands for.

    `kind` tells what is measured: `size`, `stride` (both with `dim`), `storage_offset` or `value`
    (the thing itself). `holder` tells what `name` is: `local` (an argument of the user's function),
    `global`, `parameter` and `buffer` (a module path, `emb.weight`), `attribute` (of the module or
    of another object: `self.k`).
    """

    name: str
    dim: int | None
    kind: str
    holder: str


@dataclass
class _Path:
    root: str
    holder: str
    steps: list[tuple[str, str]] = field(default_factory=list)


@lru_cache(maxsize=4096)
def input_of(origin: str) -> Origin | None:
    """Read a Dynamo source (torch/_dynamo/source.py); None when it is none, or names no input."""
    if len(origin) > _LONGEST or not origin or _depth(origin) > _DEEPEST:
        return None
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tree = parser("dynamo_source").parse(origin)
    except LarkError:
        return None
    path = _path(_child(tree, 0))
    return None if path is None else _origin(path)


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        if char in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]":
            depth -= 1
    return deepest


def _child(tree: Node, index: int) -> Node:
    child = tree.children[index]
    return cast("Node", child)


def _text(node: Node | None) -> str:
    """Return a part of a source as Python text."""
    if node is None:
        return ""
    kids = node.children
    if node.data in {"name", "string", "number"}:
        return str(kids[0])
    parts = [part for k in kids if (part := str(k) if isinstance(k, str) else _text(k))]
    match node.data:
        case "attribute":
            return f".{parts[0]}"
        case "item":
            return f"[{parts[0]}]"
        case "key":
            return ":".join(parts)
        case "call" | "group":
            return f"({''.join(parts)})"
        case "list":
            return ", ".join(parts)
    return "".join(parts)


def _arguments(call: Node) -> list[Node]:
    inside = cast("Node | None", call.children[0])
    return [] if inside is None else [k for k in inside.children if not isinstance(k, str)]


def _path(expression: Node) -> _Path | None:
    """Follow an expression from its root; None when it does not start at a local or global."""
    first, *rest = (_child(expression, i) for i in range(len(expression.children)))
    if first.data != "name":
        return None
    root = _text(first)
    if root in {"L", "G", "SYNTHETIC_LOCAL"} and rest and rest[0].data == "item":
        key = _unquoted(_text(_child(rest[0], 0)))
        path = _Path(key, "global" if root == "G" else "local")
        return _follow(path, rest[1:])
    callee = root
    while rest and rest[0].data == "attribute":
        callee += _text(rest.pop(0))
    if not rest or rest[0].data != "call":
        return None
    arguments = _arguments(rest[0])
    if not arguments:
        return None
    inner = _path(arguments[0])
    if inner is None:
        return None
    if callee in _GET_ITEM and len(arguments) == 2:
        inner.steps.append(("item", _text(arguments[1])))
    elif callee in _GET_ATTRIBUTE and len(arguments) >= 2:
        inner.steps.append(("attribute", _unquoted(_text(arguments[1]))))
    elif callee not in _SAME_INPUT:
        inner = _Path(f"{callee}({_rendered(inner)})", "attribute")
    return _follow(inner, rest[1:])


def _follow(path: _Path, trailers: list[Node]) -> _Path:
    for trailer in trailers:
        text = _text(trailer)
        kind = str(trailer.data)
        path.steps.append((kind, text[1:] if kind == "attribute" else text[1:-1]))
    return path


def _unquoted(text: str) -> str:
    import ast

    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _origin(path: _Path) -> Origin | None:
    kind, dim = "value", None
    steps = path.steps
    match steps[-3:]:
        case [("attribute", "size" | "stride" as measure), ("call", ""), ("item", index)]:
            if not index.isdecimal():
                return None
            kind, dim = measure, int(index[:18])
            del steps[-3:]
    match steps[-2:]:
        case [("attribute", "storage_offset"), ("call", "")]:
            kind = "storage_offset"
            del steps[-2:]
        case [("attribute", "item"), ("call", "")]:
            del steps[-2:]
    name = _rendered(path)
    return Origin(name, dim, kind, path.holder) if name else None


def _rendered(path: _Path) -> str:
    """Return the name a person would use, and set the path's holder by what it leads to."""
    name, module = path.root, False
    steps = iter(path.steps)
    for kind, text in steps:
        if kind == "attribute" and text in _MODULE_TABLES:
            _, key = next(steps, ("item", ""))
            part = _unquoted(key)
            name = part if path.root == "self" and not module and name == "self" else f"{name}.{part}"
            module = True
            path.holder = _MODULE_TABLES[text]
        elif kind == "attribute":
            if text != "__self__":
                name += f".{text}"
                path.holder = "attribute"
        elif kind == "item":
            name += f"[{text}]"
        else:
            name += f"({text})"
            path.holder = "attribute"
    return name
