"""The text that a run printed, read into typed events.

Every byte of the source ends in exactly one `Record` or `Unparsed` row. Assertion lines are read first, because there
may be millions of them and because they stand in the middle of other output; then literals announce where anything
else may begin, and who may read such a line is asked in turn (`parse/logs/readers.py`). A log that something is wrapped
around (a launcher's prefixes, colours) is read as the text that is left of it: a sample of its lines tells, or the
first line that a reader looks at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.parse.asserts.assertion import Tallies
from aoti_logs.parse.asserts.cpu_assertion import cpu_assertions
from aoti_logs.parse.asserts.storm import read_storm
from aoti_logs.parse.errors.logged_error import logged_errors
from aoti_logs.parse.errors.nesting import inner_first
from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.logs.announce import Announcer
from aoti_logs.parse.logs.announce_lines import LineAnnouncer
from aoti_logs.parse.logs.lead_in import behind_lead_in
from aoti_logs.parse.logs.lines import Log
from aoti_logs.parse.logs.log_format import log_format
from aoti_logs.parse.logs.peel import PLAIN, peel
from aoti_logs.parse.logs.readers import WORDS as READ_WORDS
from aoti_logs.parse.logs.readers import Readers
from aoti_logs.parse.logs.senders import Senders
from aoti_logs.parse.logs.test_session import after_sessions
from aoti_logs.parse.logs.torch_logs import WORDS as LOGGED_WORDS
from aoti_logs.parse.logs.torch_logs import TorchLogs
from aoti_logs.parse.logs.unwrapped import Unwrapper
from aoti_logs.parse.logs.wrapping import wrapping_of
from aoti_logs.parse.printer.launches import borders, numbered

if TYPE_CHECKING:
    from aoti_logs.parse.logs.lines import Line
    from aoti_logs.parse.logs.peel import Wrapping
    from aoti_logs.sources.source import Source

_LARGE = 1 << 22  # bytes from which on it pays to import polars for telling the lines that are read


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
    messages = TorchLogs(log)
    readers = Readers(messages.read, any_format=messages.any_format)
    words = (*READ_WORDS, *LOGGED_WORDS, *messages.words)
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
        line = _announced(log, max(log.data.rfind(b"\n", at, hit) + 1, at))
        taken = readers.read(log, line)
        if taken and log.peeled:
            log.wrapped = True
        if not taken or log.claims.skip(line.start) == line.start:
            at = line.end
    messages.finish(log)


def _announced(log: Log, start: int) -> Line:
    """Return the line that begins at an offset, without a progress bar or a quote mark before it."""
    line = log.line(start)
    begin = behind_lead_in(log.data, start, line.end)
    if begin == start:
        return line
    log.claims.add(start, begin, "lead_in")
    line = log.line(begin)
    if log.unwrapped is None:
        return line
    bare = peel(line.text.encode())  # a launcher may have put its prefix behind the bar
    rank = line.rank if line.rank is not None else bare.sender.rank
    return replace(line, text=bare.text.decode("utf-8", "replace"), rank=rank)


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
