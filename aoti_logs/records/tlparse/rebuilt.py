"""A trace written again from the records of a report, and where each of its lines stands in the report."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.records import envelope as _envelope
from aoti_logs.records.scan import Columns
from aoti_logs.records.tlparse.entry import EMPTY_MD5
from aoti_logs.sources.source import Kind, Place, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.records.scan import Key
    from aoti_logs.records.tlparse.entry import Entry

_NO_TIME = "0101 00:00:00.000000"
# As torch orders them; the entry's name comes first.
_CONTEXT = (
    "rank",
    "stack",
    "compiled_autograd_id",
    "frame_id",
    "frame_compile_id",
    "attempt",
    "subgraph_name",
)


class Known(NamedTuple):
    """What is known about a record beside its text: whether its time is, whether the payload is as torch wrote it,
    and what is wrong with it in words.
    """

    time: bool
    exact: bool
    problem: str | None


class Rebuilt:
    """Records in the form of a TORCH_TRACE file, with the index of it.

    Attributes:
        columns: offsets of every record.
        origins: of every record, the file of the report, the bytes in it and the first of their lines.
        known: of every record, what is known about it.
    """

    def __init__(self) -> None:
        self.columns = Columns()
        self.sources: list[Source] = []
        self.origins: list[tuple[int, int, int, int]] = []
        self.known: list[Known] = []
        self._parts: list[bytes] = []
        self._size = 0
        self._lines = 1
        self._numbers: dict[int, int] = {}
        self._keys: dict[Key, int] = {}
        # Runs of lines: the first of them here, the file of the report, the line there, one by one or all at one.
        self._first = array("Q")
        self._source = array("L")
        self._line = array("Q")
        self._step = array("B")

    def data(self) -> bytes:
        """Return the trace, once: the parts are given away."""
        parts, self._parts = self._parts, []
        return b"".join(parts)

    def add(self, entry: Entry) -> bool:
        """Write a record; False when its envelope cannot be written."""
        try:
            envelope = json.dumps(_as_written(entry.envelope)).encode()
        except (ValueError, RecursionError):
            return False
        name = _envelope.entry_names(entry.envelope)[0]
        path, number = entry.emitter or ("", 0)
        prefix = f"V{entry.time or _NO_TIME} {entry.process or 0} {_one_line(path)}:{number}] ".encode(
            "utf-8", "replace"
        )
        columns, start = self.columns, self._size
        env = start + len(prefix)
        head_end = env + len(envelope)
        self._run(entry.source, entry.line, by_line=False)
        self._write(prefix + envelope + b"\n", 1)
        payload = entry.payload
        if payload is not None or entry.envelope.get("has_payload") == EMPTY_MD5:
            text = payload.text if payload is not None else b""
            if payload is not None:
                self._run(payload.source, payload.line, by_line=payload.by_line)
            self._write(b"\t" + text.replace(b"\n", b"\n\t") + b"\n", text.count(b"\n") + 1)
        key = self._key(name, entry.envelope[name])
        columns.by_key[key].append(len(columns.start))
        columns.start.append(start)
        columns.env.append(env)
        columns.head_end.append(head_end)
        columns.end.append(self._size)
        columns.key.append(key)
        self.origins.append((self._number(entry.source), entry.start, entry.end, entry.line))
        exact = payload is None or payload.exact
        self.known.append(Known(bool(entry.time), exact, entry.problem))
        return True

    def place(self, line: int, end_line: int) -> Place:
        """Return where a line of the trace stands in the report."""
        if not self._first:
            return Place("", line, end_line)
        source, first, _ = self.at(line)
        other, last, _ = self.at(end_line)
        return source.place(first, max(first, last) if other is source else first)

    def at(self, line: int) -> tuple[Source, int, bool]:
        """Return file and line of the report where a line of the trace stands, and whether the next one is below it."""
        run = max(bisect_right(self._first, line) - 1, 0)
        step = self._step[run]
        return self.sources[self._source[run]], self._line[run] + (line - self._first[run]) * step, step == 1

    def _run(self, source: Source, line: int, *, by_line: bool) -> None:
        self._first.append(self._lines)
        self._source.append(self._number(source))
        self._line.append(line)
        self._step.append(int(by_line))

    def _write(self, part: bytes, lines: int) -> None:
        self._parts.append(part)
        self._size += len(part)
        self._lines += lines

    def _number(self, source: Source) -> int:
        number = self._numbers.setdefault(id(source), len(self._numbers))
        if number == len(self.sources):
            self.sources.append(source)
        return number

    def _key(self, name: str, metadata: Any) -> int:
        own = metadata.get("name") if name in _envelope.NAMED and isinstance(metadata, dict) else None
        key = (name, own if isinstance(own, str) else None)
        number = self._keys.setdefault(key, len(self._keys))
        if number == len(self.columns.keys):
            self.columns.keys.append(key)
            self.columns.by_key.append(array("I"))
        return number


def _as_written(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope with its keys in torch's order."""
    names = _envelope.entry_names(envelope)
    out: dict[str, Any] = {}
    for name in names:
        value = envelope[name]
        if name in _envelope.NAMED and isinstance(value, dict) and "name" in value:
            value = {"name": value["name"]} | value
        out[name] = value
    out.update({key: envelope[key] for key in _CONTEXT if key in envelope})
    declared = {key: value for key, value in envelope.items() if key == "has_payload"}
    return out | {k: v for k, v in envelope.items() if k not in out and k not in declared} | declared


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


class RebuiltTrace(Source):
    """A trace that is not there, under the name of the file that leads its report. It has no path.

    Its places are those of the report's files.

    Args:
        lead: the file.
        rank: rank of the process that wrote the trace.
        rebuilt: makes the trace, when somebody first asks.
    """

    def __init__(self, lead: Source, rank: int | None, rebuilt: Callable[[], Rebuilt]) -> None:
        super().__init__(
            lead.name,
            Kind.TORCH_TRACE,
            lambda: rebuilt().data(),
            parent=lead.parent,
            role=lead.role,
            label=lead.label,
            rank=rank,
        )
        self._rebuilt = rebuilt

    def place(self, line: int, end_line: int | None = None) -> Place:
        """Return where a person finds a line: in the report."""
        return self._rebuilt().place(line, line if end_line is None else end_line)
