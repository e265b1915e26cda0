"""What gdb and lldb show: why a process stopped, where, and the stacks of its threads.

Formats: `grammars/death.lark` (the stop), `grammars/frame.lark` and `grammars/native_frame.lark` (frames);
gdb/infrun.c, gdb/thread.c and gdb/stack.c print them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.deaths.signals import by_words, number_of
from aoti_logs.parse.events import ErrorForm, ErrorText
from aoti_logs.parse.shape import fields, first
from aoti_logs.parse.stacks.stack import read_stack
from aoti_logs.parse.stacks.stack_form import bare, form_of

if TYPE_CHECKING:
    from aoti_logs.parse.events import Stack
    from aoti_logs.parse.logs.lines import Line, Log


_GDB_STOP = re.compile(
    r"(?:Thread [\d.]+ (?:\"[^\"]*\" )?received signal|Program (?:received|terminated with) signal) \w+, "
)
_LLDB_STOP = re.compile(r"(?:\* )?thread #\d+.*, stop reason = ")
_GDB_THREAD = re.compile(
    r"Thread (?P<number>\d[\d.]*) \((?P<what>Thread 0x[0-9a-f]+(?: \(LWP \d+\))?|LWP \d+|process \d+).*\)?:?$"
)
_LLDB_THREAD = re.compile(r"(?:\* )?thread #(?P<number>\d+)\b")
_UNNUMBERED = re.compile(r"(?:0x[0-9a-f]+ in )?\S.* \(.*\)(?: (?:at|from) \S+)?$|0x[0-9a-f]+ in ")
_SOURCE = re.compile(r"\d+\t|\d+\s+in \S+$|warning: ")
_ASKED = {
    "SIGINT", "SIGSTOP", "SIGTSTP", "SIGCONT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPROF", "SIGVTALRM", "SIGCHLD", "SIGWINCH",
}  # fmt: skip
"""Signals by which a person or the program itself stops in a debugger: nothing died of them."""
_LOOK = 4  # lines between a stop and its stack


def read_debugger(log: Log, line: Line) -> bool:
    """Claim the stop of a process, or a thread's stack, that begins on this line."""
    text = bare(line.text.strip())
    if _GDB_STOP.match(text):
        return _stop(log, line, text, "gdb")
    if _LLDB_STOP.match(text):
        return _stop(log, line, text, "lldb")
    return _thread(log, line, text)


def _stop(log: Log, line: Line, text: str, printer: str) -> bool:
    found = fields("death", printer, text)
    if found is None:
        return False
    name = first(found, "NAME")
    words = first(found, "WHAT") or first(found, "STOP_REASON") or first(found, "STOP_WORDS") or ""
    if name is None and by_words(words) is None:
        return False  # a breakpoint, a step
    signal = name if name is not None else by_words(words)
    lines, stacks = _below(log, line)
    thread = first(found, "THREAD")
    if signal in _ASKED:
        log.claim("signal", [line, *lines])
        log.stacks += [replace(s, thread=thread) for s in stacks]
        return True
    stacks = [replace(s, thread=thread, signal=signal) for s in stacks]
    address = first(found, "ADDRESS") or _of(r"address=(0x[0-9a-fA-F]+)", words)
    death = Death(
        printer=printer,
        signal=signal,
        number=number_of(signal),
        words=words.rstrip("."),
        thread=thread,
        address=address,
        reason=words if printer == "lldb" else None,
        stacks=tuple(stacks),
    )
    _add(log, [line, *lines], line, text, death)
    return True


def _of(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found[1] if found else None


def _below(log: Log, line: Line) -> tuple[list[Line], list[Stack]]:
    """Read the place where the process stopped, the line of its source, and the stack below it."""
    lines: list[Line] = []
    now = log.after(line)
    for _ in range(_LOOK + 1):
        if now is None:
            break
        text = bare(now.text.strip())
        form = form_of(now.text)
        if form is not None and form.name in {"gdb", "lldb"}:
            read = read_stack(log, now)
            if read is None:
                break
            stack, own, bad = read
            for wrong in bad:
                log.unreadable(wrong.start, wrong.end, "stack frame")
            return [*lines, *own], [stack]
        if not (
            _UNNUMBERED.match(text)
            or _SOURCE.match(text)
            or text in {"(gdb)", "bt"}
            or text.startswith("(gdb) bt")
        ):
            break
        lines.append(now)
        now = log.after(now)
    return [], []


def _add(log: Log, lines: list[Line], line: Line, text: str, death: Death) -> None:
    span = log.claim("signal", lines)
    log.stacks += death.stacks
    log.errors.append(
        ErrorText(
            ErrorForm.SIGNAL,
            text,
            span,
            stack=death.stacks[0] if death.stacks else None,
            signal=death.signal,
            rank=line.rank,
            text=text,
            detail=death,
        )
    )


def _thread(log: Log, line: Line, text: str) -> bool:
    """Claim a thread's header with the stack under it (`thread apply all bt`)."""
    header = _GDB_THREAD.match(text) or _LLDB_THREAD.match(text)
    below = log.after(line) if header is not None else None
    if header is None or below is None:
        return False
    form = form_of(below.text)
    read = read_stack(log, below) if form is not None and form.name in {"gdb", "lldb"} else None
    if read is None:
        return False
    stack, own, bad = read
    for wrong in bad:
        log.unreadable(wrong.start, wrong.end, "stack frame")
    span = log.claim("stack", [line, *own])
    log.stacks.append(replace(stack, thread=header["number"], span=span))
    return True
