"""C++ of generated wrappers as statements and arguments: where they end, not what they mean.

The wrapper generator (`torch/_inductor/codegen/cpp_wrapper_cpu.py` and its GPU, MPS and array-ref sisters)
writes a small part of C++: calls, declarations, braces, comments. Expressions inside arguments are for
`code/cpp_expr.py`; here only brackets, strings and comments count. Everything is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_RAW = r'R"(?P<delimiter>[^()\\\s"]{0,16})\((?s:.*?)\)(?P=delimiter)"'
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_CHAR = r"'(?:[^'\\\n]|\\.){1,8}'"
_COMMENT = r"//[^\n]*|/\*(?s:.*?)\*/"
_TOKEN = re.compile(rf"{_RAW}|{_STRING}|{_CHAR}|{_COMMENT}|[(){{}}\[\],;]")
_OPEN = {"(": ")", "{": "}", "[": "]"}
_CLOSE = frozenset(_OPEN.values())
_SLOW_START = ("if", "while", "else", "for", "{", "}", "/", "#")
_TEMPLATE_PART = re.compile(r"[\w:*&\s,]*")
_BLOCK_HEADS = (")", " else", " do", " try", " mutable", " noexcept")


@dataclass(frozen=True)
class Statement:
    """A piece of a function body.

    `kind` is `statement` (`text` ends before its `;`), `head` (text before a `{` that opens a block; empty for
    a bare block), `close` (a `}`) or `comment` (a `//` line with its slashes). `line` counts from the line
    that the body's first line has.
    """

    kind: str
    text: str
    line: int


def statements(body: str, first_line: int = 1) -> Iterator[Statement]:
    """Yield the statements of a function body in order, blocks as `head` and `close`."""
    pending: list[str] = []
    pending_line = first_line
    depth = 0
    for number, line in _logical_lines(body, first_line):
        stripped = line.strip()
        if not pending:
            if not stripped:
                continue
            if _is_plain(stripped):
                yield Statement("statement", stripped[:-1].rstrip(), number)
                continue
        at = 0
        for token in _TOKEN.finditer(line):
            text = token.group()
            if text.startswith(("//", "/*")):
                pending.append(line[at : token.start()])
                at = token.end()
                if text.startswith("//") and _blank(pending):
                    pending.clear()
                    yield Statement("comment", text, number)
            elif text in _OPEN:
                if text != "{" or depth:
                    depth += 1
                    continue
                before = ("".join(pending) + line[at : token.start()]).strip()
                if before and not f" {before}".endswith(_BLOCK_HEADS):
                    depth += 1
                    continue
                yield Statement("head", before, _line_of(pending, pending_line, number))
                pending.clear()
                at = token.end()
            elif text in _CLOSE:
                if depth:
                    depth -= 1
                elif text == "}":
                    pending.append(line[at : token.start()])
                    yield from _finish(pending, pending_line, number)
                    yield Statement("close", "}", number)
                    at = token.end()
            elif text == ";" and not depth:
                pending.append(line[at : token.start()])
                yield from _finish(pending, pending_line, number)
                at = token.end()
        rest = line[at:]
        if rest.strip() or pending:
            if _blank(pending):
                pending.clear()
                pending_line = number
            pending.append(rest + "\n")
    yield from _finish(pending, pending_line, pending_line)


def _logical_lines(body: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the lines; a raw string or comment over several lines keeps them together."""
    number, at, size = first_line, 0, len(body)
    while at < size:
        end = body.find("\n", at)
        end = size if end < 0 else end
        line = body[at:end]
        if 'R"' in line or "/*" in line:
            for token in _TOKEN.finditer(body, at):
                if token.start() >= end:
                    break
                if token.end() > end:
                    end = body.find("\n", token.end())
                    end = size if end < 0 else end
            line = body[at:end]
        yield number, line
        number += line.count("\n") + 1
        at = end + 1


def _is_plain(line: str) -> bool:
    """Tell whether a line is one whole statement that needs no look at its inside."""
    return (
        line.endswith(";")
        and '"' not in line
        and "//" not in line
        and "/*" not in line
        and line.count(";") == 1
        and line.count("(") == line.count(")")
        and line.count("{") == line.count("}")
        and not line.startswith(_SLOW_START)
    )


def _blank(pending: list[str]) -> bool:
    return not any(part and not part.isspace() for part in pending)


def _line_of(pending: list[str], pending_line: int, number: int) -> int:
    return pending_line if not _blank(pending) else number


def _finish(pending: list[str], pending_line: int, number: int) -> Iterator[Statement]:
    text = "".join(pending).strip()
    line = pending_line if len(pending) > 1 else number
    pending.clear()
    if text:
        yield Statement("statement", text, line)


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the one at `start`, or -1."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = token.group()
        if mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth -= 1
            if depth <= 0:
                return token.start()
    return -1


def split_arguments(text: str) -> tuple[str, ...]:
    """Return the parts of `a, f(b, c), {d, e}`, stripped; a trailing comma adds none.

    A comma between template brackets (`std::array<AtenTensorHandle, 2>{a, b}`) does not separate.
    """
    parts: list[str] = []
    depth = at = 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth -= 1
        elif mark == "," and not depth and not _inside_template(text, at, token.start()):
            parts.append(_without_comments(text[at : token.start()]))
            at = token.end()
    last = _without_comments(text[at:])
    return (*parts, last) if last else tuple(parts)


def _inside_template(text: str, start: int, end: int) -> bool:
    """Tell whether the text before a comma ends in an open `name<...`."""
    at = text.rfind("<", start, end)
    if at <= start or text.rfind(">", at, end) >= 0:
        return False
    return (text[at - 1].isalnum() or text[at - 1] == "_") and _TEMPLATE_PART.fullmatch(
        text, at + 1, end
    ) is not None


def _without_comments(part: str) -> str:
    return (
        re.sub(_COMMENT, "", part) if "/*" in part or ("//" in part and '"' not in part) else part
    ).strip()


_CALL = re.compile(r"\s*([A-Za-z_][\w.]*(?:(?:::|->)[A-Za-z_~][\w.]*)*)\s*(?:<[^()]{0,400}>)?\s*\(")


def as_call(text: str) -> tuple[str, tuple[str, ...], str] | None:
    """Return (callee without template arguments, arguments, what follows) when the text starts with a call."""
    match = _CALL.match(text)
    if match is None:
        return None
    end = closing(text, match.end() - 1)
    if end < 0:
        return None
    return match[1], split_arguments(text[match.end() : end]), text[end + 1 :].strip()


def string_value(text: str) -> str | None:
    """Return the characters of a string literal, plain or raw, or None when the text is not one."""
    text = text.strip()
    raw = re.fullmatch(_RAW, text)
    if raw is not None:
        head = len(raw["delimiter"]) + 3
        return text[head : len(text) - len(raw["delimiter"]) - 2]
    if re.fullmatch(_STRING, text) is None:
        return None
    return re.sub(r'\\([\\"])', r"\1", text[1:-1])
