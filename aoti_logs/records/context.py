"""Line, prefix and ids of all records of a trace at once, for the tables that need them of every record."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.records import envelope as _envelope
from aoti_logs.records.catalogue import FIELDS, unknown_fields
from aoti_logs.records.envelope import CONTEXT_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.records.trace import TraceIndex

_USUAL = 22
"""Length of `V1129 12:10:21.164000 `: what is behind it repeats with every record of one emitter."""
_FRACTION = 6
"""Digits before its last blank; with fewer, the process may stand before that, and differ."""
_BLANK = 0x20
_DECLARES = b'"has_payload": "'
_CHECKSUM = 34
"""Length of `MD5"}`, with which nearly all envelopes end that declare a payload."""
_PLAIN = frozenset({int, type(None)})


Here = tuple[str, int, str | None, int | None]


class Ids(NamedTuple):
    """What an envelope says about where its record belongs."""

    trace_id: str | None
    """Compile id as torch prints it, `0/1_2`."""
    compile_id: str | None
    """The same without the attempt."""
    attempt: int | None
    rank: int | None


class Prefix(NamedTuple):
    """The part of a prefix that repeats: who wrote the record."""

    process: int
    emitter: str
    emitter_line: int


class Context:
    """Line, ids and prefix of each record, by its number.

    Attributes:
        lines: line of the prefix, from 1.
        ids: what the envelope says.
        prefixes: process and emitter.
        here: file, line, readable compile id (`aoti/0`), rank (the record's, else the file's).
        problems: of the few envelopes that are no JSON object, what is wrong.
        subgraphs: of the few records of a regional compile, the subgraph's name.
        unknown: of the few envelopes that hold fields which torch does not write, those fields.
    """

    def __init__(self, index: TraceIndex) -> None:
        self.lines = _lines(index)
        self.ids: list[Ids] = []
        self.prefixes: list[Prefix] = []
        self.problems: dict[int, str] = {}
        self.unknown: dict[int, list[str]] = {}
        self.subgraphs: dict[int, str] = {}
        self._fill_ids(index)
        self._fill_prefixes(index)
        self.here: list[Here] = list(self._where(index))

    def _where(self, index: TraceIndex) -> Iterator[Here]:
        file_rank, aot = index.source.rank, index.aot_compiles
        several, prefixes = index.several_processes, self.prefixes
        places = zip(index.places(self.lines), self.ids, strict=True)
        for number, ((source, line), (_, compile_id, _, rank)) in enumerate(places):
            own = compile_id
            if own is None and aot:
                which = aot.of(number, prefixes[number].process if several else None)
                own = None if which is None else f"aoti/{which}"
            yield source, line, own, file_rank if rank is None else rank

    def _fill_ids(self, index: TraceIndex) -> None:
        from orjson import JSONDecodeError, loads

        data, columns = index.source.data, index.columns
        known: dict[tuple[Any, ...], Ids] = {}
        entries = [(name, FIELDS.get(name, frozenset())) for name, _ in columns.keys]
        # Most records are events, and those of one compile have the same envelope but for the checksum.
        events: dict[bytes, Ids] = {}
        add, is_event = self.ids.append, [name == "chromium_event" for name, _ in columns.keys]
        for env, end, key_number in zip(columns.env, columns.head_end, columns.key, strict=True):
            event = data[env : end - _CHECKSUM] if is_event[key_number] else b""
            if event in events and _is_checksum(data[end - _CHECKSUM : end]):
                add(events[event])
                continue
            try:
                value = loads(data[env:end])
                get = value.get
                key = (
                    get("frame_id"),
                    get("frame_compile_id"),
                    get("attempt"),
                    get("rank"),
                    get("compiled_autograd_id"),
                )
                # 1.0 and true are the same key as 1, and no ids.
                ids = known.get(key) if _PLAIN.issuperset(map(type, key)) else ids_of(value)
                if ids is None:
                    ids = known[key] = ids_of(value)
            except (JSONDecodeError, AttributeError):
                value, problem = _envelope.decode_object(data[env:end])
                ids = ids_of(value)
                if problem is not None:
                    self.problems[len(self.ids)] = problem
            if "subgraph_name" in value:
                self.subgraphs[len(self.ids)] = str(value["subgraph_name"])
            name, fields = entries[key_number]
            if not (
                value.keys() - CONTEXT_KEYS == {name} and (fields is None or _holds(value[name], fields))
            ):
                unknown = unknown_fields(name, value)
                if unknown:
                    self.unknown[len(self.ids)] = unknown
            elif event.endswith(_DECLARES) and "subgraph_name" not in value:
                events[event] = ids
            add(ids)

    def _fill_prefixes(self, index: TraceIndex) -> None:
        data, columns = index.source.data, index.columns
        known: dict[bytes, Prefix] = {}
        for start, env in zip(columns.start, columns.env, strict=True):
            rest = data[start + _USUAL : env]
            prefix = known.get(rest)
            usual = (
                data[start + _USUAL - 1] == _BLANK
                and data[start + _USUAL - 1 - _FRACTION : start + _USUAL - 1].isdigit()
            )
            if prefix is None or not usual:
                parsed = _envelope.parse_prefix(data[start:env]) or ("", "", 0, "", 0)
                prefix = Prefix(*parsed[2:])
                if usual:
                    known[rest] = prefix
            self.prefixes.append(prefix)


def _is_checksum(tail: bytes) -> bool:
    return tail.endswith(b'"}') and tail[:-2].isalnum()


def _holds(metadata: object, fields: frozenset[str]) -> bool:
    return not metadata or (isinstance(metadata, dict) and metadata.keys() <= fields)


def ids_of(value: dict[str, Any]) -> Ids:
    """Return what an envelope says about where its record belongs."""
    own = _envelope.compile_id(value)
    return Ids(
        own,
        None if own is None else own.partition("_")[0],
        _envelope.natural(value.get("attempt")),
        _envelope.rank(value),
    )


def _lines(index: TraceIndex) -> array[int]:
    data = index.source.data
    lines = array("Q")
    line, at = 1, 0
    for start in index.columns.start:
        line += data[at:start].count(b"\n")
        at = start
        lines.append(line)
    return lines
