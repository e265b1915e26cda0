"""Shape symbols at their creation: from TORCH_TRACE envelopes and from TORCH_LOGS=dynamic lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.facts import SourceName, Symbol
from aoti_logs.parse.sizes.origin import input_of
from aoti_logs.parse.text import limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lark import Token, Tree

    from aoti_logs.parse.events import LogLine
    from aoti_logs.sources.source import Place, Source

_LONGEST = 4096
_RANGE = re.compile(r"\[(-?[\w.]+), (-?[\w.]+)\]")
_STARTS = ("create_symbol ", "create_unbacked_sym")


@dataclass(frozen=True)
class SymbolLine:
    """A line of TORCH_LOGS=dynamic taken apart; `duck` when it joins an older symbol."""

    symbol: str
    origin: str
    hint: int | None
    lower: int | None
    upper: int | None
    user_frame: str | None
    duck: bool
    range: tuple[str, ...] = ()
    unbacked: bool = False


def symbol_from_envelope(
    envelope: Mapping[str, Any],
    place: Place,
    source: Source,
    compile_id: str | None = None,
    strings: Mapping[int, str] | None = None,
    compile_: str | None = None,
) -> Symbol | None:
    """Read a `create_symbol` or `create_unbacked_symbol` record of TORCH_TRACE (torch 2.6+).

    Args:
        envelope: the record's JSON object.
        place: where the record stands.
        source: the trace.
        compile_id: the record's compile id, None for AOTInductor.
        strings: the trace's string table, to name the files of stack frames.
        compile_: readable id of the compile.
    """
    unbacked = "create_symbol" not in envelope
    record = envelope.get("create_unbacked_symbol" if unbacked else "create_symbol")
    if not isinstance(record, dict) or not isinstance(record.get("symbol"), str):
        return None
    found = _RANGE.search(str(record.get("vr") or ""))
    lower, upper = (limit(found[1]), limit(found[2])) if found else (None, None)
    return _symbol(
        SymbolLine(
            symbol=record["symbol"],
            origin=str(record.get("source") or ""),
            hint=_integer(str(record.get("val") or "")),
            lower=lower,
            upper=upper,
            user_frame=_innermost(record.get("user_stack"), strings or {}),
            duck=False,
            range=(found[1], found[2]) if found else (),
            unbacked=unbacked,
        ),
        place,
        source,
        compile_id,
        compile_,
    )


def source_name_from_envelope(
    envelope: Mapping[str, Any], where: Callable[[], Place], source: Source, compile_id: str | None = None
) -> SourceName | None:
    """Read a `describe_source` record of TORCH_TRACE: one input of the graph, in order of appearance.

    Args:
        envelope: the record's JSON object.
        where: gives the place of the record.
        source: the trace.
        compile_id: the record's compile id, None for AOTInductor.
    """
    record = envelope.get("describe_source")
    if not isinstance(record, dict) or not isinstance(record.get("source"), str):
        return None
    origin = record["source"]
    found = input_of(origin)
    return SourceName(origin, found.name if found else None, where, source, compile_id)


def symbols_in_messages(messages: Iterable[LogLine]) -> list[Symbol]:
    """Read the `create_symbol` lines of TORCH_LOGS=dynamic, "duck sized" ones included."""
    symbols = []
    for message in messages:
        source = message.span.source
        own = message.compile_id
        compile_ = None if own is None else own.partition("_")[0]
        symbols += [
            _symbol(line, source.place(number), source, own, compile_)
            for number, line in symbol_lines(message)
        ]
    return symbols


def symbol_lines(message: LogLine) -> Iterator[tuple[int, SymbolLine]]:
    """Yield the symbols that a message announces, each with its line in the log."""
    if "create_" not in message.text:
        return
    # Messages with equal prefixes are joined by the log reader, so a line may start one anywhere.
    for index, text in enumerate(message.text.split("\n")):
        line = read_symbol_line(text) if text.startswith(_STARTS) else None
        if line is not None and message.lines:
            yield message.lines[min(index, len(message.lines) - 1)], line


def read_symbol_line(text: str) -> SymbolLine | None:
    """Take one line apart by `grammars/create_symbol.lark`; None when it is of another kind."""
    from lark.exceptions import LarkError

    from aoti_logs._grammar import parser

    try:
        tree = parser("create_symbol").parse(text[:_LONGEST].rstrip("\r\n"))
    except LarkError:
        return None
    origin, hint, frame = "", None, None
    limits: tuple[str, ...] = ()
    symbol = ""
    for part in tree.iter_subtrees():
        if part.data == "range":
            limits = tuple(str(t) for t in part.children)
        elif part is not tree:
            frame = next((str(t) for t in part.children if getattr(t, "type", "") == "PLAIN_FRAME"), frame)
    for child in tree.children:
        match getattr(child, "type", ""):
            case "SYMBOL":
                symbol = str(child)
            case "VALUE":
                hint = _integer(str(child))
            case "ORIGIN" | "BARE_ORIGIN" | "DUCK_ORIGIN":
                origin = str(child)
    lower, upper = (limit(text) for text in limits) if limits else (None, None)
    unbacked = tree.data == "unbacked"
    if unbacked:
        origin = next((text for part in tree.find_data("other_location") if (text := _marked(part))), "")
    return SymbolLine(symbol, origin, hint, lower, upper, frame, tree.data == "duck", limits, unbacked)


def _marked(location: Tree[Token]) -> str:
    """Return the size that was marked as unbacked: it stands where other symbols have a location."""
    text = "".join(str(token) for token in location.children).strip()
    return text if input_of(text) is not None else ""


def _symbol(
    line: SymbolLine, place: Place, source: Source, compile_id: str | None, compile_: str | None
) -> Symbol:
    found = input_of(line.origin)
    return Symbol(
        symbol=line.symbol,
        origin=line.origin,
        place=place,
        source=source,
        hint=line.hint,
        lower=line.lower,
        upper=line.upper,
        input_name=found.name if found else None,
        dim=found.dim if found else None,
        stride=found is not None and found.kind == "stride",
        user_frame=line.user_frame,
        compile_id=compile_id,
        duck=line.duck,
        range=line.range,
        compile=compile_,
        unbacked=line.unbacked,
    )


def _integer(text: str) -> int | None:
    try:
        return int(text[:64])
    except ValueError:
        return None


def _innermost(stack: object, strings: Mapping[int, str]) -> str | None:
    """Return the last frame of a structured stack as `file:line in function`."""
    if not isinstance(stack, list) or not stack or not isinstance(stack[-1], dict):
        return None
    frame = stack[-1]
    name = frame.get("filename")
    file = strings.get(name) if isinstance(name, int) else name
    return f"{file}:{frame.get('line')} in {frame.get('name')}" if file else None
