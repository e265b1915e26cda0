"""One statement of a printed FX graph, read as Python."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 1 << 20
_ASSIGNED = re.compile(r"(\w+)\s*(?::\s*\"[^\"]*\")?\s*=(?!=)\s*(.*)")
_WORD = re.compile(r"[^\W\d]\w*")
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """What one statement says.

    `kind`: `node` (a value with a name), `input` (only an annotation: `arg0_1: "f32[4]"`), `inputs`
    (the names that `tree_flatten_spec` unpacks, in `names`), `alias` (`l_x_ = L_x_`), `attribute`
    (`emb_weight = self.emb.weight`; `target` is the module path), `return`.
    """

    kind: str
    name: str = ""
    target: str = ""
    names: tuple[str, ...] = ()
    annotation: str | None = None


def read_statements(line: str) -> list[Statement]:
    """Read a line of the body of `forward`; statements that only free values give nothing."""
    text = line.strip()
    if text.startswith("return"):
        return [Statement("return")]
    if text.endswith("= None"):
        text = text.rpartition(";  ")[0] or text  # the names freed behind a statement say nothing
    if len(text) <= _LONGEST:
        try:
            return [s for node in ast.parse(text).body for s in _statement(node)]
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            pass
    return _roughly(text)


def _roughly(text: str) -> list[Statement]:
    """Read a line that is not Python (an argument without a Python form, or cut) as far as it goes."""
    found = _ASSIGNED.match(text)
    if found is None:
        return []
    name, value = found[1], found[2].split(";  ", 1)[0]
    callee, paren, arguments = value.partition("(")
    words = tuple(_WORD.findall(arguments if paren else value))
    return [Statement("node", name, callee.strip()[:500] if paren else "", words)]


def _statement(node: ast.stmt) -> Iterator[Statement]:
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
            yield Statement("input", name, annotation=_annotation(annotation))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield _node(name, value)
        case ast.Assign(value=ast.Constant(value=None)):
            return
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield _node(name, value)
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Call(func=func)):
            if _dotted(func).endswith("tree_flatten_spec"):
                yield Statement("inputs", names=tuple(e.id for e in elements if isinstance(e, ast.Name)))
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            yield Statement("node", name, _OPERATORS.get(type(op), "?") + "=", (name, *_names(value)))


def _node(name: str, value: ast.expr) -> Statement:
    match value:
        case ast.Name(id=other):
            return Statement("alias", name, other)
        case ast.Attribute():
            path = _dotted(value)
            if path.startswith("self."):
                return Statement("attribute", name, path.removeprefix("self."))
            return Statement("node", name, f".{value.attr}", tuple(_names(value.value)))
        case ast.Call(func=ast.Attribute(attr=attr, value=holder) as func, args=args, keywords=keywords):
            given = [n for a in (*args, *(k.value for k in keywords)) for n in _names(a)]
            path = _dotted(func)
            if not path or (isinstance(holder, ast.Name) and holder.id not in {"torch", "self", "operator"}):
                known = _names(holder)
                # `x.size(0)` is a method of a node; `math.floor(x)` a function: the caller knows which.
                return Statement("node", name, path or f".{attr}", (*known, *given))
            return Statement("node", name, path, tuple(given))
        case ast.Call(func=func, args=args, keywords=keywords):
            given = [n for a in (*args, *(k.value for k in keywords)) for n in _names(a)]
            return Statement("node", name, _dotted(func), tuple(given))
        case ast.BinOp(op=op):
            return Statement("node", name, _OPERATORS.get(type(op), "?"), tuple(_names(value)))
        case ast.UnaryOp(op=unary):
            return Statement("node", name, _OPERATORS.get(type(unary), "?"), tuple(_names(value)))
        case ast.Compare(ops=[compare, *_]):
            return Statement("node", name, _OPERATORS.get(type(compare), "?"), tuple(_names(value)))
        case ast.Subscript():
            return Statement("node", name, "getitem", tuple(_names(value)))
    return Statement("node", name, "", tuple(_names(value)))


def _annotation(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _dotted(node: ast.expr) -> str:
    """Return `torch.ops.aten.add.Tensor` or, for modules that are no identifiers, `self.mlp.0.weight`."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute(attr=attr, value=inner):
                parts.append(attr)
                node = inner
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(attr))]):
                parts.append(attr)
                node = inner
            case ast.Name(id=name):
                return ".".join([name, *reversed(parts)])
            case _:
                return ""


def _names(node: ast.expr) -> list[str]:
    """Return the names in an expression in the order they are written."""
    if isinstance(node, ast.Name):
        return [node.id]
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    return [n.id for n in found]
