"""Which chromium events stand before a record: they have no place of their own in `raw.jsonl`.

Events say when they happened in microseconds since the epoch, records in local time without a year (tlparse
adds one, and a Z that is not true). What lies between the two clocks is a number of quarters of an hour.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterable, Iterator

    from aoti_logs.records.tlparse.entry import Entry

_PARTS = re.compile(r"(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})")
_STAMP = re.compile(rb'"timestamp":"\d{4}-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d\.\d{1,9})Z"')
_END = re.compile(rb'"end_time_us":(\d{15,17})[,}]')
_YEAR = 365.2425 * 86_400_000
_QUARTER = 900_000
_HALF_A_DAY = 14 * 3_600_000
_PROMPT = 60_000


def milliseconds(time: str, near: float) -> int | None:
    """Return a local time (`MMDD HH:MM:SS.uuuuuu`) in milliseconds, in the year that brings it close to `near`."""
    found = _PARTS.fullmatch(time)
    if found is None:
        return None
    month, day, hour, minute, second = (int(found[n]) for n in range(1, 6))
    milli = int(found[6][:3].ljust(3, "0"))
    year = 1970 + int(near / _YEAR)
    best: int | None = None
    for candidate in (year - 1, year, year + 1):
        begin = _day(candidate, month, day)
        if begin is None or hour > 23 or minute > 59 or second > 60:
            continue
        value = (begin + hour * 3600 + minute * 60 + second) * 1000 + milli
        if best is None or abs(value - near) < abs(best - near):
            best = value
    return best


@lru_cache(maxsize=64)
def _day(year: int, month: int, day: int) -> int | None:
    try:
        return int(datetime(year, month, day, tzinfo=UTC).timestamp())
    except ValueError:
        return None


def offset(data: bytes | mmap.mmap, first: float, last: float) -> int | None:
    """Return local time minus UTC in milliseconds; None where nothing says it.

    `compilation_metrics` says when it was written by both clocks. Without one, the first and the last
    record have to be as far from the first and the last event as each other.

    Args:
        data: `raw.jsonl`.
        first: time of the first event, in milliseconds since the epoch.
        last: time of the last one.
    """
    told = set()
    at = 0
    while (end := _END.search(data, at)) is not None:
        at = line_end(data, end.end())
        stamp = _STAMP.search(data, end.end(), at)
        local = milliseconds(_time(stamp), first) if stamp else None
        if local is not None:
            told.add(_quarters(local - int(end[1]) / 1000, _PROMPT))
    if told:
        return told.pop() if len(told) == 1 else None
    stamps = [_STAMP.search(data), _STAMP.search(data, data.rfind(b'"timestamp":"') if len(data) else 0)]
    guesses = set()
    for stamp, event in zip(stamps, (first, last), strict=True):
        local = milliseconds(_time(stamp), event) if stamp else None
        guesses.add(_quarters(local - event, _QUARTER) if local is not None else None)
    return guesses.pop() if len(guesses) == 1 else None


def line_end(data: bytes | mmap.mmap, at: int) -> int:
    """Return where the line ends that holds an offset."""
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _time(stamp: re.Match[bytes]) -> str:
    return f"{stamp[1].decode()}{stamp[2].decode()} {stamp[3].decode()}"


def _quarters(difference: float, tolerance: int) -> int | None:
    """Return the nearest difference that two clocks can have, None when it is too far away."""
    value = round(difference / _QUARTER) * _QUARTER
    return value if abs(value) <= _HALF_A_DAY and abs(difference - value) <= tolerance else None


def give_ranks(events: list[Entry], rank: int | None, before: str, apart: int | None) -> None:
    """Put the rank into the envelopes of events: they have that of the other records.

    Args:
        events: of one report.
        rank: what the records give.
        before: time of the last record that was written before the process had a rank; empty without one.
        apart: local time minus UTC in milliseconds.
    """
    for event in events:
        if rank is None or event.microseconds is None:
            continue
        until = milliseconds(before, event.microseconds / 1000) if before and apart is not None else None
        if until is None or event.microseconds // 1000 + (apart or 0) > until:
            event.envelope["rank"] = rank


def merged(records: Iterable[Entry], events: list[Entry], apart: int | None) -> Iterator[Entry]:
    """Yield records and events in one order, each kind in its own.

    Records have milliseconds. Of those that are the same, begins of events go first and ends last, so that
    what happened in between is in between. Events whose time is not known go behind all records.

    Args:
        records: in their order.
        events: in their order.
        apart: local time minus UTC in milliseconds.
    """
    at = 0
    near = next((e.microseconds for e in events if e.microseconds is not None), 0.0) / 1000
    for record in records:
        when = milliseconds(record.time, near) if apart is not None and record.time else None
        while when is not None and at < len(events) and _before(events[at], when, apart or 0):
            yield events[at]
            at += 1
        yield record
    yield from events[at:]


def _before(event: Entry, record: int, apart: int) -> bool:
    if event.microseconds is None:
        return True
    milli = int(event.microseconds // 1000) + apart
    return milli < record or (milli == record and event.begins)
