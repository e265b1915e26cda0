"""Python tracebacks: frames, the exception and its message, tracebacks that lost their first line.

Format: `grammars/traceback.lark`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti_text import read_aoti
from aoti_logs.parse.events import ErrorForm, ErrorText, PythonFrame
from aoti_logs.parse.message import Further, call_of, cuda_error, finish, read_message
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.lines import Line, Log

WORDS = (b"Traceback (most recent call last)", b'  File "', b"Error", b"Exception", b"Interrupt")

HEADER = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "[^"\n]+", line \d+')
_FAULTHANDLER = re.compile(r'\s*File "[^"\n]+", line \d+ in ')
_MARKS = re.compile(r"\s*[\^~]+[\^~ ]*$")
_REPEATED = re.compile(r"\s*\[Previous line repeated \d+ more times?\]$")
_CHAIN = ("The above exception was the direct cause of", "During handling of the above exception,")
_LINE = re.compile(r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?::(?: |$)(?P<message>.*))?$")
_ALONE = re.compile(
    r"(?:[^\n]{0,200}?\b(?:raised|exception|caught): )?"
    r"(?P<error>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Failed|Unsupported)(?::(?: |$).*)?)$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Failed|Unsupported)\b")
_LONGEST = 5000  # frames of one traceback


def python_frame(log: Log, line: Line) -> PythonFrame | None:
    """Read `File "F", line N, in FUNCTION`, also faulthandler's form without the comma."""
    found = fields("traceback", "frame", line.text) if _FRAME.match(line.text) else None
    if found is None:
        return None
    return PythonFrame(
        found["FILE"][0],
        int(found["LINE"][0][:9]),
        first(found, "FUNCTION") or "",
        None,
        log.span(line.start, line.end),
    )


def read_frames(log: Log, line: Line | None) -> tuple[list[PythonFrame], list[Line]]:
    """Read frames with their source lines and marks from this line on."""
    frames: list[PythonFrame] = []
    lines: list[Line] = []
    now = line
    while now is not None and len(frames) < _LONGEST:
        frame = python_frame(log, now)
        if frame is None:
            break
        lines.append(now)
        indent = _indent(now.text)
        code: str | None = None
        now = log.after(now)
        while (
            now is not None and now.text.strip() and _indent(now.text) > indent and not _FRAME.match(now.text)
        ):
            if not _MARKS.match(now.text) and code is None:
                code = now.text.strip()
            lines.append(now)
            now = log.after(now)
        if now is not None and _REPEATED.match(now.text):
            lines.append(now)
            now = log.after(now)
        span = log.span(frame.span.start, lines[-1].end)
        frames.append(PythonFrame(frame.file, frame.line, frame.function, code, span))
    return frames, lines


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def read_traceback(log: Log, line: Line) -> bool:
    """Claim a traceback that begins on this line (its header, or a frame where the header is lost)."""
    text = line.text.strip()
    if any(text.startswith(words) for words in _CHAIN):
        log.claim("traceback", [line])
        return True
    head: list[Line] = []
    start: Line | None = line
    if text == HEADER:
        head = [line]
        start = log.after(line)
    elif not _FRAME.match(line.text) or _FAULTHANDLER.match(line.text):
        return False
    frames, lines = read_frames(log, start)
    lines = head + lines
    if not lines:
        return False
    last = log.after(lines[-1])
    found = _LINE.match(last.text.strip()) if last is not None else None
    if last is None or found is None or (not head and not _NAMED.match(last.text.strip())):
        log.claim("traceback", lines)  # cut before its exception: frames are all there is
        if frames:
            span = log.span(lines[0].start, lines[-1].end)
            log.errors.append(
                ErrorText(ErrorForm.PYTHON, "", span, rank=line.rank, python_frames=tuple(frames))
            )
        return True
    _exception(log, last, last.text.strip(), lines, tuple(frames))
    return True


def read_exception(log: Log, line: Line) -> bool:
    """Claim an exception's line that stands without a traceback."""
    found = _ALONE.match(line.text.strip())
    if found is None or not _NAMED.match(found["error"]):
        return False
    _exception(log, line, found["error"], [], ())
    return True


def _exception(log: Log, line: Line, text: str, lines: list[Line], frames: tuple[PythonFrame, ...]) -> None:
    parsed = fields("traceback", "exception", text)
    kind = first(parsed, "TYPE") if parsed else None
    said = (first(parsed, "MESSAGE") or "") if parsed else text
    # Without frames above, only a text that announces another exception goes on in lines of any form.
    whole = bool(lines) or said.rstrip().endswith(" raised:")
    message = read_message(log, line, said, Further.ANY if whole else Further.INDENTED)
    message.lines[:0] = lines
    finish(log, "traceback" if lines else "error", message)
    call, file, number = call_of(said)
    log.errors.append(
        ErrorText(
            form=ErrorForm.PYTHON,
            message=said,
            span=log.span(message.lines[0].start, message.lines[-1].end),
            exception_type=kind,
            raised_from=message.raised,
            stack=message.stack,
            call=call,
            call_file=file,
            call_line=number,
            text=message.text,
            cuda_error=cuda_error(message.text),
            rank=line.rank,
            python_frames=frames,
            detail=read_aoti(message.text),
        )
    )
