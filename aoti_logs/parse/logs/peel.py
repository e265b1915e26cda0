"""One line without what was wrapped around it: prefixes, colours, borders, escapes; and who sent it.

What remains is kept in parts, each with the place where its bytes stand in the line, so that nothing is lost.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.prefix_kinds import (
    ANSI,
    KINDS,
    LEVEL_OF_REST,
    NO_REST,
    REST,
    PrefixKind,
    sender_of,
    tail_of,
)
from aoti_logs.parse.logs.sender import NOBODY, Sender

if TYPE_CHECKING:
    from collections.abc import Callable

Part = tuple[bytes, int]
"""Bytes that are kept, and where they stand in the line. Of a longer escape they stand at its end."""

_LAYERS = 8
_SHORT = 512  # bytes of lines that are remembered: programs repeat themselves
_JSON = re.compile(
    rb'\{"log":"(?P<log>[^"\\]*(?:\\.[^"\\]*)*)"(?:,"attrs":\{[^{}\n]*\})?,"stream":"(?P<pipe>stdout|stderr)"'
    rb'(?:,"attrs":\{[^{}\n]*\})?,"time":"(?P<time>[^"\n]{1,64})"\}[ \r]*$'
)
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
_ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_NUMBER = re.compile(rb"\d")


@dataclass(frozen=True)
class Wrapping:
    """How lines of a log are wrapped: the kinds that are believed, a constant indent, HTML escapes."""

    uncertain: frozenset[str] = frozenset()
    indent: int = 0
    escaped: bool = False
    stamps: bool = True
    """Whether times before a line are somebody else's; False where torch's own loggers write them."""

    @cached_property
    def kinds(self) -> tuple[PrefixKind, ...]:
        """The kinds that are believed, those that only the whole log shows first."""
        own = [kind for kind in KINDS if kind.name in self.uncertain]
        every = (*own, *(kind for kind in KINDS if kind.certain))
        return tuple(kind for kind in every if self.stamps or not kind.stamp)

    @cached_property
    def table(self) -> tuple[tuple[PrefixKind, ...], ...]:
        """The kinds that can begin with each byte."""
        return tuple(tuple(k for k in self.kinds if not k.first or byte in k.first) for byte in range(256))


PLAIN = Wrapping()


@dataclass(frozen=True, slots=True)
class Peeled:
    """What is left of a line.

    `sender` is what all of its wrapping tells, `stream` what stands before every line of its process. `joins`: the
    line goes on in the next one of its stream; `continues`: it goes on where the last one ended. `prefix` are the
    layers of (kind, text) at its beginning when nothing else was taken off, and else None.
    """

    parts: tuple[Part, ...]
    sender: Sender
    stream: Sender
    joins: bool = False
    continues: bool = False
    prefix: tuple[tuple[PrefixKind, re.Match[bytes]], ...] | None = None

    @property
    def text(self) -> bytes:
        """The bytes that are left."""
        if len(self.parts) == 1:
            return self.parts[0][0]
        return b"".join(part for part, _ in self.parts)


def peel(line: bytes, wrapping: Wrapping = PLAIN) -> Peeled:
    """Take everything off a line (without its line feed) that was wrapped around it."""
    return _peeled(line, wrapping) if len(line) <= _SHORT else _Line(line).peeled(wrapping)


@lru_cache(maxsize=4096)
def _peeled(line: bytes, wrapping: Wrapping) -> Peeled:
    return _Line(line).peeled(wrapping)


class _Line:
    """A line while it is taken apart; `at` says of some offsets of the text where they stand in the line."""

    def __init__(self, line: bytes) -> None:
        self.text = line
        self.at: list[tuple[int, int]] = [(0, 0)]
        self.sender = self.stream = NOBODY
        self.joins = self.continues = False
        self.layers: list[tuple[PrefixKind, re.Match[bytes]]] = []
        self.only_prefix = True

    def peeled(self, wrapping: Wrapping) -> Peeled:
        if wrapping.escaped and b"&" in self.text:
            self._rewrite(_ENTITY, _character)
        start = 0
        if wrapping.indent:
            start = min(wrapping.indent, len(self.text) - len(self.text.lstrip(b" \t")))
            self.only_prefix = False
        names: set[str] = set()
        for _ in range(_LAYERS):
            if b"\x1b" in self.text:
                start = self._without_colour(start)
            if self.text.startswith(b'{"log":"', start) and self._unquoted(start):
                start = 0
                continue
            found = self._layer(wrapping, start)
            if found is None:
                break
            kind, match = found
            names.add(kind.name)
            start = match.end()
        end = min((tail_of(name, self.text, start) for name in names), default=len(self.text))
        if end < len(self.text) or "box" in names:
            self.only_prefix = False
        prefix = tuple(self.layers) if self.only_prefix else None
        return Peeled(self._parts(start, end), self.sender, self.stream, self.joins, self.continues, prefix)

    def _layer(self, wrapping: Wrapping, start: int) -> tuple[PrefixKind, re.Match[bytes]] | None:
        text = self.text
        after_stamp = bool(self.layers) and self.layers[-1][0].stamp
        if start < len(text):
            for kind in wrapping.table[text[start]]:
                if kind.first or not self.layers or kind.name == "compose":
                    match = kind.regex.match(text, start)
                    if match is not None and match.end() > start:
                        self._took(kind, match)
                        return kind, match
            if after_stamp:
                match = REST.regex.match(text, start)
                if match is not None and match.end() > start:
                    self.layers.append((REST, match))
                    level = LEVEL_OF_REST.search(match[0])
                    if level is not None:
                        self.sender = self.sender.around(Sender(level=level[0].decode()))
                    return REST, match
        return None

    def _took(self, kind: PrefixKind, match: re.Match[bytes]) -> None:
        self.layers.append((kind, match))
        told = sender_of(kind, match)
        self.sender = self.sender.around(told)
        if kind.relays:
            self.stream = self.stream.around(told.stream)
        part = match.groupdict().get("part")
        self.joins = self.joins or part == b"P"
        self.continues = self.continues or part == b"+"
        if part in {b"P", b"+"} or kind.name in {"fence", "quote"}:
            self.only_prefix = False

    def _without_colour(self, start: int) -> int:
        """Remove control sequences; return where `start` is in what remains."""
        before = len(ANSI.sub(b"", self.text[:start]))
        self._rewrite(ANSI, _nothing)
        return before

    def _unquoted(self, start: int) -> bool:
        """Make Docker's record of a line the line; return False when it is none."""
        found = _JSON.match(self.text, start)
        if found is None:
            return False
        told = Sender(
            pipe=found["pipe"].decode("utf-8", "replace"), time=found["time"].decode("utf-8", "replace")
        )
        self.sender, self.stream = self.sender.around(told), self.stream.around(told.stream)
        begin, end = found.span("log")
        self.joins = not self.text.endswith(b"\\n", begin, end)
        end -= 0 if self.joins else 2
        self._cut(begin, end)
        self._rewrite(_ESCAPE, _unescaped)
        self.layers.clear()
        return True

    def _cut(self, begin: int, end: int) -> None:
        parts = self._parts(begin, end)
        self.text, self.at, at = self.text[begin:end], [], 0
        for part, offset in parts:
            self.at.append((at, offset))
            at += len(part)
        self.only_prefix = False

    def _rewrite(self, pattern: re.Pattern[bytes], new: Callable[[re.Match[bytes]], bytes]) -> None:
        """Replace what fits a pattern by something that is not longer."""
        kept: list[bytes] = []
        at: list[tuple[int, int]] = []
        size = last = 0
        for found in pattern.finditer(self.text):
            replaced = new(found)[: len(found[0])]
            pieces = [(last, found.start()), (found.end() - len(replaced), found.end())]
            for (begin, end), text in zip(pieces, (self.text[last : found.start()], replaced), strict=True):
                for part, offset in self._parts(begin, end):
                    at.append((size, offset))
                    size += len(part)
                kept.append(text)
            last = found.end()
        if not last:
            return
        for part, offset in self._parts(last, len(self.text)):
            at.append((size, offset))
            size += len(part)
        kept.append(self.text[last:])
        self.text, self.at, self.only_prefix = b"".join(kept), at, False

    def _parts(self, start: int, end: int) -> tuple[Part, ...]:
        """Return the text from `start` to `end` in parts that stand together in the line."""
        if len(self.at) == 1:
            begin, offset = self.at[0]
            return ((self.text[start:end], offset + start - begin),) if start < end else ()
        parts: list[Part] = []
        for number, (begin, offset) in enumerate(self.at):
            stop = self.at[number + 1][0] if number + 1 < len(self.at) else len(self.text)
            low, high = max(begin, start), min(stop, end)
            if low < high:
                parts.append((self.text[low:high], offset + low - begin))
        return tuple(parts)


def _nothing(_: re.Match[bytes]) -> bytes:
    return b""


def _character(found: re.Match[bytes]) -> bytes:
    return html.unescape(found[0].decode("utf-8", "replace")).replace("\xa0", " ").encode("utf-8", "replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    try:
        text = json.loads(b'"%b"' % found[0])
    except ValueError:
        return found[0]
    return str(text).encode("utf-8", "replace")


def general(prefix: tuple[tuple[PrefixKind, re.Match[bytes]], ...]) -> bytes:
    """Return a pattern for prefixes of the same stream: times differ, and what a logger writes."""
    out: list[bytes] = []
    for kind, match in prefix:
        text, start = match[0], match.start()
        if not kind.relays and not (kind.name == "stamp" and match["time"].endswith(b"Z")):
            out.append(kind.plain)
            continue
        begin, end = match.span("time") if "time" in match.re.groupindex else (start, start)
        begin, end = max(begin - start, 0), max(end - start, 0)
        time = _NUMBER.sub(rb"\\d", re.escape(text[begin:end]))
        out.append(re.escape(text[:begin]) + time + re.escape(text[end:]))
    if prefix and prefix[-1][0].stamp:
        out.append(NO_REST)
    return b"".join(out)
