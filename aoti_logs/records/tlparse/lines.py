"""Envelopes of `raw.jsonl`: a string table, then a record a line.

`write_to_shortraw` in `src/lib.rs` of tlparse 0.4.3 puts the parts of the prefix into the envelope, as
`timestamp` (with a year of its own, and a Z although it is local time), `thread` (the process),
`pathname` (with the blank before it) and `lineno`, and the payload's file as `payload_filename`:

    {"string_table":["/srv/demo/a.py",null]}
    {"artifact":{"encoding":"string","name":"x"},"has_payload":"...","lineno":1,"pathname":" torch/_x.py",
     "payload_filename":"-_-_-_-/x_0.txt","thread":4741,"timestamp":"2026-11-29T12:10:21.164000Z"}
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aoti_logs.records import envelope as _envelope
from aoti_logs.records.tlparse.clock import line_end
from aoti_logs.records.tlparse.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.tlparse.payloads import Payloads
    from aoti_logs.sources.source import Source

LINE = "a line of tlparse's raw.jsonl"
_TIME = re.compile(r"\d{4}-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d\.\d{1,9})Z")
_PROCESS = re.compile(rb'"thread":(\d{1,20}),"timestamp":"')
_FILENAME = re.compile(rb'"filename":(\d{1,10})[,}]')
_ATTEMPT = re.compile(rb'"attempt":[1-9]')
_MOST_DIGITS = 10**20
_ADDED = {"timestamp", "thread", "pathname", "lineno", "payload_filename"}
_VERSION = {"name": "torch_version", "encoding": "json"}


class Lines:
    """The records of a `raw.jsonl`, read once, line by line.

    Args:
        source: the file.
        payloads: the report's payloads.
        own_strings_only: leave out strings that no record uses. tlparse keeps one table for all ranks
            that it reads one after the other, so the later ones hold the strings of the earlier.

    Attributes:
        rows: bytes of no record, as (start, end, what was expected); complete when all is read.
        tables: bytes of the lines that hold string tables.
    """

    def __init__(self, source: Source, payloads: Payloads, *, own_strings_only: bool) -> None:
        self.source = source
        self.rows: list[tuple[int, int, str]] = []
        self.tables: list[tuple[int, int]] = []
        self._payloads = payloads
        self._used = set(map(int, _FILENAME.findall(source.data))) if own_strings_only else None

    @cached_property
    def process(self) -> int | None:
        """Return the process that wrote the trace; None when there were several."""
        found = set(_PROCESS.findall(self.source.data))
        return int(found.pop()) if len(found) == 1 else None

    def restarted(self) -> frozenset[str]:
        """Return the compile ids, without attempts, of which more than one attempt was recorded."""
        data, found, at = self.source.data, set(), 0
        while (attempt := _ATTEMPT.search(data, at)) is not None:
            start, at = data.rfind(b"\n", 0, attempt.start()) + 1, line_end(data, attempt.end())
            value = _value(bytes(data[start:at])) or {}
            found.add((_envelope.compile_id(value) or "").partition("_")[0])
        return frozenset(found)

    def rank(self) -> tuple[int | None, str]:
        """Return the rank that the process had, and the time of the last record before it had one.

        tlparse takes no record without rank after the first with one. `torch_version` never has one.
        """
        data, before, at = self.source.data, "", 0
        while (found := data.find(b'"rank":', at)) >= 0:
            start, end = data.rfind(b"\n", 0, found) + 1, line_end(data, found)
            rank = _envelope.rank(_value(bytes(data[start:end])) or {})
            if rank is not None:
                earlier = bytes(data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start])
                value = _value(earlier) or {}
                if value.get("artifact") != _VERSION:
                    before = _local_time(value.get("timestamp"))
                return rank, before
            at = end
        return None, ""

    def __iter__(self) -> Iterator[Entry]:
        """Yield the records; a string table becomes the records that defined the strings."""
        data = self.source.data
        start, line, size = 0, 0, len(data)
        while start < size:
            end = data.find(b"\n", start) + 1 or size
            line += 1
            value = _value(bytes(data[start:end]))
            if value is not None and isinstance(value.get("string_table"), list) and len(value) == 1:
                self.tables.append((start, end))
                yield from self._strings(value["string_table"], start, end, line)
            elif value is not None and _is_record(value):
                yield self._record(value, start, end, line)
            else:
                self._row(start, end)
            start = end

    def _row(self, start: int, end: int) -> None:
        if self.rows and self.rows[-1][1] == start:
            start = self.rows.pop()[0]
        self.rows.append((start, end, LINE))

    def _strings(self, table: list[Any], start: int, end: int, line: int) -> Iterator[Entry]:
        for number, string in enumerate(table):
            if isinstance(string, str) and (self._used is None or number in self._used):
                yield Entry({"str": [string, number]}, self.source, start, end, line, process=self.process)

    def _record(self, value: dict[str, Any], start: int, end: int, line: int) -> Entry:
        time, process, path, number = (
            value.pop(key, None) for key in ("timestamp", "thread", "pathname", "lineno")
        )
        payload, problem = self._payloads.of(value, value.pop("payload_filename", None))
        return Entry(
            value,
            self.source,
            start,
            end,
            line,
            time=_local_time(time),
            process=process if _is_natural(process) else None,
            emitter=(path.strip(), number) if isinstance(path, str) and _is_natural(number) else None,
            payload=payload,
            problem=problem,
        )


def _value(line: bytes) -> dict[str, Any] | None:
    try:
        value = _envelope.decode_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _local_time(value: object) -> str:
    """Return what torch printed: `MMDD HH:MM:SS.uuuuuu`; empty for what is no time of tlparse's."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1]}{found[2]} {found[3]}" if found else ""


def _is_record(value: dict[str, Any]) -> bool:
    return any(name not in _ADDED for name in _envelope.entry_names(value))


def _is_natural(value: object) -> bool:
    return _envelope.natural(value) is not None and value < _MOST_DIGITS  # type: ignore[operator]
