"""What belongs to an error below its first line: hints, `Exception raised from`, a C++ stack."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from aoti_logs.parse.errors.device_errors import error_name
from aoti_logs.parse.python.excerpt import excerpt_below
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.stacks.stack import is_announced, raised_from, read_stack

if TYPE_CHECKING:
    from aoti_logs.parse.events import RaisedFrom, Stack
    from aoti_logs.parse.logs.lines import Line, Log

_HINT = re.compile(
    r"\s*(?:Search for `|(?:CUDA|HIP|XPU) kernel errors might be|For debugging consider passing|"
    r"Compile with `TORCH_USE|Device-side assert(?:ion)?s? (?:tracking|were|disabled)|For more detailed error information|"
    r"GPU device may be out of range|Looking for device-side assertion|\d+ CUDA device-side assertion failures|"
    r"But at least \d+ assertion failures|Adjust `C10_CUDA_DSA|Assertion failure \d+$|  (?:GPU assertion failure message|"
    r"File containing (?:assertion|kernel launch)|Device function containing|Thread ID that|Block ID that|"
    r"Function containing kernel|Name of kernel launched|Device that launched|Stream kernel was|Backtrace of kernel|"
    r"CPU launch site info)|"
    r"Error in op: |This error most often comes from|Use torch\.library\.opcheck|See https://|Expect the tensor to be)"
)
# Known further lines of a Python exception's message after a blank line.
_MORE = re.compile(
    r"\s*(?:from user code|Set TORCH|Potential framework code|The following call raised|To fix the error|Caused by|"
    r"User [Ss]tack|For C\+\+ stack trace|You can suppress|The error above|Explanation:|Hint:|Developer debug|consider using|"
    r"For (?:more|extended) |If you suspect the guard|Invoked with: |Suggested fixes|The following fixes|Available models|To load a specific model|The following files|Note that|"
    r"- (?:Not all values of |You marked |The values of )|Command:|Output:|File \"|-- Process \d+ terminated |Repro command: )"
)
_LISTS = ("Failed to find a generated cpp file or so file", "No AOTInductor generate cpp file")
"""Texts of AOTInductor's loader with lists of names below them."""
_OTHER = re.compile(
    r"\s*(?:(?:Original )?Traceback \(most recent call last\)|\"\"\"$|'''$|Exception ignored (?:in|on|while)\b|Exception in thread |Process \S+:$|terminate called|what\(\):|Failed to \w+ .* in AOTInductor model|\[  \w|\[ (?:before|after)_launch|"
    r"inductor: (?:before|after)_launch|Error: |The above exception was|During handling of the above|Script done on|"
    r"\$ |===|---|Aborted|Segmentation fault|\S+: line \d+: +\d+ |\[\d+\][+-]? +\d+ |Fatal Python error|\[[WEIF]\d{3,4} |[VIWEC]\d{4} \d\d:|(?:DEBUG|INFO|WARNING|ERROR):)"
)
_LONGEST = 400  # lines of one message
_LONGEST_COMPILE = 20_000  # with the output of a compiler in it

_CUDA_WORDS = re.compile(r"\b(?:CUDA|HIP|Triton Error|AOTInductor model)\b")


@dataclass
class Message:
    """An error's lines: `texts` are its text without frames, `unread` the frames that were not understood."""

    lines: list[Line]
    texts: list[str]
    raised: RaisedFrom | None = None
    stack: Stack | None = None
    unread: list[Line] = field(default_factory=list)
    outer: list[Stack] = field(default_factory=list)
    """Stacks of the exceptions that the first one became on its way."""

    @property
    def text(self) -> str:
        """The text without frames."""
        return "\n".join(self.texts).rstrip()


class Further(Enum):
    """Which lines below an error's first line belong to its text, beside hints and frames."""

    KNOWN = "known"
    INDENTED = "indented"
    ANY = "any"


def read_message(
    log: Log, line: Line, text: str, further: Further, raised: RaisedFrom | None = None
) -> Message:
    """Read on below an error's first line.

    Args:
        log: the log.
        line: the error's first line.
        text: its message on that line.
        further: which lines may belong to the text (any, for a Python exception or `what()`).
        raised: what the first line says, where it is `Exception raised from` itself.
    """
    further = Further.ANY if text.startswith(_LISTS) else further
    message = Message([line], [text], raised)
    if _take_excerpt(log, message):
        further = Further.ANY  # what is wrong with the source stands below the caret
    blanks: list[Line] = []
    now = log.after(message.lines[-1])
    hinted = text.startswith("input_handles[")
    longest = _LONGEST_COMPILE if "C++ compile error" in text else _LONGEST
    while now is not None and len(message.lines) < longest:
        own: list[Line] = [now]
        body = now.text
        if not body.strip():
            blanks.append(now)
            if len(blanks) > 2:
                break
            now = log.after(now)
            continue
        origin = raised_from(log, now) if message.raised is None else None
        if origin is not None:
            message.raised = origin
        elif _HINT.match(body):
            hinted = True
            message.texts.append(body)
        elif message.raised is not None and is_announced(body):
            found = read_stack(log, now)
            if found is None:
                break
            message.stack, own, message.unread = found
        elif _continues(body, further, after_blank=bool(blanks)):
            message.texts.append(body)
        else:
            break
        message.lines.extend(blanks)
        message.lines.extend(own)
        blanks = []
        if _take_excerpt(log, message):
            further = Further.ANY
        if message.stack is not None:
            _read_outer(log, message)
            break
        now = log.after(message.lines[-1])
    if blanks and message.stack is None and hinted:
        message.lines.append(blanks[0])
    return message


def _take_excerpt(log: Log, message: Message) -> bool:
    """Take the source below the last line of a message, if it announces some."""
    lines = excerpt_below(log, message.lines[-1], message.texts[-1])
    message.lines.extend(lines)
    message.texts.extend(row.text for row in lines)
    return bool(lines)


def _read_outer(log: Log, message: Message) -> None:
    """Take the blank line below a stack, and the stacks of exceptions that this one became: `what()` has them all."""
    while True:
        blank = log.after(message.lines[-1])
        if blank is None or blank.text.strip():
            return
        message.lines.append(blank)
        head = log.after(blank)
        if head is None or raised_from(log, head) is None:
            return
        first = log.after(head)
        found = read_stack(log, first) if first is not None else None
        if found is None:
            return
        stack, own, unread = found
        message.outer.append(stack)
        message.unread += unread
        message.lines += [head, *own]


def _continues(text: str, further: Further, *, after_blank: bool) -> bool:
    if further is Further.KNOWN or begins_other(text) or (after_blank and not _MORE.match(text)):
        return False
    return further is Further.ANY or text[:1].isspace() or _MORE.match(text) is not None


def is_hint(text: str) -> bool:
    """Tell whether a line below an error's first one adds to it in words that torch and Python write for every error."""
    return _HINT.match(text) is not None or _MORE.match(text) is not None


def begins_other(text: str) -> bool:
    """Tell whether a line begins an event of its own, whatever stands above it."""
    return _OTHER.match(text) is not None or is_announced(text)


def finish(log: Log, kind: str, message: Message) -> None:
    """Claim an error's lines, note its stack, and note frames that could not be read."""
    for line in message.unread:
        log.unreadable(line.start, line.end, "stack frame")
    log.claim(kind, message.lines)
    if message.stack is not None:
        log.stacks += [message.stack, *message.outer]


def cuda_error(text: str) -> str | None:
    """Return the name of the CUDA error that a text speaks of, or None."""
    if not _CUDA_WORDS.search(text):
        return None
    return error_name(text)


def call_of(text: str) -> tuple[str | None, str | None, int | None]:
    """Return call, file and line of a `CALL(...) API call failed at FILE, line N` text."""
    found = fields("error", "call", text.strip()) if "API call failed at" in text else None
    if found is None:
        return None, None, None
    return first(found, "CALL"), first(found, "CALL_FILE"), int(found["LINE"][0][:9])
