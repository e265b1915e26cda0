"""The text that a run printed, read into typed events.

Every byte of the source ends in exactly one `Record` or `Unparsed` row. Assertion lines are read first,
because there may be millions of them and because they stand in the middle of other output; then literals
announce where anything else may begin, and the readers of that line's kind are asked in turn. A new kind
is a module with `WORDS` and a `read_...(log, line) -> bool`, and a line here. A log that something is wrapped around
(a launcher's prefixes, colours) is read as the text that is left of it: a sample of its lines tells, or the first line
that a reader looks at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse import (
    aoti_line,
    autotune,
    collective,
    crash,
    device_exception,
    draft_export,
    error,
    escaped_traceback,
    exception_group,
    failure_line,
    kernel_log,
    limit_line,
    memory_report,
    note,
    printed_program,
    printer,
    pruned_choice,
    python_warning,
    sanitizer,
    stack,
    styled_traceback,
    torch_logs,
    traceback,
)
from aoti_logs.parse.announce import Announcer
from aoti_logs.parse.announce_lines import LineAnnouncer
from aoti_logs.parse.assertion import Tallies
from aoti_logs.parse.cpu_assertion import cpu_assertions
from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.lines import Log
from aoti_logs.parse.log_format import log_format
from aoti_logs.parse.logged_error import logged_errors
from aoti_logs.parse.nesting import inner_first
from aoti_logs.parse.peel import PLAIN
from aoti_logs.parse.printer_launches import borders, numbered
from aoti_logs.parse.senders import Senders
from aoti_logs.parse.storm import read_storm
from aoti_logs.parse.test_session import after_sessions
from aoti_logs.parse.unwrapped import Unwrapper
from aoti_logs.parse.wrapping import wrapping_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.parse.lines import Line
    from aoti_logs.parse.peel import Wrapping
    from aoti_logs.sources.source import Source

_LARGE = 1 << 22  # bytes from which on it pays to import polars for telling the lines that are read
_WORDS = (
    *note.WORDS,
    *torch_logs.WORDS,
    *printer.WORDS,
    *traceback.WORDS,
    *error.WORDS,
    *crash.WORDS,
    *memory_report.WORDS,
    *stack.WORDS,
    *failure_line.WORDS,
    *limit_line.WORDS,
    *draft_export.WORDS,
    *pruned_choice.WORDS,
    *aoti_line.WORDS,
    *autotune.WORDS,
    *printed_program.WORDS,
    *python_warning.WORDS,
    *sanitizer.WORDS,
    *kernel_log.WORDS,
    *collective.WORDS,
    *device_exception.WORDS,
)


def read_log(source: Source) -> LogEvents:
    """Read a log.

    Args:
        source: the text; it may hold any bytes.

    Returns:
        The events in the order in which they stand in the log, and rows that partition its bytes.
    """
    wrapping = wrapping_of(source.data)
    plain = PLAIN
    if log_format(source.data) is not None:  # torch's own loggers write the time before their lines
        plain = replace(PLAIN, stamps=False)
        wrapping = replace(wrapping, stamps=False) if wrapping is not None else None
    if wrapping is None:
        log, tallies = Log(source, plain=plain), Tallies()
        _read(log, tallies)
        wrapping = plain if log.wrapped else None
    if wrapping is not None:
        log, tallies = Log(source, Unwrapper(wrapping).read(source.data)), Tallies()
        _read(log, tallies)
    return _events(log, tallies, wrapping)


def _read(log: Log, tallies: Tallies) -> None:
    """Claim everything; stop at the first line that turns out to be wrapped."""
    read_storm(log, tallies)
    messages = torch_logs.TorchLogs(log)
    readers: tuple[Callable[[Log, Line], bool], ...] = (
        collective.read_collective,
        aoti_line.read_shim,
        messages.read,
        limit_line.read_limit_line,
        note.read_note,
        sanitizer.read_sanitizer,
        kernel_log.read_kernel_log,
        device_exception.read_device_exception,
        printer.read_dump,
        memory_report.read_memory_report,
        pruned_choice.read_pruned,
        escaped_traceback.read_escaped,
        exception_group.read_group,
        styled_traceback.read_styled,
        traceback.read_traceback,
        crash.read_crash,
        error.read_error,
        failure_line.read_compiler,
        traceback.read_exception,
        failure_line.read_failure_line,
        draft_export.read_draft_report,
        aoti_line.read_host,
        autotune.read_autotune,
        _read_stack_alone,
        printed_program.read_printed_program,
        python_warning.read_python_warning,
    )
    words = (*_WORDS, *messages.words)
    large = log.size - log.claims.size >= _LARGE
    announcer = LineAnnouncer(log.data, words) if large else Announcer(log.data, words)
    at = 0
    while not log.wrapped and (at := log.claims.skip(at)) < log.size:
        stop = log.claims.next_start(at, log.size)
        hit = announcer.next(at, stop)
        if hit is None:
            at = stop
            continue
        log.peeled = False
        line = log.line(max(log.data.rfind(b"\n", at, hit) + 1, at))
        taken = any(read(log, line) for read in readers)
        if taken and log.peeled:
            log.wrapped = True
        if not taken or log.claims.skip(line.start) == line.start:
            at = line.end
    messages.finish(log)


def _events(log: Log, tallies: Tallies, wrapping: Wrapping | None) -> LogEvents:
    device, stacks, dumps, messages = tallies.rows(log), log.stacks, log.dumps, log.messages
    log.errors.extend(logged_errors(messages))
    log.errors = after_sessions(log)
    raised = inner_first(log.errors)
    if wrapping is not None:
        senders = Senders(log.source, wrapping)
        device, raised, dumps = senders.told(device), senders.told(raised), senders.told(dumps)
        stacks = [senders.stack(stack) for stack in stacks]
        messages = senders.told(messages)
    assertions, errors = cpu_assertions(raised)
    records, unparsed = log.rows()
    return LogEvents(
        records=records,
        assertions=(*device, *assertions),
        errors=tuple(errors),
        autotunings=tuple(log.autotunings),
        stacks=tuple(sorted(stacks, key=lambda s: s.span.start)),
        dumps=numbered(sorted(dumps, key=lambda d: d.span.start), borders(log.notes)),
        messages=tuple(sorted(messages, key=lambda m: m.span.start)),
        notes=tuple(sorted(log.notes, key=lambda n: n.span.start)),
        unparsed=unparsed,
    )


def _read_stack_alone(log: Log, line: Line) -> bool:
    """Claim a stack without an error above it."""
    found = stack.read_stack(log, line)
    if found is None:
        return False
    read, lines, unread = found
    for bad in unread:
        log.unreadable(bad.start, bad.end, "stack frame")
    log.claim("stack", lines)
    log.stacks.append(read)
    return True
