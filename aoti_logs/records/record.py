"""One record of a TORCH_TRACE file: prefix, envelope and payload, each decoded when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from aoti_logs.records import envelope as _envelope
from aoti_logs.records import payload as _payload
from aoti_logs.records.strings import Strings
from aoti_logs.sources.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from aoti_logs.records.trace import TraceIndex


class StackFrame(NamedTuple):
    """A Python frame of a record; `file` is None where the file's name was never recorded."""

    file: str | None
    line: int | None
    name: str
    loc: str | None


class Check(NamedTuple):
    """What there is of a record's payload: its length without TABs, the checksum that was declared for it, whether
    the two agree (None where that cannot be told), and what is wrong with the record in words.
    """

    length: int | None
    md5: str | None
    intact: bool | None
    problem: str | None


class TraceRecord:
    """One record of a trace: prefix, envelope and payload, each decoded when first asked for.

    Attributes:
        index: the trace it belongs to.
        number: position among the trace's records, from 0.
    """

    def __init__(self, index: TraceIndex, number: int) -> None:
        self.index = index
        self.number = number
        self._value: tuple[dict[str, Any], str | None] | None = None

    def __repr__(self) -> str:
        """Return its key and line."""
        return f"TraceRecord({self.key!r}, line {self.line})"

    @property
    def name(self) -> str:
        """The entry's name: `artifact`, `graph_dump`, `create_symbol`, ..."""
        return self._key[0]

    @property
    def artifact(self) -> str | None:
        """The own name of an `artifact` or `graph_dump` entry, None for other entries."""
        return self._key[1]

    @property
    def key(self) -> str:
        """`artifact:NAME`, `graph_dump:NAME`, or the entry's name."""
        name, own = self._key
        return name if own is None else f"{name}:{own}"

    @property
    def _key(self) -> tuple[str, str | None]:
        columns = self.index.columns
        return columns.keys[columns.key[self.number]]

    # ------------------------------------------------------------ where it is

    @property
    def spans(self) -> tuple[Span, ...]:
        """All its bytes; more than one span when other text stands between its payload's lines."""
        return tuple(Span(self.index.source, *piece) for piece in self.index.columns.spans(self.number))

    @property
    def span(self) -> Span:
        """The first of its spans."""
        return self.spans[0]

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return sum(end - start for start, end in self.index.columns.spans(self.number))

    @property
    def head(self) -> Span:
        """Prefix and envelope: the record's first line."""
        columns = self.index.columns
        return Span(self.index.source, columns.start[self.number], columns.head_end[self.number])

    @property
    def line(self) -> int:
        """Line number (from 1) of its prefix."""
        context = self.index.known_context
        if context is not None:
            return context.lines[self.number]
        return self.index.source.line_at(self.index.columns.start[self.number])

    @property
    def where(self) -> tuple[str, int]:
        """File and line of its prefix: those of `place`."""
        source = self.index.source
        if source.parent_lines is None:
            return source.name, self.line
        place = self.place
        return place.source, place.line

    @property
    def place(self) -> Place:
        """Where a person finds it."""
        return self.index.source.place(self.line)

    # ------------------------------------------------------------ prefix

    @property
    def _prefix(self) -> tuple[str, str, int, str, int]:
        columns = self.index.columns
        raw = bytes(self.index.source.data[columns.start[self.number] : columns.env[self.number]])
        return _envelope.parse_prefix(raw) or ("", "", 0, "", 0)

    @property
    def level(self) -> str:
        """Log level as printed, `V` for every record of torch's own."""
        return self._prefix[0]

    @property
    def time(self) -> str:
        """Local time as printed, `MMDD HH:MM:SS.uuuuuu`: no year, no zone."""
        return self._prefix[1]

    @property
    def process(self) -> int:
        """Process id; in torch 2.4 the thread id, 15 digits."""
        context = self.index.known_context
        return self._prefix[2] if context is None else context.prefixes[self.number].process

    @property
    def emitter(self) -> tuple[str, int]:
        """File and line of torch that wrote the record."""
        context = self.index.known_context
        return self._prefix[3:] if context is None else context.prefixes[self.number][1:]

    # ------------------------------------------------------------ envelope

    @property
    def _decoded(self) -> tuple[dict[str, Any], str | None]:
        if self._value is None:
            self._value = _envelope.decode_object(self.raw_envelope)
        return self._value

    @property
    def envelope(self) -> dict[str, Any]:
        """The whole envelope; empty when it is not JSON (`problem` says so)."""
        return self._decoded[0]

    @property
    def has_stack(self) -> bool:
        """Whether the envelope can hold a stack; told without decoding it."""
        return b'stack"' in self.raw_envelope

    @property
    def raw_envelope(self) -> bytes:
        """The envelope as it stands in the file."""
        columns = self.index.columns
        return bytes(self.index.source.data[columns.env[self.number] : columns.head_end[self.number]])

    @property
    def metadata(self) -> Any:
        """What the envelope says under the entry's name; a dict except for `str`."""
        return self.envelope.get(self.name, {})

    @property
    def compile_id(self) -> str | None:
        """Compile id as torch prints it (`0/1_2`); None where the record knows none."""
        context = self.index.known_context
        return _envelope.compile_id(self.envelope) if context is None else context.ids[self.number].trace_id

    @property
    def compile(self) -> str | None:
        """The compile it belongs to, attempts not told apart: `0/1`, or `aoti/0` for the first AOTInductor
        compile of the file, which torch gives no id. None where no compile is known.
        """
        context = self.index.known_context
        own = self.compile_id if context is None else context.ids[self.number].compile_id
        if own is not None:
            return own.partition("_")[0]
        number = self.index.aot_of(self)
        return None if number is None else f"aoti/{number}"

    @property
    def attempt(self) -> int | None:
        """How often analysis had restarted, from 0; None where the record does not say."""
        context = self.index.known_context
        if context is not None:
            return context.ids[self.number].attempt
        return _envelope.natural(self.envelope.get("attempt"))

    @property
    def rank(self) -> int | None:
        """Rank that the record itself gives."""
        context = self.index.known_context
        return _envelope.rank(self.envelope) if context is None else context.ids[self.number].rank

    @property
    def filename(self) -> str:
        """The file that the metadata says the payload was written to; empty when none."""
        data = self.metadata
        name = (data.get("file_path") or data.get("filename")) if isinstance(data, dict) else None
        return name if isinstance(name, str) else ""

    # ------------------------------------------------------------ payload

    @property
    def has_payload(self) -> bool:
        """Whether payload lines follow the envelope."""
        return bool(self.index.columns.pieces(self.number))

    @property
    def payload(self) -> bytes:
        """The payload as it was before torch put a TAB before every line; read anew each time."""
        columns, data = self.index.columns, self.index.source.data
        end = columns.head_end[self.number]
        return _payload.read(data, columns.pieces(self.number), crlf=end > 0 and data[end - 1] == 0x0D)

    def payload_start(self, length: int) -> bytes:
        """Return the first bytes of the payload as they stand in the file, TABs included."""
        pieces = self.index.columns.pieces(self.number)
        if not pieces:
            return b""
        start, end = pieces[0]
        return bytes(self.index.source.data[start : min(end, start + length)])

    @property
    def text(self) -> str:
        """The payload as text; bytes that are not UTF-8 become U+FFFD."""
        return self.payload.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the payload's JSON value, None when it is not JSON (`encoding: "json"` is no promise)."""
        from orjson import JSONDecodeError, loads

        columns, data = self.index.columns, self.index.source.data
        if self.number not in columns.breaks:
            # A payload's TABs stand behind line ends, which JSON has between tokens only: blanks to it.
            try:
                return loads(data[columns.head_end[self.number] : columns.end[self.number]])
            except JSONDecodeError:
                pass
        try:
            return _envelope.decode_json(self.payload)
        except ValueError:
            return None

    def payload_lines(self) -> range | list[int]:
        """Return the file's line number of each line of the payload."""
        source, columns, context = self.index.source, self.index.columns, self.index.known_context
        pieces = columns.pieces(self.number)
        if context is not None and len(pieces) == 1 and self.number not in columns.breaks:
            [(start, end)] = pieces
            first = context.lines[self.number] + 1
            return range(first, first + bytes(source.data[start : end - 1]).count(b"\n") + 1)
        lines: list[int] = []
        for start, end in pieces:
            first = source.line_at(start)
            last = source.line_at(end - 1)
            if len(pieces) == 1:
                return range(first, last + 1)
            lines.extend(range(first, last + 1))
        return lines

    @property
    def text_where(self) -> tuple[str, int]:
        """File and line that stand for the payload as a whole: those of the record, which begins above it."""
        return self.where

    @property
    def payload_where(self) -> tuple[str, range | list[int]]:
        """File of the payload, and the line number there of each of its lines."""
        return self.where[0], self.payload_lines()

    @property
    def declared_md5(self) -> str | None:
        """The checksum that the envelope declares, None for a record without payload."""
        columns = self.index.columns
        return _payload.declared_md5(
            self.index.source.data, columns.env[self.number], columns.head_end[self.number]
        )

    @property
    def problem(self) -> str | None:
        """What is wrong with the record, in words; None when all of it is as torch wrote it."""
        return self.check().problem

    def check(self) -> Check:
        """Compare the payload with what the envelope declares; hashes it."""
        wrong, md5 = self._decoded[1], self.declared_md5
        if md5 is None:
            if not self.has_payload:
                return Check(None, None, None, wrong)
            return Check(len(self.payload), None, None, wrong or _payload.UNDECLARED)
        payload = self.payload
        intact = _payload.matches(payload, md5)
        return Check(len(payload), md5, intact, wrong or (None if intact else _payload.CHANGED))

    @property
    def strings(self) -> Strings:
        """The interned strings as they stand at this record."""
        return Strings(self.index, self)

    def frames(self, stack: object = None) -> tuple[StackFrame, ...]:
        """Return a stack's frames with file names put in, outermost first.

        Args:
            stack: a list of frames from the envelope or metadata; the envelope's `stack` if None.
        """
        stack = self.envelope.get("stack") if stack is None else stack
        if not isinstance(stack, list):
            return ()
        find = self.strings.find
        return tuple(_frame(frame, find) for frame in stack if isinstance(frame, dict))


def _frame(frame: dict[str, Any], find: Callable[[int], str | None]) -> StackFrame:
    get = frame.get
    file, line, name, loc = get("filename"), get("line"), get("name"), get("loc")
    number = _envelope.natural(file)
    if number is not None:
        file = find(number)
    return StackFrame(
        file if isinstance(file, str) else None,
        line if isinstance(line, int) and not isinstance(line, bool) else None,
        name if isinstance(name, str) else "",
        loc if isinstance(loc, str) else None,
    )
