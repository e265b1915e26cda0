"""What CPython's faulthandler writes: the Python frames of every thread, and since 3.14 the C stack of the dying one.

Format: CPython Python/traceback.c (`_Py_DumpTracebackThreads`, `_Py_DumpStack`), Python/pylifecycle.c
(`fatal_error`), Modules/faulthandler.c; frames `grammars/traceback.lark`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.deaths.death import Death, PythonThread
from aoti_logs.parse.deaths.signals import by_words, number_of
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.python.frames import read_frames
from aoti_logs.parse.stacks.stack import read_stack

if TYPE_CHECKING:
    from aoti_logs.parse.events import PythonFrame, Stack
    from aoti_logs.parse.logs.lines import Line, Log


_FATAL = re.compile(r"Fatal Python error: (?P<what>.*)$|Windows fatal exception: (?P<windows>.*)$")
_TIMEOUT = re.compile(r"Timeout \(\d+:\d\d:\d\d(?:\.\d+)?\)!$")
_THREAD = re.compile(
    r"(?:(?P<current>Current thread|Thread) (?P<ident>0x[0-9a-fA-F]+)(?: \[(?P<name>[^\]]*)\])?|Stack) ?\(most recent call first\):$"
)
_C_STACK = re.compile(r"Current thread's C stack trace \(most recent call first\):$")
_FRAME = re.compile(r'File (?:"[^"\n]+"|\?\?\?), line (?:\d+|\?\?\?) in ')
_MARKS = ("Python runtime state:", "...", "<no Python frame>", "<invalid frame>", "Garbage-collecting", "<freed thread state>",
          "<Cannot show all threads", "<tstate is freed>", "<truncated rest of calls>", "<cannot get C stack",
          "<system returned no stack")  # fmt: skip
_MODULES = re.compile(r"Extension modules: (?P<names>.*?)(?: \(total: (?P<total>\d{1,9})\))?$")
_PARTS = 100_000  # lines of one dump
_BLANKS = 3


@dataclass
class _Dump:
    threads: list[PythonThread] = field(default_factory=list)
    frames: list[PythonFrame] = field(default_factory=list)
    ident: str | None = None
    name: str | None = None
    current: bool = False
    truncated: bool = False
    collecting: bool = False
    open: bool = False
    stack: Stack | None = None
    modules: int | None = None

    def end_thread(self) -> None:
        if self.open:
            self.threads.append(
                PythonThread(
                    self.ident, tuple(self.frames), self.current, self.name, self.truncated, self.collecting
                )
            )
        self.frames, self.ident, self.name = [], None, None
        self.current = self.truncated = self.collecting = self.open = False


def read_faulthandler(log: Log, line: Line) -> bool:
    """Claim a dump that begins on this line: its first line, or what is left where that was cut off."""
    text = line.text.strip()
    fatal = _FATAL.match(text)
    timeout = _TIMEOUT.match(text)
    if (
        fatal is None
        and timeout is None
        and not (_THREAD.match(text) or _FRAME.match(text) or _C_STACK.match(text))
    ):
        return False
    dump = _Dump()
    head = [line] if fatal is not None or timeout is not None else []
    lines = _lines(log, line, head, dump)
    if timeout is not None and not dump.threads:
        return False  # another program's words
    if not lines:
        return False
    span = log.claim("signal", lines)
    if dump.stack is not None:
        log.stacks.append(dump.stack)
    what = (fatal["what"] or fatal["windows"]) if fatal is not None else None
    signal = None if what is None else by_words(what)
    current = next((t for t in dump.threads if t.current), None)
    if current is None and len(dump.threads) == 1 and fatal is not None:
        current = dump.threads[0]  # `Stack (most recent call first):` is that of the dying thread
    death = Death(
        printer="faulthandler",
        signal=signal,
        number=number_of(signal),
        words=what,
        thread=current.ident if current else None,
        fatal=what,
        threads=tuple(dump.threads),
        stacks=(dump.stack,) if dump.stack is not None else (),
        n_extension_modules=dump.modules,
    )
    # Without its first line a dump may be one of a program that waits: it tells no failure.
    form = ErrorForm.SIGNAL if what is not None else ErrorForm.WARNING
    log.errors.append(
        ErrorText(
            form,
            what
            or (
                text
                if timeout is not None
                else "Python threads (the first line of the dump is not in this log)"
            ),
            span,
            signal=signal,
            rank=line.rank,
            text=what or text,
            stack=dump.stack,
            python_frames=tuple(reversed(current.frames)) if current is not None else (),
            detail=death,
        )
    )
    return True


def _lines(log: Log, line: Line, head: list[Line], dump: _Dump) -> list[Line]:
    lines = list(head)
    now: Line | None = log.after(line) if head else line
    blanks: list[Line] = []
    for _ in range(_PARTS):
        if now is None:
            break
        if not now.text.strip():
            blanks.append(now)
            if len(blanks) > _BLANKS:
                break
            now = log.after(now)
            continue
        own = _part(log, now, dump)
        if not own:
            break
        lines += [*blanks, *own]
        blanks = []
        now = log.after(lines[-1])
    dump.end_thread()
    return lines


def _part(log: Log, line: Line, dump: _Dump) -> list[Line]:
    """Read a thread's header, frames, or a mark; no lines where it is none of them."""
    text = line.text.strip()
    thread = _THREAD.match(text)
    if thread is not None:
        dump.end_thread()
        dump.open = True
        dump.ident, dump.name = thread["ident"], thread["name"]
        dump.current = thread["current"] == "Current thread"
        return [line]
    if _C_STACK.match(text):
        dump.end_thread()
        below = log.after(line)
        found = read_stack(log, below) if below is not None else None
        if found is None or found[0].format != "faulthandler":
            return [line]
        stack, own, bad = found
        for wrong in bad:
            log.unreadable(wrong.start, wrong.end, "stack frame")
        dump.stack = replace(stack, thread="current")
        return [line, *own]
    modules = _MODULES.match(text)
    if modules is not None:
        total = modules["total"]
        # The line may be cut off: then the names that are left are no count.
        dump.modules = int(total) if total else None
        dump.end_thread()
        return [line]
    if text.startswith(_MARKS):
        dump.truncated = dump.truncated or text == "..."
        dump.collecting = dump.collecting or text.startswith("Garbage-collecting")
        return [line]
    frames, own = read_frames(log, line) if _FRAME.match(text) else ([], [])
    if own:
        dump.open = True
        dump.frames += frames
        return own
    return [line] if text.startswith("File ???,") else []
