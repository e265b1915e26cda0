"""One C++ statement, control head or function head at a time, read with `grammars/cpp_code.lark`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from aoti_logs._grammar import parser
from aoti_logs.code.body import Param
from aoti_logs.code.cpp.tree import Children, ExpressionBuilder, Reference, settle, split_types
from aoti_logs.code.expr import Call, Expr, Item, Name, Op, walk

if TYPE_CHECKING:
    from lark import Lark

_RULES = ("expression", "statement", "function")
_LONGEST = 32_768
_DEEPEST = 150
"""Expressions deeper than this are not taken apart: what walks them later may recurse."""


@dataclass(frozen=True)
class Set:
    """`target op value`. A declaration has a `type` (`auto`, `float*`, `float []`); without an
    initial value its `value` is None. For an expression without assignment `op` is empty.
    """

    target: Expr
    op: str = ""
    value: Expr | None = None
    type: str | None = None


@dataclass(frozen=True)
class Simple:
    """What stands before a `;`: one or more assignments, declarations or calls."""

    sets: tuple[Set, ...]


@dataclass(frozen=True)
class Return:
    """`return value;`."""

    value: Expr | None


@dataclass(frozen=True)
class For:
    """The head of a counting loop, or of `for (x : values)` where only `over` is set besides `first`."""

    first: Simple | None
    condition: Expr | None
    step: Simple | None
    over: Expr | None = None


@dataclass(frozen=True)
class Branch:
    """The head of `if`, `while`, `switch`."""

    condition: Expr


@dataclass(frozen=True)
class Ignored:
    """A statement that computes nothing (`break`, `using x = y`)."""


@dataclass(frozen=True)
class Function:
    """A function's name and parameters."""

    name: str
    params: tuple[Param, ...]


Parsed = Simple | Return | For | Branch | Ignored


class _StatementBuilder(ExpressionBuilder):
    def statement(self, children: Children) -> Parsed:
        return Simple(_flat(children))

    simple = statement

    def assignment(self, children: Children) -> tuple[Set, ...]:
        target, op, value = settle(children[0]), children[1], children[2]
        declared = _pointer_declaration(target)
        if declared is not None:
            return (Set(declared[1], "=" if op else "", None if op is None else settle(value), declared[0]),)
        return (Set(target, str(op or ""), None if op is None else settle(value)),)

    def declaration(self, children: Children) -> tuple[Set, ...]:
        words = [c for c in children if isinstance(c, str)]
        type_ = " ".join(words)
        found = []
        for name, shape, value in (c for c in children if isinstance(c, tuple)):
            if shape is None:
                found.append(Set(Name(name), "=" if value is not None else "", value, type_))
            elif isinstance(shape, list):
                found.append(Set(Item(Name(name), shape[0]), "=" if value is not None else "", value, type_))
            else:
                called = Call(_bare(type_), shape, _types_of(type_))
                found.append(Set(Name(name), "=", called, type_))
        return tuple(found)

    def specifier(self, children: Children) -> str:
        return "".join(str(settle(c)) if isinstance(c, Reference) else str(c) for c in children)

    pointed = specifier

    def declarator(self, children: Children) -> tuple[str, Any, Expr | None]:
        name, shape, _, value = children
        return str(name), shape, None if value is None else settle(value)

    def constructed(self, children: Children) -> tuple[Expr, ...]:
        return tuple(children[0])

    def array(self, children: Children) -> list[Expr]:
        return [settle(c) for c in children if c is not None] or [Name("")]

    def returns(self, children: Children) -> Return:
        return Return(None if children[0] is None else settle(children[0]))

    def ignored(self, children: Children) -> Ignored:  # noqa: ARG002 - lark passes them
        return Ignored()

    def for_head(self, children: Children) -> For:
        first, condition, step = children
        return For(first, None if condition is None else settle(condition), step)

    def for_each(self, children: Children) -> For:
        return For(children[0], None, None, settle(children[1]))

    def condition(self, children: Children) -> Branch:
        return Branch(settle(children[-1]))

    def parameter(self, children: Children) -> Param | None:
        words = [str(c) for c in children if c is not None and not isinstance(c, (Reference, *_NODES))]
        words = words[: words.index("=")] if "=" in words else words
        name = next((w for w in reversed(words) if w.isidentifier()), "")
        at = len(words) - 1 - words[::-1].index(name) if name else len(words)
        shape = [w for w in words[at + 1 :] if w.startswith("[")]
        kept = [w for w in words[:at] if w not in {"__restrict__", "__restrict", "RESTRICT"}]
        dtype = " ".join(kept).replace(" *", "*").replace(" &", "&").replace(" <", "<")
        return Param(name, dtype + "".join(shape), "*" in dtype or bool(shape))

    def function(self, children: Children) -> Function:
        params = tuple(c for c in children if isinstance(c, Param) and c.name)
        first = next((n for n, c in enumerate(children) if isinstance(c, Param) or c is None), len(children))
        words = [str(c) for c in children[:first] if getattr(c, "type", "") == "NAME"]
        return Function(words[-1] if words else "", params)


_NODES = (Op, Call, Item, Name)


def _flat(children: Children) -> tuple[Set, ...]:
    """Return the sets in order; a whole `simple` inside of `statement` does not occur."""
    return tuple(one for child in children if child is not None for one in child)


def _pointer_declaration(target: Expr) -> tuple[str, Expr] | None:
    """Read `float * x` as a declaration: no statement of generated code multiplies and drops the product."""
    if isinstance(target, Op) and target.op in {"*", "&", "&&"} and len(target.args) == 2:
        left, right = target.args
        plain = isinstance(left, Name) or (isinstance(left, Call) and not left.args)
        if plain and isinstance(right, Name):
            return f"{_type_text(left)}{target.op}", right
    return None


def _type_text(expr: Expr) -> str:
    return f"{expr.func}<{', '.join(expr.types)}>" if isinstance(expr, Call) else str(expr)


def _bare(type_: str) -> str:
    """Return the type's name without qualifiers and template arguments."""
    return type_.partition("<")[0].split()[-1] if type_.partition("<")[0].split() else type_


def _types_of(type_: str) -> tuple[str, ...]:
    start = type_.find("<")
    return split_types(type_[start : type_.rfind(">") + 1]) if start >= 0 else ()


@cache
def _parser() -> Lark:
    return parser("cpp_code", _RULES, transformer=_StatementBuilder())


def _parse(text: str, rule: str) -> Any:
    """Return what the rule makes of the text, None when the text does not fit."""
    from lark.exceptions import LarkError

    if len(text) > _LONGEST:
        return None
    try:
        return _parser().parse(text, start=rule)
    except (LarkError, ValueError, OverflowError):
        return None


def depth(expr: Expr) -> int:
    """Return how deep an expression is nested, without recursion."""
    from aoti_logs.code.expr import children

    deepest, level = 0, [expr]
    while level and deepest <= _DEEPEST:
        deepest += 1
        level = [c for e in level for c in children(e)]
    return deepest


@lru_cache(maxsize=16384)
def parse_expression(text: str) -> Expr | None:
    """Return an expression, None when the text is not one or is nested too deep."""
    found: Expr | None = _parse(text, "expression")
    return None if found is not None and _too_deep(text, found) else found


@lru_cache(maxsize=16384)
def parse_statement(text: str) -> Parsed | None:
    """Return a statement (its text has no `;` and the bodies of its lambdas are taken out), or None."""
    found: Parsed | None = _parse(text, "statement")
    if isinstance(found, Simple) and any(
        _too_deep(text, e) for s in found.sets for e in (s.target, s.value) if e
    ):
        return None
    return found


@lru_cache(maxsize=256)
def parse_function(text: str) -> Function | None:
    """Return name and parameters of a function head, or None."""
    found: Function | None = _parse(text, "function")
    return found


def _too_deep(text: str, expr: Expr) -> bool:
    # A level takes at least one character, most take many: short text needs no look.
    return len(text) > _DEEPEST and depth(expr) > _DEEPEST


def lambdas(expr: Expr) -> int:
    """Return how many lambdas without parameters stand in an expression."""
    return sum(1 for e in walk(expr) if isinstance(e, Call) and e.func == "[&]" and not e.args)
