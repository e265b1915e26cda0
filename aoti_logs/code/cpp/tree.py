"""C++ expressions as the tree of `code/expr.py`: the methods that `grammars/cpp_code.lark` calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aoti_logs.code.expr import Call, Expr, Item, Name, Num, Op, Opaque

Children = list[Any]

_PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip
LAMBDA = "[&]"
"""Function name of the placeholder call that stands for a lambda without parameters."""


@dataclass(frozen=True)
class Reference:
    """Something that a call may follow: a name with template arguments, a scope, or a member of `base`."""

    func: str
    types: tuple[str, ...] = ()
    base: Expr | None = None


def settle(node: Expr | Reference) -> Expr:
    """Return a reference that nothing calls as an expression: `a.mean` is the call `.mean(a)`."""
    if not isinstance(node, Reference):
        return node
    if node.base is not None:
        return Call(node.func, (node.base,), node.types)
    return Call(node.func, (), node.types) if node.types else Name(node.func)


def split_types(text: str) -> tuple[str, ...]:
    """Return the template arguments in `<...>`, with single blanks.

    >>> split_types("<std::array<int64_t, 16>, 2>")
    ('std::array<int64_t, 16>', '2')
    """
    parts, depth, start = [], 0, 1
    for at, char in enumerate(text):
        if char in "<(":
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == "," and depth == 1:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:-1])
    return tuple(" ".join(p.split()) for p in parts if p.strip())


def number(text: str) -> Num:
    """Return a C++ literal without its suffix (`10L`, `0x1FULL`, `1e-05f`)."""
    if text[:2].lower() == "0x":
        return Num(int(text.rstrip("uUlL"), 16))
    digits = text.rstrip("fFlLuU")
    return Num(int(digits) if digits.isdecimal() else float(digits))


class ExpressionBuilder:
    """One method a rule of an expression; each gets the children of the rule."""

    def expression(self, children: Children) -> Expr:
        """Return the finished expression."""
        return settle(children[0])

    def name(self, children: Children) -> Expr:
        """Return a name; `true` and `false` are numbers."""
        text = str(children[0])
        return Num(int(text == "true")) if text in {"true", "false"} else Name(text)

    def templated(self, children: Children) -> Reference:
        """Return `name<types>`."""
        return Reference(str(children[0]), split_types(children[1]))

    def decltype_(self, children: Children) -> Reference:
        """Return `decltype(x)`, whose type is the text of x."""
        return Reference("decltype", (str(settle(children[0])),))

    def number(self, children: Children) -> Expr:
        """Return a literal."""
        return number(children[0])

    def string(self, children: Children) -> Expr:
        """Return text in quotes as it is written."""
        return Opaque(" ".join(children))

    def group(self, children: Children) -> Expr:
        """Return what is in parentheses; `a, b` is the comma operator."""
        inner = tuple(settle(c) for c in children)
        return inner[0] if len(inner) == 1 else Op(",", inner)

    def arguments(self, children: Children) -> tuple[Expr, ...]:
        """Return arguments; a comma after the last one adds none."""
        return tuple(settle(c) for c in children if c is not None)

    def braces(self, children: Children) -> Expr:
        """Return `{a, b}` as a call of `{}`."""
        return Call("{}", children[0])

    def lambda_(self, children: Children) -> Expr:
        """Return a placeholder: what a lambda does is read by its caller."""
        capture = str(children[0])
        return Call(LAMBDA, ()) if not has_parameters(capture) else Opaque(f"{capture} {{}}")

    def call(self, children: Children) -> Expr:
        """Return a call; what is no name and is called all the same is the first argument of `()`."""
        callee, arguments = children
        match callee:
            case Reference(func=func, types=types, base=base):
                return Call(func, arguments if base is None else (base, *arguments), types)
            case Name(id=func):
                return Call(func, arguments)
            case _:
                return Call("()", (callee, *arguments))

    construct = call

    def item(self, children: Children) -> Expr:
        """Return `base[index]`."""
        base, index = children
        return Item(settle(base), Opaque("") if index is None else settle(index))

    def member(self, children: Children) -> Reference:
        """Return `base.name` or `base->name`."""
        base, token, types = children
        name = token.replace("->", " ").replace(".", " ").split()[-1]
        return Reference(f".{name}", split_types(types) if types else (), settle(base))

    def scoped(self, children: Children) -> Reference:
        """Return `type::name`; template arguments of both stay, in order."""
        base, token, types = children
        before = base if isinstance(base, Reference) else Reference(str(base))
        name = token.replace("::", " :: ").replace("template", " ").replace(" ", "")
        more = split_types(types) if types else ()
        return Reference(before.func + name, before.types + more, before.base)

    def step(self, children: Children) -> Expr:
        """Return `x++` and `x--` like `++x` and `--x`."""
        return Op(str(children[1]), (settle(children[0]),))

    def unary(self, children: Children) -> Expr:
        """Return a prefix operator, a cast in parentheses (call of `cast`), `new` or `throw` (calls)."""
        token, operand = children[0], settle(children[1])
        if token.type == "CAST":
            return Call("cast", (operand,), (" ".join(token[1:-1].split()),))
        if token.type in {"NEW", "THROW"}:
            return Call(str(token), (operand,))
        if token == "-" and isinstance(operand, Num):
            return Num(-operand.value)
        return Op(str(token), (operand,))

    def binary(self, children: Children) -> Expr:
        """Return a chain of operands and operators as binary operations, by precedence."""
        output: list[Expr] = [settle(children[0])]
        waiting: list[str] = []

        def apply() -> None:
            right = output.pop()
            output[-1] = Op(waiting.pop(), (output[-1], right))

        for token, operand in zip(children[1::2], children[2::2], strict=True):
            operator = str(token)
            while waiting and _PRECEDENCE[waiting[-1]] >= _PRECEDENCE[operator]:
                apply()
            waiting.append(operator)
            output.append(settle(operand))
        while waiting:
            apply()
        return output[0]

    def conditional(self, children: Children) -> Expr:
        """Return `condition ? then : else`."""
        return Op("?:", tuple(settle(c) for c in children))


def has_parameters(capture: str) -> bool:
    """Tell whether the head of a lambda (`[&](auto i)`) has parameters."""
    return bool(capture.partition("(")[2].partition(")")[0].strip())
