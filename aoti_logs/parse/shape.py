"""Parse shapes, not lines: texts that differ only in digits are parsed by their grammar once.

Every digit is replaced by `0` (lengths stay, so positions stay true), the masked text goes through
Lark, and the tokens' positions are applied to the real text. A grammar read this way must not care
which digits it sees.
"""

from __future__ import annotations

import re
from functools import lru_cache

_DIGITS = str.maketrans("123456789", "000000000")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
LONGEST = 1 << 16
"""Texts longer than this are not given to a grammar; no program that we read prints them."""

Fields = dict[str, list[str]]


@lru_cache(maxsize=8192)
def _tokens(grammar: str, start: str, masked: str) -> tuple[tuple[str, int, int], ...] | None:
    from lark import Token, Tree
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tree = parser(grammar, start).parse(masked)
    except LarkError:
        return None
    found: list[tuple[str, int, int]] = []
    todo: list[object] = [tree]
    while todo:  # not Tree.scan_values: a line of ten thousand parentheses must not exhaust the stack
        node = todo.pop()
        if isinstance(node, Tree):
            todo.extend(reversed(node.children))
        elif isinstance(node, Token) and node.start_pos is not None and node.end_pos is not None:
            found.append((node.type, node.start_pos, node.end_pos))
    return tuple(found)


def mask(text: str) -> str:
    """Return the text with every digit made `0`; it has the same length."""
    masked = text.translate(_DIGITS)
    if "0x" in masked:
        masked = _HEX.sub(lambda m: "0x".ljust(len(m[0]), "0"), masked)
    return masked


def tokens(grammar: str, start: str, text: str) -> list[tuple[str, int, int]] | None:
    """Return (terminal, start, end) of every kept token of a text, or None when it does not fit.

    Args:
        grammar: file name in `grammars/` without its ending.
        start: start rule.
        text: one line.
    """
    if len(text) > LONGEST:
        return None
    found = _tokens(grammar, start, mask(text))
    return None if found is None else list(found)


def fields(grammar: str, start: str, text: str) -> Fields | None:
    """Return the texts of every kept token by terminal name, or None when the text does not fit."""
    found = tokens(grammar, start, text)
    if found is None:
        return None
    out: Fields = {}
    for kind, begin, end in found:
        out.setdefault(kind, []).append(text[begin:end])
    return out


def first(found: Fields, name: str) -> str | None:
    """Return the first token of a terminal, or None when there is none."""
    values = found.get(name)
    return values[0] if values else None
