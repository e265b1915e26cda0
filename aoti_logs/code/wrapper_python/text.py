"""Functions of a Python wrapper as parsed text, and the names behind its expressions."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

VIEWS = frozenset(
    {
        "reinterpret_tensor",
        "c_void_p",
        "copy_if_misaligned",
        "copy_misaligned",
        "aten.view.dtype",
        "torch.ops.aten.view.dtype",
        "alloc_from_pool",
    }
)
"""Calls that pass the tensor in their first argument on."""


@dataclass(frozen=True)
class Function:
    """One function: its parsed body, the lines it was parsed from and where they stand in the file."""

    name: str
    body: tuple[ast.stmt, ...]
    lines: tuple[str, ...]
    first_line: int

    def line(self, node: ast.stmt | ast.expr) -> int:
        """Return the line of a node in the file."""
        return self.first_line + node.lineno - 1

    def text(self, node: ast.stmt | ast.expr) -> str:
        """Return a node as written."""
        end = node.end_lineno or node.lineno
        if end == node.lineno and end <= len(self.lines):
            return _cut(self.lines[end - 1], node.col_offset, node.end_col_offset)
        rows = list(self.lines[node.lineno - 1 : end])
        if not rows:
            return ast.unparse(node)
        rows[-1] = _cut(rows[-1], 0, node.end_col_offset)
        rows[0] = _cut(rows[0], node.col_offset, None)
        return "\n".join(rows)


def _cut(line: str, start: int, end: int | None) -> str:
    """Slice a line by the UTF-8 offsets that `ast` counts in."""
    return line[start:end] if line.isascii() else line.encode()[start:end].decode("utf-8", "replace")


_PASSING = frozenset({"data_ptr", "view", "as_strided", "to", "item", "unsqueeze"})
"""Methods that give the tensor in another form."""


def core(node: ast.expr, stands_for: Mapping[str, str], cells: Container[str] = ()) -> str | None:
    """Return the name behind views, casts, `.data_ptr()` and `.item()`, or None when there is none.

    Args:
        node: an expression.
        stands_for: names that only pass another one on.
        cells: lists of results, whose elements are names of their own (`buf3[0]`).
    """
    for _ in range(24):
        match node:
            case ast.Name(id=name):
                return stands_for.get(name, name)
            case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in _PASSING:
                node = inner
            case ast.Call(func=func, args=[first, *_]) if dotted(func) in VIEWS:
                node = first
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place))) if (
                name in cells
            ):
                return f"{name}[{place}]"
            case ast.Subscript(value=inner):
                node = inner
            case _:
                return None
    return None


def dotted(node: ast.expr) -> str:
    """Return a callee as text: `torch.ops.aten.cumsum.default`, `self.partitions[0]`."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=value, attr=attr):
                parts.append("." + attr)
                node = value
            case ast.Subscript(value=value, slice=ast.Constant(value=index)):
                parts.append(f"[{index!r}]")
                node = value
            case ast.Name(id=name):
                return name + "".join(reversed(parts))
            case ast.Call():
                return "()" + "".join(reversed(parts)) if parts else ""
            case _:
                return ""


def parse_functions(
    regions: Sequence[tuple[str, str, int]], unread: Callable[[int, str], None]
) -> dict[str, Function]:
    """Parse functions; of a damaged one, the lines that Python takes.

    Of two functions with one name the last counts, as it does in Python.

    Args:
        regions: (name, text from its `def` on, line of the `def`).
        unread: is called with (line, text) of every line that had to be left out.
    """
    functions: dict[str, Function] = {}
    texts: dict[str, str] = {}
    for name, text, line in regions:
        lines = text.split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        plain = [row[indent:] if row[:indent].isspace() or not indent else row.lstrip() for row in lines]
        tree, left_out = _parsed(plain)
        for number in left_out:
            if plain[number].strip():
                unread(line + number, plain[number].strip()[:_SHOWN])
        if tree is None:
            continue
        if name in functions and texts[name] != text:
            unread(functions[name].first_line, functions[name].lines[0][:_SHOWN])
        functions[name] = Function(name, tuple(tree.body), tuple(plain), line)
        texts[name] = text
    return functions


_SHOWN = 400
_REPAIRS = 200
_LONGEST_REPAIRED = 1 << 18
_LOST_BODY = re.compile(r"expected an indented block after .* on line (\d+)")


def _parsed(lines: list[str]) -> tuple[ast.FunctionDef | None, list[int]]:
    """Return the function and the numbers (from 0) of the lines without which Python takes it."""
    used = list(lines)
    left_out: list[int] = []
    large = sum(map(len, lines)) > _LONGEST_REPAIRED
    for _ in range(8 if large else _REPAIRS):
        try:
            tree = ast.parse("\n".join(used))
        except SyntaxError as error:
            lost = _LOST_BODY.search(error.msg or "")
            at = (int(lost[1]) if lost else error.lineno or len(used)) - 1
            at = min(max(at, 0), len(used) - 1)
            while at > 0 and (at in left_out or not used[at].strip()):
                at -= 1
            if at == 0:
                break
            left_out.append(at)
            # The place keeps a statement, so that the blocks around it stay blocks.
            used[at] = used[at][: len(used[at]) - len(used[at].lstrip())] + "pass"
        except (ValueError, RecursionError, MemoryError):
            break
        else:
            return _only_function(tree), sorted(left_out)
    return _largest(lines)


def _only_function(tree: ast.Module) -> ast.FunctionDef | None:
    first = tree.body[0] if tree.body else None
    return first if isinstance(first, ast.FunctionDef) else None


def _largest(lines: list[str]) -> tuple[ast.FunctionDef | None, list[int]]:
    """Return the function up to the line where Python stops, and the numbers of the lines after it."""
    end = len(lines)
    for _ in range(64):
        try:
            tree = ast.parse("\n".join(lines[:end]))
        except SyntaxError as error:
            end = max(min(end - 1, (error.lineno or end) - 1), 0)
        except (ValueError, RecursionError, MemoryError):
            end //= 2
        else:
            return _only_function(tree), list(range(end, len(lines)))
        if end <= 1:
            break
    return None, list(range(len(lines)))


def comments_from(function: Function, first: ast.stmt) -> int:
    """Return the line (from 0) of the first comment above the first statement of a block."""
    at = first.lineno - 1
    while at > 0 and function.lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return at


def is_item(call: ast.Call) -> bool:
    """Tell whether a call is `x.item()`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "item" and not call.args


def in_place(callee: str) -> bool:
    """Tell whether a function writes into its first argument (`aten.index_put_`)."""
    return any(part.endswith("_") and not part.endswith("__") for part in callee.split("."))
