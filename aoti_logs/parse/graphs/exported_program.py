"""Signature and value ranges of an ExportedProgram, printed into a log or saved as JSON in a package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.facts import Range, Signature, SignatureInput
from aoti_logs.parse.graphs import exported_json
from aoti_logs.parse.text import branches, limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lark import Token, Tree

    from aoti_logs.sources.source import Source

_HEADING = b"Graph signature:"
_REPR = b"ExportGraphSignature(input_specs="
_RANGES = b"Range constraints:"
_LONGEST = 4 << 20
_MOST_LINES = 100_000
_ARGUMENT = re.compile(r"(?<=[a-z])(?=[A-Z])")


def signatures_in_text(source: Source) -> tuple[Signature, ...]:
    """Return the graph signatures in a source, in order.

    Reads the block under `Graph signature:` (torch 2.7+), the repr on one line (older), and the JSON
    of a packaged program (`models/*.json`, `serialized_exported_program.json`).
    """
    saved = exported_json.signature(source)
    if saved is not None:
        return (saved,)
    found: dict[int, Signature] = {}
    for start in _places(source, _REPR):
        signature = _from_repr(source, start)
        if signature is not None:
            found[start] = signature
    for start in _places(source, _HEADING):
        signature = _from_block(source, start)
        if signature is not None:
            found[start] = signature
    return tuple(found[start] for start in sorted(found))


def ranges_in_text(source: Source) -> tuple[Range, ...]:
    """Return what `Range constraints: {...}` says in a source (or the JSON of a packaged program)."""
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    saved = exported_json.ranges(source)
    if saved:
        return saved
    found: list[Range] = []
    for start in _places(source, _RANGES):
        text = _line(source, start).partition(":")[2].strip()
        try:
            tree = parser("signature", "ranges").parse(text)
        except LarkError:
            continue
        place = source.place(source.line_at(start))
        for entry in branches(tree):
            symbol, lower, upper = (str(t) for t in entry.children)
            found.append(Range(symbol.strip(), limit(lower), limit(upper), place, source))
    return tuple(found)


def _places(source: Source, literal: bytes) -> Iterator[int]:
    data = source.data
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + len(literal))


def _line(source: Source, start: int) -> str:
    data = source.data
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    return source.cut(start, min(end, start + _LONGEST)).rstrip("\r")


def _from_repr(source: Source, start: int) -> Signature | None:
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tree = parser("signature", "repr").parse(_line(source, start).strip())
    except LarkError:
        return None
    inputs = [_spec(spec) for spec in branches(branches(tree)[0])]
    return Signature(tuple(inputs), source.place(source.line_at(start)), source)


def _spec(tree: Tree[Token]) -> SignatureInput:
    kind, argument, *fields = branches(tree)
    values = _fields([*branches(argument), *fields])
    return SignatureInput(
        name=values.get("name", ""),
        kind=str(kind.children[1]),
        target=values.get("target"),
        argument=_ARGUMENT.sub("_", str(argument.children[0]).removesuffix("Argument")).lower(),
    )


def _fields(trees: list[Tree[Token]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for tree in trees:
        name, value = tree.children
        if getattr(value, "type", "") == "STRING":
            values.setdefault(str(name), str(value)[1:-1])
    return values


def _from_block(source: Source, start: int) -> Signature | None:
    data = source.data
    line = source.line_at(start)
    if _line(source, start).partition(":")[2].strip():
        return None
    inputs: list[SignatureInput] = []
    number = line
    at = data.find(b"\n", start)
    opened = False
    while 0 <= at < len(data) - 1 and number - line < _MOST_LINES:
        text = _line(source, at + 1).strip()
        number += 1
        at = data.find(b"\n", at + 1)
        if text == "# inputs":
            opened = True
        elif text == "# outputs" or text.startswith("Range constraints:"):
            break
        elif text:
            entry = _entry(text) if opened else None
            if entry is None:
                # other output on a line of its own, or no signature at all
                if not opened:
                    return None
                continue
            inputs.append(entry)
    return Signature(tuple(inputs), source.place(line, number), source) if opened else None


def _entry(text: str) -> SignatureInput | None:
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        name, kind, target, _ = parser("signature", "block_line").parse(text[:4096]).children
    except LarkError:
        return None
    return SignatureInput(str(name), str(kind), str(target)[1:-1] if isinstance(target, str) else None)
