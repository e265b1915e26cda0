"""The name of a function in a C++ symbol: without return type, arguments, template arguments.

Format: `grammars/cpp_symbol.lark`. Demanglers write the same function in several ways; lambdas, clones and unnamed
namespaces are brought to one form, so that names can be compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark import Token

_LONGEST = 20_000
_PLAIN = re.compile(r"~?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*$", re.ASCII)
_WORDS = re.compile(r"(?:^|::)(?:operator|const|volatile|noexcept|restrict|__restrict|mutable)(?:::|$)")
_LAMBDA = re.compile(r"\{lambda\b|<lambda|'lambda\d*'|\$_\d+$|\{closure|\{\{closure|<lambda_")
_NUMBER = re.compile(r"#(\d{1,9})\s*\}$")
_HASH = re.compile(r"h[0-9a-f]{16}$")  # what Rust puts behind a name
_ANONYMOUS = "(anonymous namespace)"


@dataclass(frozen=True)
class NativeName:
    """The name of a function.

    `qualified` is `scope::function`. `scope` holds namespaces and classes, which a symbol does not tell apart, and
    is empty for a C function. `whole` is False where the symbol did not fit the grammar (cut off, or damaged by
    Markdown) and only what stands before its arguments was read.
    """

    qualified: str
    scope: str
    function: str
    clone: str | None = None
    """What a compiler's clone adds to the name: `.cold`, `._omp_fn.0`."""
    whole: bool = True


@dataclass(frozen=True)
class _Group:
    """A pair of brackets with what is in them; `kind` is the opening one."""

    kind: str
    start_pos: int
    end_pos: int


class _Pieces:
    """Makes spans of the brackets; no tree is built, so that depth costs nothing."""

    def start(self, children: list[Token | _Group]) -> list[Token | _Group]:
        return children

    def template(self, children: list[Token | _Group]) -> _Group:
        return _group(children)

    def arguments(self, children: list[Token | _Group]) -> _Group:
        return _group(children)

    def braces(self, children: list[Token | _Group]) -> _Group:
        return _group(children)


def _group(children: Sequence[Token | _Group]) -> _Group:
    first, last = children[0], children[-1]
    return _Group(str(first), int(first.start_pos or 0), int(last.end_pos or 0))


_PIECES = _Pieces()


def native_name(symbol: str) -> NativeName | None:
    """Return the name in a symbol, or None where none can be read."""
    text = symbol.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _PLAIN.match(text) and not _WORDS.search(text):
        scope, _, function = text.rpartition("::")
        if not _HASH.match(function):
            return NativeName(text, scope, function)
    return parsed_name(text)


@lru_cache(maxsize=1 << 15)
def parsed_name(text: str) -> NativeName | None:
    """Return the same by the grammar alone."""
    name = _read(text)
    if name is not None:
        return name
    # A cut or damaged symbol: what stands before its first arguments is whole in most cases.
    at = text.find("(")
    while at >= 0 and text.startswith((_ANONYMOUS, "()("), at):
        at = text.find("(", at + 2)
    for end in dict.fromkeys((at, text.find("<"))):
        name = _read(text[:end].rstrip()) if end > 0 else None
        if name is not None:
            return NativeName(name.qualified, name.scope, name.function, name.clone, whole=False)
    return None


def _read(text: str) -> NativeName | None:
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        pieces = parser("cpp_symbol", transformer=_PIECES).parse(text)
    except LarkError:
        return None
    return _Chains(text).read(pieces)  # type: ignore[arg-type]  # the transformer makes a list of it


class _Chains:
    """Finds the chain of segments that is the name among those of its type and its specifiers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chains: list[list[str]] = []
        self._called: list[bool] = []
        self._open = False  # a segment may follow
        self._clone: str | None = None

    def read(self, pieces: Sequence[Token | _Group]) -> NativeName | None:
        conversion = -1
        for piece in pieces:
            kind = piece.kind if isinstance(piece, _Group) else piece.type
            text = self._text[int(piece.start_pos or 0) : int(piece.end_pos or 0)]
            if conversion >= 0:
                if kind != "(":
                    continue
                start = int(piece.start_pos or 0)
                self._segment(_without_templates(self._text[conversion:start].strip()))
                conversion = -1
            if kind == "CONVERSION":
                conversion = int(piece.start_pos or 0)
            else:
                self._take(kind, text)
        if conversion >= 0:
            self._segment(_without_templates(self._text[conversion:].strip()))
        return self._name()

    def _take(self, kind: str, text: str) -> None:
        match kind:
            case "SCOPE":
                if not self._chains:
                    self._chains.append([])
                    self._called.append(False)
                self._open = True
            case "NAME" | "OPERATOR" | "QUOTED" | "BACKQUOTED" | "ANONYMOUS" | "{":
                self._segment(_normal(kind, text))
            case "<":
                if self._open or not self._chains:
                    self._segment(_normal(kind, text))
            case "(":
                if self._called:
                    self._called[-1] = True
            case "SUFFIX":
                self._clone = (self._clone or "") + text
            case "SQUARE":
                if text.startswith("[clone "):
                    self._clone = (self._clone or "") + text[7:-1].strip()
            case _:
                pass

    def _segment(self, text: str) -> None:
        if self._open and self._chains:
            self._chains[-1].append(text)
            self._called[-1] = False
        else:
            self._chains.append([text])
            self._called.append(False)
        self._open = False

    def _name(self) -> NativeName | None:
        chains = [(c, called) for c, called in zip(self._chains, self._called, strict=True) if c]
        if not chains:
            return None
        chain = next((c for c, called in reversed(chains) if called), chains[-1][0])
        if not any(called for _, called in chains):
            chain = chains[-1][0]
        if len(chain) > 1 and _HASH.match(chain[-1]):
            chain = chain[:-1]
        scope, function = "::".join(chain[:-1]), chain[-1]
        qualified = f"{scope}::{function}" if scope else function
        return NativeName(qualified, scope, function, self._clone)


def _normal(kind: str, text: str) -> str:
    """Write lambdas and unnamed namespaces as libiberty does, the types in them left out."""
    if kind == "ANONYMOUS" or "anonymous" in text[:12]:
        return _ANONYMOUS if "namespace" in text or text == "{anonymous}" else text
    if _LAMBDA.match(text):
        number = _NUMBER.search(text)
        return f"{{lambda#{number[1]}}}" if number else "{lambda}"
    return text


def _without_templates(text: str) -> str:
    out: list[str] = []
    depth = 0
    for char in text:
        if char == "<":
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif not depth:
            out.append(char)
    return "".join(out)
