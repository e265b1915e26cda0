"""The outline of a C++ function: which blocks, control heads, statements and lambdas it has, and on which lines.

Read with `grammars/cpp_blocks.lark`. Text that is torn off keeps what is there: what is open at the end is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from aoti_logs._grammar import parser

if TYPE_CHECKING:
    from lark import Token, Tree
    from lark.parsers.lalr_interactive_parser import InteractiveParser

    _Tree: TypeAlias = Tree[Token]

_DEEPEST = 100
_MOST_STRAYS = 200


@dataclass(frozen=True)
class Lambda:
    """A lambda in a statement; `capture` is its head (`[&]`, `[&](int64_t begin)`)."""

    capture: str
    items: tuple[Piece, ...]
    line: int


@dataclass(frozen=True)
class Plain:
    """A statement without its `;`, with `{}` in place of the body of each of its lambdas."""

    text: str
    line: int
    lambdas: tuple[Lambda, ...] = ()


@dataclass(frozen=True)
class Control:
    """`for (...)`, `if (...)`, `else`: the piece after it is what it controls."""

    text: str
    line: int


@dataclass(frozen=True)
class Block:
    """`{ ... }`."""

    items: tuple[Piece, ...]
    line: int


Piece = Plain | Control | Block


@dataclass(frozen=True)
class Outline:
    """One function. `block` is None for a declaration. `unread` holds (line, text) that fits nowhere."""

    head: str
    line: int
    block: Block | None
    unread: tuple[tuple[int, str], ...] = ()


def outline(text: str, first_line: int = 1) -> Outline:
    """Return the outline of the function that the text begins with; what follows it is not read.

    Args:
        text: source text from the function's head on.
        first_line: the line number of the text's first line.
    """
    tree, strays = _parse(text)
    at = first_line - 1
    unread = [(at + line, stray) for line, stray in strays]
    if tree is None:
        return Outline(text.strip()[:200], first_line, None, tuple(unread))
    head, *blocks = _trees(tree)
    block = blocks[0] if blocks else None
    builder = _Builder(text, at, unread)
    return Outline(
        text[head.meta.start_pos : head.meta.end_pos],
        at + head.meta.line,
        None if block is None else Block(builder.items(_trees(block), 0), at + block.meta.line),
        tuple(unread),
    )


class _Builder:
    def __init__(self, text: str, at: int, unread: list[tuple[int, str]]) -> None:
        self.text = text
        self.at = at
        self.unread = unread

    def items(self, trees: list[_Tree], depth: int) -> tuple[Piece, ...]:
        if depth > _DEEPEST and trees:
            start, end = trees[0].meta.start_pos, trees[-1].meta.end_pos
            self.unread.append((self.at + trees[0].meta.line, self.text[start:end]))
            return ()
        return tuple(self._piece(tree, depth) for tree in trees)

    def _piece(self, tree: _Tree, depth: int) -> Piece:
        line = self.at + tree.meta.line
        if tree.data == "block":
            return Block(self.items(_trees(tree), depth + 1), line)
        if tree.data == "control":
            return Control(self.text[tree.meta.start_pos : tree.meta.end_pos], line)
        return self._plain(tree, line, depth)

    def _plain(self, tree: _Tree, line: int, depth: int) -> Plain:
        cursor, parts, found = tree.meta.start_pos, [], []
        for inner in _lambdas_in(tree):
            capture = str(inner.children[0])
            parts.append(self.text[cursor : inner.meta.start_pos] + capture + "{}")
            cursor = inner.meta.end_pos
            items = self.items(_trees(inner), depth + 1)
            found.append(Lambda(capture, items, self.at + inner.meta.line))
        parts.append(self.text[cursor : tree.meta.end_pos])
        return Plain("".join(parts).strip().removesuffix(";").rstrip(), line, tuple(found))


def _trees(tree: _Tree) -> list[_Tree]:
    return [c for c in tree.children if not isinstance(c, str)]


def _lambdas_in(tree: _Tree) -> list[_Tree]:
    """Return the outermost lambdas of a statement, in order of text."""
    found, todo = [], [tree]
    while todo:
        node = todo.pop()
        if node.data == "lambda_":
            found.append(node)
        else:
            todo.extend(reversed(_trees(node)))
    return found


def _parse(text: str) -> tuple[_Tree | None, list[tuple[int, str]]]:
    """Return the parse tree of the first function, and the tokens (line, text) that had no place in it."""
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    machine = parser("cpp_blocks", "kernel").parse_interactive(text)
    strays: list[tuple[int, str]] = []
    last = Token("TEXT", "", 0, 1, 1, 1, 1, 0)
    while len(strays) <= _MOST_STRAYS:
        try:
            for token in machine.iter_parse():
                last = token
        except UnexpectedToken as error:
            if "$END" in machine.accepts():  # type: ignore[no-untyped-call] # lark has no type for it
                break
            strays.append((error.line, str(error.token)))
        except UnexpectedCharacters as error:
            strays.append((error.line, text[error.pos_in_stream :][:200]))
            break
        else:
            break
    else:
        strays.append((last.line or 1, text[last.end_pos or 0 :][:200]))
    return _close(machine, last), strays


def _close(machine: InteractiveParser, last: Token) -> _Tree | None:
    """Feed what is missing at the end of a torn text, innermost first."""
    from lark import Token

    for _ in range(10 * _DEEPEST):
        accepted = machine.accepts()  # type: ignore[no-untyped-call] # lark has no type for it
        missing = next((t for t in ("$END", "RPAR", "RBRACE", "SEMICOLON") if t in accepted), None)
        if missing is None:
            return None
        result = machine.feed_token(Token.new_borrow_pos(missing, "", last))
        if missing == "$END":
            tree: _Tree | None = result
            return tree
    return None
