"""C++ of generated wrappers as statements and arguments: where they end, not what they mean.

The wrapper generator (`torch/_inductor/codegen/cpp_wrapper_cpu.py` and its GPU, MPS and array-ref sisters)
writes a small part of C++: calls, declarations, braces, comments. Expressions inside arguments are for
`code/cpp/expr.py`; here only brackets, strings and comments count. Everything is linear in the text.
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
_TOKEN = re.compile(rf"{_STRING}|{_CHAR}|//[^\n]*|[(){{}}\[\],;]")
_LONG = re.compile(rf'R"(?P<delimiter>[^()\\\s"]{{0,16}})\(|/\*|{_TOKEN.pattern}')
"""The same, and what raw strings and comments over several lines begin with."""
_OPEN = {"(": ")", "{": "}", "[": "]"}
_CLOSE = frozenset(_OPEN.values())
_SLOW_START = ("if", "while", "else", "for", "{", "}", "/", "#")
_TEMPLATE_PART = re.compile(r"[\w:*&\s,]*")
_MOST_AGAIN = 4
_TAIL = 64
_LIST = "list"
"""An open brace of an initialiser list, in which no statement can end."""
_BLOCK_HEADS = (")", " else", " do", " try", " mutable", " noexcept")


@dataclass(frozen=True)
class Statement:
    """A piece of a function body.

    `kind` is `statement` (`text` ends before its `;`), `head` (text before a `{` that opens a block; empty for
    a bare block), `close` (a `}`), `comment` (a `//` line with its slashes) or `broken` (the first line of what
    does not end). `line` counts from the line that the body's first line has.
    """

    kind: str
    text: str
    line: int


class _Token:
    """A token, asked like a match."""

    __slots__ = ("_end", "_start", "_text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end

    def group(self) -> str:
        """Return the token."""
        return self._text[self._start : self._end]

    def start(self) -> int:
        """Return where it begins."""
        return self._start

    def end(self) -> int:
        """Return where it ends."""
        return self._end


def _tokens(text: str, start: int = 0) -> Iterator[re.Match[str] | _Token]:
    """Return strings, comments and brackets in order."""
    if 'R"' in text or "/*" in text:
        return _long_tokens(text, start)
    return _TOKEN.finditer(text, start)


def _long_tokens(
    text: str, start: int, stop: int | None = None, missing: set[str] | None = None
) -> Iterator[re.Match[str] | _Token]:
    """Yield those that begin before `stop`, where some may be long.

    An end that is `missing` is looked for once, not once a beginning.
    """
    stop = len(text) if stop is None else stop
    missing = set() if missing is None else missing
    match = _LONG.search(text, start, stop)
    while match is not None:
        after = match.end()
        if (delimiter := match["delimiter"]) is not None or match.group() == "/*":
            close = "*/" if delimiter is None else f'){delimiter}"'
            at = -1 if close in missing else text.find(close, after)
            if at >= 0:
                after = at + len(close)
                yield _Token(text, match.start(), after)
            else:
                missing.add(close)
        else:
            yield match
        match = _LONG.search(text, after, stop) if after < stop else None


def statements(body: str, first_line: int = 1) -> Iterator[Statement]:
    """Yield the statements of a function body in order, blocks as `head` and `close`.

    A statement that lost its end would swallow all that follows: where a `;` stands inside of parentheses, the first
    line of what was gathered is `broken`, and reading goes on behind it.
    """
    lines = list(_logical_lines(body, first_line))
    at = 0
    reader = _Reader(first_line)
    while at < len(lines):
        number, line = lines[at]
        if not reader.pending:
            stripped = line.strip()
            if not stripped:
                at += 1
                continue
            if _is_plain(stripped):
                yield Statement("statement", stripped[:-1].rstrip(), number)
                at += 1
                continue
        found = reader.take(line, number, at)
        at += 1
        yield from found
        if reader.broken:
            broken = reader.began
            yield Statement("broken", lines[broken][1].strip(), lines[broken][0])
            # Where much was gathered, it is not read a second time: the work stays linear.
            at = broken + 1 if at - broken <= _MOST_AGAIN else at
            reader = _Reader(first_line)
    yield from reader.end()


class _Reader:
    """Gathers lines until a statement ends."""

    def __init__(self, first_line: int) -> None:
        self.pending: list[str] = []
        self.began = 0
        self.broken = False
        self._line = first_line
        self._open: list[str] = []

    def take(self, line: str, number: int, index: int) -> list[Statement]:
        """Take line number `index` and return the statements that end in it."""
        found: list[Statement] = []
        at = 0
        if _blank(self.pending):
            self.began = index
        for token in _tokens(line):
            text = token.group()
            if text.startswith(("//", "/*")):
                self.pending.append(line[at : token.start()])
                at = token.end()
                if text.startswith("//") and _blank(self.pending):
                    self.pending.clear()
                    self.began = index
                    found.append(Statement("comment", text, number))
            elif text in _OPEN:
                if text != "{":
                    self._open.append(text)
                    continue
                if self._open:
                    self._open.append(_brace(line[max(at, token.start() - _TAIL) : token.start()]))
                    continue
                before = ("".join(self.pending) + line[at : token.start()]).strip()
                if before and _brace(before) == _LIST:
                    self._open.append(_LIST)
                    continue
                found.append(Statement("head", before, _line_of(self.pending, self._line, number)))
                self.pending.clear()
                self.began = index
                at = token.end()
            elif text in _CLOSE:
                if self._open:
                    self._open.pop()
                elif text == "}":
                    self.pending.append(line[at : token.start()])
                    found += _finish(self.pending, self._line, number)
                    found.append(Statement("close", "}", number))
                    at, self.began = token.end(), index
            elif text == ";" and not self._open:
                self.pending.append(line[at : token.start()])
                found += _finish(self.pending, self._line, number)
                at, self.began = token.end(), index
            elif text == ";" and self._open[-1] != "{":
                self.broken = True
                return found
        rest = line[at:]
        if rest.strip() or self.pending:
            if _blank(self.pending):
                self.pending.clear()
                self._line = number
            self.pending.append(rest + "\n")
        return found

    def end(self) -> list[Statement]:
        """Return what is left without an end."""
        if self._open and not _blank(self.pending):
            text = "".join(self.pending).strip()
            return [Statement("broken", text, self._line)]
        return list(_finish(self.pending, self._line, self._line))


def _logical_lines(body: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of the lines; a raw string or comment over several lines keeps them together."""
    number, at, size = first_line, 0, len(body)
    missing: set[str] = set()
    while at < size:
        end = body.find("\n", at)
        end = size if end < 0 else end
        line = body[at:end]
        if 'R"' in line or "/*" in line:
            inside = at
            while inside < end:
                past = next((t for t in _long_tokens(body, inside, end, missing) if t.end() > end), None)
                if past is None:
                    break
                inside = past.end()
                end = body.find("\n", inside)
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


def _brace(before: str) -> str:
    """Return what a brace opens behind a text: a block, the body of a lambda (`{`), or a list."""
    before = f" {before.strip()}"
    return "{" if before.endswith((*_BLOCK_HEADS, "]")) else _LIST


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
    for token in _tokens(text, start):
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
    for token in _tokens(text):
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
    if "/*" in part or ("//" in part and '"' not in part):
        kept, at = [], 0
        for token in _tokens(part):
            if token.group().startswith(("//", "/*")):
                kept.append(part[at : token.start()])
                at = token.end()
        part = "".join(kept) + part[at:]
    return part.strip()


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
