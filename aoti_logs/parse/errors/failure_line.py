"""Failures of a compile that stand in a log without a traceback: what a script printed of a caught exception,
and what a C++ compiler wrote itself.

`print(type(e).__name__, e)` gives `UserError Constraints violated (b)! ...`. Torch before 2.7 lets AOTInductor's
compiler write to stderr, above the traceback.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.compiler_error import diagnostic, is_serious
from aoti_logs.parse.compiles.constraint import read_violations
from aoti_logs.parse.compiles.failure import FailureKind
from aoti_logs.parse.errors.message import Further, finish, read_message
from aoti_logs.parse.events import ErrorForm, ErrorText

if TYPE_CHECKING:
    from aoti_logs.parse.compiles.failure import Diagnostic
    from aoti_logs.parse.logs.lines import Line, Log

_NAMED = re.compile(r"(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w+) (?P<said>\S.*)$")
_TOLD = re.compile(
    r"\b(?P<type>[A-Z]\w{0,80}(?:Error|Exception|Missing|Compiler)): (?P<said>(?:Compiler: \S{1,500} is not found\.|"
    r"Cannot find a working triton installation|Failed to find C compiler|"
    r"Found .{1,200} which is too old to be supported by the triton).*)$"
)
"""Texts that say by themselves what failed, behind the words of a program that caught the exception."""
_LEAD = re.compile(r"(?![#*+>|-])(?!.*\b(?:WARN|[Ff]all(?:s|ing) back))[^\"`]*(?:: |\] )$")
"""What a program writes before such a text; comments, lists of changes, names of tests and quoted code go otherwise. Who
warns, or falls back, goes on."""
_PTXAS = re.compile(r"ptxas(?:-\w+)? (?:fatal|error) {0,4}: (?!.*'_Z)\S")
"""A kernel with a C++ name is one that nvcc compiles."""
_CODE = re.compile(r"\.(?:cpp|cc|cxx|c|cu|cuh|hip|hpp|h|S)$", re.I)
_TOOLS = re.compile(
    r"<[\w-]+>$|(?:cc1plus|cc1|collect2|clang|clang\+\+|g\+\+|gcc|nvcc|ptxas|c\+\+|icpx|hipcc|[\w.-]{0,40}ld)$"
)
_ECHO = re.compile(r"\s*(?:\d+ )?\|")
_ABOUT = re.compile(
    r"\s*(?:In file included from |from \S+:\d+|compilation terminated\.|\S+: In (?:\S+ )?(?:function|member|instantiation|lambda))"
)
_LONGEST = 2000  # lines of one compiler's output


def read_failure_line(log: Log, line: Line) -> bool:
    """Claim an exception that was printed with a blank behind its class, where its text is one of torch's."""
    text = line.text.strip()[:65536]
    if text.startswith("- ") and read_violations(text) is not None:
        return _add(log, line, text, None, ErrorForm.PYTHON)
    told = _TOLD.search(text[:4096])
    if (
        told is not None
        and _is_told(text, told)
        and read_failure(told["type"], told["said"]).kind is not FailureKind.OTHER
    ):
        return _add(log, line, told["said"], told["type"], ErrorForm.PYTHON)
    if _PTXAS.match(text):
        return _add(log, line, text, None, ErrorForm.PYTHON)
    found = _NAMED.match(text)
    if found is None:
        return False
    first = read_failure(found["type"], found["said"])
    if first.kind is FailureKind.OTHER or (
        first.detail is None and first.operator is None and not first.inner
    ):
        return False
    return _add(log, line, found["said"], found["type"], ErrorForm.PYTHON)


def _is_told(text: str, told: re.Match[str]) -> bool:
    lead = text[: told.start()]
    return not lead or (_LEAD.match(lead[-500:]) is not None and not text.endswith(('"', "'", "`", ")")))


def _add(log: Log, line: Line, said: str, kind: str | None, form: ErrorForm) -> bool:
    message = read_message(log, line, said, Further.INDENTED)
    finish(log, "error", message)
    log.errors.append(
        ErrorText(
            form=form,
            message=said,
            span=log.span(message.lines[0].start, message.lines[-1].end),
            exception_type=kind,
            text=message.text,
            rank=line.rank,
        )
    )
    return True


def read_compiler(log: Log, line: Line) -> bool:
    """Claim the output of a C++ compiler from its first error on."""
    first = _error(line.text)
    if first is None:
        return False
    lines, texts = [line], [line.text]
    now = log.after(line)
    while now is not None and len(lines) < _LONGEST and _belongs(now.text):
        lines.append(now)
        texts.append(now.text)
        now = log.after(now)
    log.claim("compiler", lines)
    log.errors.append(
        ErrorText(
            form=ErrorForm.COMPILER,
            message=line.text.strip(),
            span=log.span(lines[0].start, lines[-1].end),
            text="\n".join(texts),
            rank=line.rank,
        )
    )
    return True


def _error(text: str) -> Diagnostic | None:
    """Return the error of a line when it is about C, C++ or CUDA, or a compiler's own program speaks."""
    found = diagnostic(text)
    if found is None or not is_serious(found):
        return None
    if found.file is not None:
        return found if found.line is not None and _CODE.search(found.file) else None
    return found if found.program is not None and _TOOLS.match(found.program.rpartition("/")[2]) else None


def _belongs(text: str) -> bool:
    return bool(_ECHO.match(text) or _ABOUT.match(text)) or diagnostic(text) is not None
