"""Errors of AOTInductor that stand on a line of their own: what a shim logs, and what a host program prints.

Formats: torch/csrc/inductor/aoti_torch/utils.h until 2.11, `LOG(ERROR) << "Exception in aoti_torch: " << e.what()`,
with the prefix of c10 (`[E520 19:20:12.156885067 shim_common.cpp:311] `) or of glog (`E0520 19:20:12.156885 1234
shim_common.cpp:311] `); texts of `grammars/aoti_text.lark`, alone or behind a host's own words (`load failed: `).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.aoti.facts import DlopenError, PackageError, RuntimeFault, ShimException
from aoti_logs.parse.aoti.text import read_aoti
from aoti_logs.parse.errors.message import Further, call_of, cuda_error, finish, read_message
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.shape import fields, first

if TYPE_CHECKING:
    from aoti_logs.parse.errors.message import Message
    from aoti_logs.parse.logs.lines import Line, Log

_SAID = "Exception in aoti_torch: "
_HOST = re.compile(
    r"(?:[^\"'`(]{0,200}: )?(?P<text>(?:Error in dlopen|Failed to initialize zip archive|Failed to find a generated cpp file|No "
    r"files found in zip archive|Unknown exception occurred).*)"
)
_ALIGNED = re.compile(r"(?:.{0,400}: )?(?P<text>\"?Input \d+ was compiled as \d+-bytes aligned, but.*)")
_BARE = re.compile(
    r"(?:\S[^:\"'`(]{0,200}: symbol lookup error: )?[^:\s\"'`(][^:\"'`(]{0,4000}\.(?:so|dylib)[.\d]{0,20}: undefined symbol: \S+"
)


def read_shim(log: Log, line: Line) -> bool:
    """Claim what a C shim logged when its operator raised."""
    at = line.text.find(_SAID)
    if at < 0:
        return False
    head = fields("aoti_line", "start", line.text[:at].strip())
    if head is None:
        return False
    said = line.text[at + len(_SAID) :].strip()
    message = read_message(log, line, said, Further.KNOWN)
    date = head["DATE"][0]
    detail = ShimException(
        level=head["LEVEL"][0],
        month=int(date[:-2]),
        day=int(date[-2:]),
        time=head["TIME"][0],
        file=head["FILE"][0],
        line=int(head["LINE"][0][:9]),
        process=int(first(head, "PROCESS") or "0") or None,
        cause=read_aoti(message.text),
    )
    _add(log, ErrorForm.SHIM, message, said, detail)
    return True


def read_host(log: Log, line: Line) -> bool:
    """Claim a loader's text that a program printed in its own words, or glibc alone."""
    text = line.text.strip()
    aligned = _ALIGNED.match(text)
    if aligned is not None:
        message = read_message(log, line, aligned["text"], Further.KNOWN)
        _add(log, ErrorForm.WARNING, message, aligned["text"], read_aoti(aligned["text"]))
        return True
    found = _HOST.match(text)
    said = found["text"] if found is not None else text if _BARE.match(text) else None
    if said is None:
        return False
    detail = read_aoti(said)
    if not isinstance(detail, DlopenError | PackageError | RuntimeFault):
        return False
    message = read_message(log, line, said, Further.KNOWN)
    _add(log, ErrorForm.CPP, message, said, read_aoti(message.text) or detail)
    return True


def _add(log: Log, form: ErrorForm, message: Message, said: str, detail: object) -> None:
    finish(log, "error", message)
    call, file, number = call_of(said)
    log.errors.append(
        ErrorText(
            form=form,
            message=said,
            span=log.span(message.lines[0].start, message.lines[-1].end),
            raised_from=message.raised,
            stack=message.stack,
            call=call,
            call_file=file,
            call_line=number,
            text=message.text,
            cuda_error=cuda_error(message.text),
            rank=message.lines[0].rank,
            detail=detail,
        )
    )
