"""Size expressions of sympy and of generated code, compared by their values for made-up sizes."""

import ast
import re
from typing import Any

NAME = re.compile(r"[A-Za-z_]\w*")


def value(text: str, sizes: dict[str, int]) -> Any:
    """The value of a size expression as sympy or generated code writes it, None if it has other names."""
    text = re.sub(r"(?<=\d)L\b", "", text.strip())
    text = text.replace("c10::", "").replace("static_cast<int64_t>", "").replace("std::", "")
    known = {
        "div_floor_integer": lambda a, b: a // b,
        "div_floor_floating": lambda a, b: a // b,
        "FloorDiv": lambda a, b: a // b,
        "Mod": lambda a, b: a % b,
        "ModularIndexing": lambda a, b, m: a // b % m,
        "CeilDiv": lambda a, b: -(-a // b),
        "Max": max, "Min": min, "max": max, "min": min, "floor": lambda a: a // 1, "int64_t": int, "CleanDiv": lambda a, b: a // b,
    }  # fmt: skip
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    return _value(tree.body, sizes, known)


def _value(node: ast.AST, sizes: dict[str, int], known: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=number):
            return number
        case ast.Name(id=name):
            return sizes.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            got = _value(inner, sizes, known)
            return None if got is None else -got
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, sizes, known), _value(right, sizes, known)
            if a is None or b is None:
                return None
            ways = {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b, ast.FloorDiv: lambda: a // b,
                    ast.Div: lambda: a / b, ast.Mod: lambda: a % b, ast.Pow: lambda: a**b}  # fmt: skip
            return ways[type(op)]()
        case ast.Call(func=ast.Name(id=name), args=args) if name in known:
            values = [_value(arg, sizes, known) for arg in args]
            return None if None in values else known[name](*values)
    return None


def numbers(texts: Any, seed: int) -> list[Any] | None:
    """The values of extents with made-up sizes."""
    if texts is None:
        return None
    words = {w for text in texts for w in NAME.findall(str(text))}
    sizes = {w: 7 + seed * 5 + sum(map(ord, w)) % 11 for w in words}
    return [value(str(text), sizes) for text in texts]


def same_extents(one: Any, other: Any) -> bool:
    return all(numbers(one, seed) == numbers(other, seed) for seed in (1, 2, 3))
