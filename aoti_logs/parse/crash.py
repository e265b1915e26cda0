"""How a process ended: signals as shells, Python, gdb, glog and UCX tell them.

Formats: bash `jobs.c` and zsh for `Aborted (core dumped)`, CPython's faulthandler
(Python/traceback.c, Python/pylifecycle.c) for `Fatal Python error`, gdb, glog `signalhandler.cc`, UCX `debug.c`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.python_frames import read_frames
from aoti_logs.parse.stack import read_stack

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame
    from aoti_logs.parse.lines import Line, Log

WORDS = (
    b"Aborted", b"Abort trap", b"egmentation fault", b"us error", b"loating point exception", b"llegal instruction",
    b"IOT instruction", b"Killed", b"received signal", b"Fatal Python error", b"*** SIG", b"*** Signal", b"Caught signal",
    b"(most recent call first):",
)  # fmt: skip

_NAMES = {
    "abort": "SIGABRT",
    "iot": "SIGABRT",
    "segm": "SIGSEGV",
    "bus": "SIGBUS",
    "float": "SIGFPE",
    "illeg": "SIGILL",
    "kill": "SIGKILL",
}
_SHELL = re.compile(
    r"(?:\S+: line \d+:\s+)?(?:\[\d+\][+-]?\s+)?(?:\d+\s+)?(?:zsh: )?"
    r"(?P<what>Aborted|Abort trap: 6|Segmentation fault|Bus error|Floating point exception|Illegal instruction|"
    r"IOT instruction|Killed|abort|segmentation fault|killed)"
    r"(?:\s+\(core dumped\)(?:\s.*)?|\s{2,}\S.*|)$"
)
_FATAL = re.compile(r"Fatal Python error: (?P<what>.*)$")
_GDB = re.compile(
    r"(?:Thread [\d.]+ (?:\"[^\"]*\" )?|Program )received signal (?P<signal>\w+), (?P<what>.*)$"
)
_GLOG = re.compile(r"\*\*\* (?:Signal \d+ \()?(?P<signal>SIG[A-Z]+)\b.*")
_UCX = re.compile(r".*\bCaught signal \d+ \((?P<what>[^:)]+).*")
_THREAD = re.compile(r"(?:Current thread|Thread) 0x[0-9a-fA-F]+ .*\(most recent call first\):$")
_FRAME = re.compile(r'File "[^"\n]+", line \d+ in ')
_THREADS = 4096


def _name(what: str) -> str | None:
    low = what.strip().lower()
    return next((signal for begin, signal in _NAMES.items() if low.startswith(begin)), None)


def read_crash(log: Log, line: Line) -> bool:
    """Claim a line that tells a signal, with what follows from the same printer."""
    text = line.text.strip()
    fatal = _FATAL.match(text)
    if fatal is not None:
        return _faulthandler(log, line, fatal["what"], [line])
    if _THREAD.match(text) or _FRAME.match(text):  # the lines above are lost
        return _faulthandler(log, line, "", [])
    found = _SHELL.match(text) or _GDB.match(text) or _GLOG.match(text) or _UCX.match(text)
    if found is None:
        return False
    signal = found.groupdict().get("signal") or _name(found["what"])
    lines = [line]
    stack = None
    if _GDB.match(text):
        below = log.after(line)
        for _ in range(3):  # gdb shows the frame it stopped in, and the line of its source, before `bt`
            if below is None:
                break
            read = read_stack(log, below)
            if read is not None:
                stack, own, unread = read
                lines.extend(own)
                for bad in unread:
                    log.unreadable(bad.start, bad.end, "stack frame")
                log.stacks.append(stack)
                break
            lines.append(below)
            below = log.after(below)
        if stack is None:
            del lines[1:]
    span = log.claim("signal", lines)
    log.errors.append(
        ErrorText(ErrorForm.SIGNAL, text, span, stack=stack, signal=signal, rank=line.rank, text=text)
    )
    return True


def _faulthandler(log: Log, line: Line, what: str, lines: list[Line]) -> bool:
    frames: list[PythonFrame] = []
    lines = list(lines)
    current = False
    now: Line | None = log.after(line) if lines else line
    blanks: list[Line] = []
    for _ in range(_THREADS):
        if now is None:
            break
        text = now.text.strip()
        if not text:
            blanks.append(now)
            now = log.after(now)
            if len(blanks) > 3:
                break
            continue
        if _THREAD.match(text):
            current = text.startswith("Current")
            lines += [*blanks, now]
        elif text.startswith(
            ("Extension modules:", "Python runtime state:", "...", "<no Python frame>", "Garbage-collecting")
        ):
            lines += [*blanks, now]
        else:
            own_frames, own = read_frames(log, now)
            if not own:
                break
            lines += [*blanks, *own]
            if current:
                frames += own_frames
        blanks = []
        now = log.after(lines[-1])
    if not lines:
        return False
    span = log.claim("signal", lines)
    if what:
        log.errors.append(
            ErrorText(
                ErrorForm.SIGNAL,
                what,
                span,
                signal=_name(what),
                rank=line.rank,
                text=what,
                python_frames=tuple(reversed(frames)),
            )
        )
    return True
