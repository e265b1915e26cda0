r"""A traceback within a string as `repr` or JSON write it, in one line: `Traceback (most recent call last):\n  File \"...`.

torch.distributed's error files (`py_callstack`, torch/distributed/elastic/multiprocessing/errors/error_handler.py), servers
that log JSON, and exceptions whose text is the repr of another one have it. A string in a string is escaped twice.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.lines import Log
from aoti_logs.parse.python.traceback import HEADER, read_block
from aoti_logs.sources.source import Kind, Source

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line

_ESCAPED = re.compile(re.escape(HEADER) + r"(?P<slashes>\\{1,8})n")
_FILE = re.compile(r'\bFile (\\{1,8})"')
_LETTERS = {"n": "\n", "t": "\t"}
_MOST = 16  # in one line


def read_escaped(log: Log, line: Line) -> bool:
    """Claim a line that holds escaped tracebacks."""
    if HEADER not in line.text or _ESCAPED.search(line.text) is None:
        return False
    span = log.span(line.start, line.end)
    number, found = span.line, False
    for match in list(_ESCAPED.finditer(line.text))[:_MOST]:
        end = _end(line.text, match.start())
        text = _unescaped(line.text[match.start() : end], len(match["slashes"]))
        inner = Log(_source(log, text, number))
        block = read_block(inner, inner.line(0))
        if block is None or not any(e.python_frames for e in block.errors):
            continue
        for error in block.errors:
            frames = tuple(replace(f, span=span) for f in error.python_frames)
            log.errors.append(replace(error, span=span, python_frames=frames, stack=None, rank=line.rank))
        found = True
        break  # what stands behind it in the same string is part of the same chain
    if found:
        log.claim("traceback", [line])
    return found


def _unescaped(text: str, slashes: int) -> str:
    r"""Return a string with its line feeds; `slashes` stand before an `n`."""

    def plain(found: re.Match[str]) -> str:
        run, letter = len(found[1]), found[2]
        if run == slashes and letter in _LETTERS:
            return _LETTERS[letter]
        if run <= slashes and letter in "\"'":
            return letter
        return "\\" * max(run // (2 * slashes), 1) + letter

    return re.sub(r"(\\+)([^\\]?)", plain, text)


def _end(text: str, start: int) -> int:
    """Return where the string ends that a place is in: at a quote like the one that opens it.

    Where the string began earlier, a frame's file name in escaped quotes tells that it is in quotes of that kind.
    """
    quote = text[start - 1] if start else ""
    opening = _slashes(text, start - 1)
    if quote not in {"'", '"'}:
        frame = _FILE.search(text, start)
        if frame is None:
            return len(text)
        quote, opening = '"', len(frame[1]) - 1
    at = text.find(quote, start)
    while at >= 0 and _slashes(text, at) > opening:
        at = text.find(quote, at + 1)
    return at if at >= 0 else len(text)


def _slashes(text: str, at: int) -> int:
    """Return how many backslashes stand before a place."""
    begin = at
    while begin and text[begin - 1] == "\\":
        begin -= 1
    return at - begin


def _source(log: Log, text: str, number: int) -> Source:
    data = text.encode("utf-8", "surrogatepass")
    rows = text.count("\n") + 1
    return Source(
        log.source.name,
        Kind.LOG,
        lambda: data,
        parent=log.source,
        parent_lines=[number] * rows,
        role=log.source.role,
        rank=log.source.rank,
    )
