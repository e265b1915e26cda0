"""Errors that programs print outside of a Python traceback.

Formats: `grammars/error.lark`; `Error: TEXT` is printed by torch/csrc/inductor/aoti_runtime/interface.cpp
(CONVERT_EXCEPTION_TO_ERROR_CODE), `[W1129 12:00:00.000000000 Module.cpp:206] TEXT` by c10/util/Logging.cpp,
`Failed to ... in AOTInductor model` by torch/csrc/inductor/aoti_runtime/model_base.h.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.text import read_aoti
from aoti_logs.parse.deaths.terminate import terminations
from aoti_logs.parse.errors.message import Further, Message, call_of, cuda_error, finish, read_message
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.logs.figure import is_figure
from aoti_logs.parse.stacks.stack import raised_from

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line, Log


_DEVICE = re.compile(
    r"(?:(?:CUDA|HIP) (?:driver )?error(?=\W*$|:(?! no error)|,| ?\(| (?:code )?\d| (?:at|in|on|occurred|encountered)\b)|"
    r"[A-Z]{3,8} (?:backend )?out of memory(?=[.,;!]|\W*$|:(?! \d+$)| \(| (?:at|in|on|while|when|during|error|occurred)\b)|"
    r"Triton Error \[\w+\]|"
    r"L0 runtime error\b|Failed to \w+ .{1,60} in AOTInductor model\b|Memory access fault by GPU\b|Native API failed\b|"
    r":\d:rocdevice\.cpp .*HSA_STATUS_ERROR\w*|Allocation on device \d+ would exceed\b).*"
)
_GLOG = re.compile(
    r"\[(?P<level>[VIWEFC])\d{3,4} \d\d:\d\d:\d\d\.\d+ (?P<file>\S+):(?P<line>\d+)\] (?P<text>.*)"
)
_INDEX = re.compile(r"index out of bounds: .*[<>=]")
"""A bounds check that a compiler wrote is a comparison; the same words are also printed in sentences."""
_INPUT = re.compile(r"(?:input_handles\[\d+\]: |expected (?:inputs|outputs) vector size to be )")
_GROUP_RANK = re.compile(r"\[(?:PG [^\]]{1,80} )?Rank (\d{1,7})\]")
_IN_WORDS = re.compile(
    r"^[^\"'`(]*\b(?:exception|error|raised|failed|caught)\b[^\"'`(]{0,80}: (?=index out of bounds: )", re.I
)


def read_error(log: Log, line: Line) -> bool:
    """Claim an error that begins on this line."""
    text = line.text.strip()
    if text.startswith("Error: ") and not is_figure(text.removeprefix("Error: ")):
        return _error(log, ErrorForm.AOTI_ERROR, line, text.removeprefix("Error: "), Further.KNOWN)
    if text.startswith(("terminate called", "libc++abi")):
        return _terminated(log, line)
    if text.startswith("what():"):
        return _error(log, ErrorForm.TERMINATE, line, text.removeprefix("what():").strip(), Further.ANY)
    if text.startswith("["):
        return _bracketed(log, line, text)
    if _DEVICE.match(text):
        return _error(log, ErrorForm.CUDA, line, text, Further.KNOWN)
    if _INPUT.match(text):
        return _error(log, ErrorForm.AOTI_ERROR, line, text, Further.KNOWN)
    if "API call failed at" in text and call_of(text)[0] is not None:
        return _error(log, ErrorForm.SHIM, line, text, Further.KNOWN)
    words = _IN_WORDS.match(text)
    if words is not None:
        return _error(log, ErrorForm.CPP, line, text[words.end() :], Further.KNOWN)
    if _INDEX.match(text):
        return _error(log, ErrorForm.CPP, line, text, Further.KNOWN)
    return _raised_alone(log, line)


def _error(
    log: Log, form: ErrorForm, line: Line, said: str, further: Further, kind: str | None = None
) -> bool:
    _add(log, form, read_message(log, line, said, further), said, kind)
    return True


def _add(log: Log, form: ErrorForm, message: Message, said: str, kind: str | None) -> None:
    finish(log, "error", message)
    call, file, number = call_of(said)
    log.errors.append(
        ErrorText(
            form=form,
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
            rank=_rank(message, said),
            detail=read_aoti(message.text),
        )
    )


def _rank(message: Message, said: str) -> int | None:
    """Return the rank of the line's prefix, or the one that a process group names."""
    named = _GROUP_RANK.search(said)
    prefix = message.lines[0].rank
    return int(named[1]) if prefix is None and named is not None else prefix


def _terminated(log: Log, line: Line) -> bool:
    found = terminations(log, line)
    for message, said, kind in found:
        _add(log, ErrorForm.TERMINATE, message, said, kind)
    return bool(found)


def _bracketed(log: Log, line: Line, text: str) -> bool:
    if text.startswith("[WARNING]"):
        return _error(log, ErrorForm.WARNING, line, text.removeprefix("[WARNING]").strip(), Further.KNOWN)
    found = _GLOG.match(text)
    if found is None:
        return False
    said = found["text"].removeprefix("Exception in aoti_torch: ")
    form = ErrorForm.SHIM if found["level"] in "EFC" else ErrorForm.WARNING
    message = read_message(log, _as_below(log, line), said, Further.KNOWN)
    message.lines[0] = line
    _add(log, form, message, said, None)
    return True


def _as_below(log: Log, line: Line) -> Line:
    """Return the line as one of the stream below it: c10 puts the rank before a message's first line only."""
    if line.rank is None or line.end >= log.size or log.claims.skip(line.end) != line.end:
        return line
    below = log.line(line.end)
    return replace(line, rank=None) if below.rank is None and below.text.strip() else line


def _raised_alone(log: Log, line: Line) -> bool:
    """Read `Exception raised from` under a message in words that no other form has."""
    if raised_from(log, line) is None:
        return False
    above = log.before(line)
    if above is None or not above.text.strip() or above.rank != line.rank:
        _add(
            log,
            ErrorForm.CPP,
            read_message(log, line, "", Further.KNOWN, raised=raised_from(log, line)),
            "",
            None,
        )
        return True
    said = above.text.strip()
    at = said.find("index out of bounds: ")
    said = said[at:] if at >= 0 else said
    return _error(log, ErrorForm.CPP, above, said, Further.KNOWN)
