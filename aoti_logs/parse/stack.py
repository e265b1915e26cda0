"""C++ stacks: c10 frames, `C++ CapturedTraceback`, gdb backtraces.

Format: `grammars/frame.lark` names the programs that print them. Frame numbers are kept as printed:
they jump where Python frames were left out, and a captured traceback begins at 4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import Frame, RaisedFrom, Stack
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Line, Log
    from aoti_logs.parse.shape import Fields
    from aoti_logs.sources.source import Span

WORDS = (b"frame #", b"CapturedTraceback", b"Exception raised from ", b"\n#")

_FORMAT = re.compile(r"\s*(?:(?P<c10>frame #\d+:)|#(?P<hash>\d+)\s)")
_GDB = re.compile(r"\s*#\d+\s+(?:0x[0-9a-fA-F]+ in |\S.*\)(?: (?:at|from) .*)?$)")
_CAPTURED = re.compile(r"\s*#\d+ .* from \S.*:\d+\s*$")
_GDB_REST = re.compile(r"\s+(?:at|from) \S|.*\) (?:at|from) \S|\s+.*[,)]$")
_OMITTED = "<omitting python frames>"
_HEADER = "C++ CapturedTraceback:"
_LIBRARY = re.compile(r"\.(?:so(?:\.\d+)*|dll|dylib|pyd)$")
_NO_PLACE = {"??", "offloadstuff.c", ""}
_SYMBOLS = ("C10_SYMBOL", "RAW_SYMBOL", "CAPTURED_SYMBOL", "GDB_SYMBOL")
_UNKNOWN = re.compile(r"<unknown function>?|\?\?")


def raised_from(log: Log, line: Line) -> RaisedFrom | None:
    """Read `Exception raised from FUNCTION at FILE:LINE (most recent call first):`."""
    found = fields("frame", "raised", line.text.strip()) if "Exception raised from " in line.text else None
    if found is None:
        return None
    return RaisedFrom(
        found["RAISED_FUNCTION"][0],
        found["RAISED_FILE"][0],
        int(found["LINE"][0][:9]),
        log.span(line.start, line.end),
    )


def stack_format(text: str) -> str | None:
    """Tell which format a line that begins a frame has: `c10`, `captured_traceback`, `gdb` or None."""
    found = _FORMAT.match(text)
    if found is None:
        return "captured_traceback" if text.strip() == _HEADER else None
    if found["c10"]:
        return "c10"
    if _CAPTURED.match(text) and not re.match(r"\s*#\d+\s+0x[0-9a-f]+ in ", text):
        return "captured_traceback"
    return "gdb" if _GDB.match(text) else None


def read_stack(log: Log, line: Line) -> tuple[Stack, list[Line], list[Line]] | None:
    """Read a stack whose first frame or header stands on this line.

    Returns the stack, its lines, and those lines that looked like frames and could not be read.
    """
    kind = stack_format(line.text)
    if kind is None:
        return None
    frames: list[Frame] = []
    lines: list[Line] = []
    bad: list[Line] = []
    omitted = False
    now: Line | None = line
    while now is not None:
        text = now.text.strip()
        if text == _HEADER and not frames:
            lines.append(now)
        elif text == _OMITTED and kind == "c10":
            omitted = True
            lines.append(now)
        elif stack_format(now.text) == kind:
            frame, own = _frame(log, now, kind)
            if frames and frame is not None and frame.number <= frames[-1].number:
                break  # the next stack
            if frame is None:
                bad.append(now)
            else:
                frames.append(frame)
            lines.extend(own)
        else:
            break
        now = log.after(lines[-1])
    if not frames:
        return None
    return Stack(kind, tuple(frames), log.span(lines[0].start, lines[-1].end), omitted), lines, bad


def _frame(log: Log, line: Line, kind: str) -> tuple[Frame | None, list[Line]]:
    text, lines = line.text.strip(), [line]
    start = "captured" if kind == "captured_traceback" else kind
    found = fields("frame", start, text)
    if kind == "gdb" and (found is None or not ({"LINE", "GDB_LIBRARY"} & found.keys())):
        following = log.after(line)
        if following is not None and _GDB_REST.match(following.text) and not _FORMAT.match(following.text):
            joined = fields("frame", start, f"{text} {following.text.strip()}")
            if joined is not None:
                found, lines = joined, [line, following]
    if found is None:
        return None, lines
    return _row(found, kind, log.span(lines[0].start, lines[-1].end)), lines


def _row(found: Fields, kind: str, span: Span) -> Frame:
    number = int(found["NUMBER"][0][:9])
    symbol = next((found[s][0] for s in _SYMBOLS if s in found), None)
    name = None if symbol is None or _UNKNOWN.fullmatch(symbol) else symbol
    address = _hex(first(found, "ADDRESS"))
    if kind == "c10":
        library = first(found, "LIBRARY") or first(found, "RAW_LIBRARY")
        return Frame(number, name, None, None, library, _hex(first(found, "OFFSET")), address, span)
    file = first(found, "FILE") or first(found, "GDB_FILE")
    digits = first(found, "LINE")
    line = int(digits[:9]) if digits else None
    library, offset = first(found, "GDB_LIBRARY"), None
    if file and _LIBRARY.search(file):
        file, library, line, offset = None, file, None, line
    elif file is None or file in _NO_PLACE or line == 0:
        file = None if file in _NO_PLACE else file
        line = None
    return Frame(number, name, file, line, library, offset, address, span)


def _hex(digits: str | None) -> int | None:
    return int(digits[:18], 16) if digits else None


def bare_name(symbol: str) -> str:
    """Return a symbol without its arguments: `c10::Error::Error` of `c10::Error::Error(c10::SourceLocation)`."""
    depth = 0
    for at in range(len(symbol) - 1, -1, -1):
        if symbol[at] == ")":
            depth += 1
        elif symbol[at] == "(":
            depth -= 1
            if depth == 0 and not symbol[:at].endswith("operator"):
                return symbol[:at].rstrip() or symbol
    return symbol


def is_announced(text: str) -> bool:
    """Tell whether a line begins or continues a stack."""
    return stack_format(text) is not None or text.startswith("Exception raised from ")
