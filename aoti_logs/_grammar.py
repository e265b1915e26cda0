"""Lark parsers from the `.lark` files that ship with the package, each built once when first used."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Lark

_HERE = Path(__file__).parent


def grammar_folder() -> Path:
    """Return the folder of the grammars: inside the installed package, or beside it in a checkout."""
    inside = _HERE / "grammars"
    return inside if inside.is_dir() else _HERE.parent / "grammars"


@cache
def parser(
    name: str,
    start: str | tuple[str, ...] = "start",
    *,
    strict: bool = False,
    transformer: object | None = None,
) -> Lark:
    """Return the LALR parser of `grammars/<name>.lark`.

    Args:
        name: file name without its ending.
        start: the start rule, or several: `parse(text, start=...)` then chooses one, and the tables are
            built once for all of them.
        strict: let Lark refuse a grammar with ambiguous terminals (used by a test; needs `interegular`).
        transformer: an object with a method for each rule, called with the rule's children while parsing;
            no tree is built then, so that depth costs no recursion.
    """
    from lark import Lark

    folder = grammar_folder()
    with _collision_check(on=strict):
        return Lark(
            (folder / f"{name}.lark").read_text(encoding="utf-8"),
            start=start if isinstance(start, str) else list(start),
            parser="lalr",
            lexer="contextual",
            import_paths=[str(folder)],
            propagate_positions=transformer is None,
            maybe_placeholders=True,
            strict=strict,
            transformer=transformer,
        )


@contextmanager
def _collision_check(*, on: bool) -> Iterator[None]:
    """Keep Lark from comparing every pair of terminals, which takes seconds a grammar and which it does
    unasked wherever the package `interegular` is installed.
    """
    from lark import lexer

    before = getattr(lexer, "has_interegular", False)
    try:
        lexer.has_interegular = before and on
        yield
    finally:
        lexer.has_interegular = before
