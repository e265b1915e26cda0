"""Chromium events of `chromium_events.json`: the payloads in the order of the trace, without their envelopes.

tlparse writes a pretty-printed array with sorted keys. Envelopes are made from what the events say of
themselves: `args.compile_id`, and the event `compile_attempt_1`, with which an attempt begins. Older torch has no such
event: there the attempt is known only of compiles that never restarted.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from aoti_logs.records import envelope as _envelope
from aoti_logs.records.tlparse.entry import Entry, Payload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.sources.source import Source

EVENT = "a chromium event"
_ORDER = ("name", "ts", "args", "ph", "cat", "tid", "pid", "s")
_COMPILE_ID = re.compile(r"(?:!(\d{1,9})(?:/|$))?(?:(\d{1,9})/(\d{1,9}))?")
_ATTEMPT = re.compile(r"compile_attempt_(\d{1,9})")
_FIRST = "dynamo"
"""What a compile begins with, in all its attempts together."""
_LATEST = 250_000_000_000_000_000
"""The year 9892, in microseconds since the epoch."""
_BETWEEN = b" \t\r\n,[]"


class Events:
    """The events of one rank, read once.

    Args:
        source: the file.
        process: the process that wrote the trace, where there was only one.
        restarted: compile ids with more than one attempt, as the other records say; None without any.
        only_pid: take the events of this `pid` only, which is the rank in the file of all ranks.

    Attributes:
        rows: bytes of no event, as (start, end, what was expected); complete when all is read.
    """

    def __init__(
        self,
        source: Source,
        *,
        process: int | None = None,
        restarted: frozenset[str] | None = None,
        only_pid: int | None = None,
    ) -> None:
        self.source = source
        self.rows: list[tuple[int, int, str]] = []
        self._process = process
        self._restarted = restarted
        self._only_pid = only_pid
        self._attempts: dict[str, int] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Yield the events as records of a trace."""
        elements = list(self._elements())
        if self._restarted is not None:
            ids = {_compile_id(event) for _, _, event in elements}
            self._attempts.update(dict.fromkeys(ids - self._restarted, 0))
        for _, _, event in elements:
            if _ATTEMPT.fullmatch(event["name"]):
                self._attempts[_compile_id(event)] = 0
        for start, end, event in elements:
            if self._only_pid is None or event.get("pid") == self._only_pid:
                yield self._entry(event, start, end)

    def _elements(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the objects of the array, also of one that is cut or damaged somewhere."""
        raw = bytes(self.source.data)
        # One character a byte, so that positions in the text are positions in the file.
        text = raw.decode("latin-1")
        decoder = json.JSONDecoder()
        at, size = 0, len(raw)
        while at < size:
            if raw[at] in _BETWEEN:
                at += 1
                continue
            try:
                _, end = decoder.raw_decode(text, at)
                event = _envelope.decode_json(raw[at:end])
            except (ValueError, RecursionError):
                event, end = None, raw.find(b"\n  {", at) + 1 or size
            if isinstance(event, dict) and isinstance(event.get("name"), str):
                yield at, end, event
            else:
                self.rows.append((at, end, EVENT))
            at = end

    def _entry(self, event: dict[str, Any], start: int, end: int) -> Entry:
        envelope: dict[str, Any] = {"chromium_event": {}}
        envelope.update(self._ids(event))
        ordered = {key: event[key] for key in _ORDER if key in event} | event
        when = event.get("ts")
        line = self.source.line_at(start)
        return Entry(
            envelope,
            self.source,
            start,
            end,
            line,
            process=self._process,
            payload=Payload(_text(ordered), self.source, line, by_line=False, exact=False),
            microseconds=float(when) if isinstance(when, int | float) and 0 <= when < _LATEST else None,
            begins=event.get("ph") == "B",
        )

    def _ids(self, event: dict[str, Any]) -> dict[str, int]:
        text = _compile_id(event)
        found = _COMPILE_ID.fullmatch(text)
        if found is None or not text:
            return {}
        begun = _ATTEMPT.fullmatch(event["name"])
        if begun and event.get("ph") == "B":
            self._attempts[text] = int(begun[1])
        elif event["name"] == _FIRST and event.get("ph") == "B" and text in self._attempts:
            self._attempts[text] = 0  # of a new compile, when `torch._dynamo.reset()` let ids begin again
        names = ("compiled_autograd_id", "frame_id", "frame_compile_id")
        ids = {name: int(part) for name, part in zip(names, found.groups(), strict=True) if part is not None}
        if text in self._attempts:
            ids["attempt"] = self._attempts[text]
        return ids


def _text(event: dict[str, Any]) -> bytes:
    from orjson import JSONEncodeError, dumps

    try:
        return dumps(event)
    except JSONEncodeError:  # an integer of more than 64 bits
        return json.dumps(event).encode()


def _compile_id(event: dict[str, Any]) -> str:
    args = event.get("args")
    text = args.get("compile_id") if isinstance(args, dict) else None
    return text if isinstance(text, str) else ""
