"""Replacements in a log, with what the replaced symbols measure: that stands on the lines that announced them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aoti_logs.parse.logs.whole_messages import line_of
from aoti_logs.parse.sizes.shape_log import Replaced, shapes_in
from aoti_logs.parse.sizes.symbol import symbol_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aoti_logs.parse.events import LogLine
    from aoti_logs.parse.sizes.symbol import SymbolLine


@dataclass(frozen=True)
class LoggedReplacement:
    """One replacement.

    Attributes:
        message: the message that tells it.
        line: its line in the log.
        said: what it says.
        sources: what the symbol measures, as announced before in the same compile of the same process.
    """

    message: LogLine
    line: int
    said: Replaced
    sources: tuple[str, ...] = ()


_Compile = tuple[int, int | None, str | None]
_Event = tuple[int, "LogLine", "Replaced | SymbolLine | None"]


def replacements_in(messages: Iterable[LogLine]) -> list[LoggedReplacement]:
    """Read the replacements of a log, in its order; a line that tells the same once more is left out."""
    messages = [m for m in messages if "symbolic_shapes" in m.module]
    events: list[_Event] = [
        (line.line, line.message, line.said)
        for line in shapes_in(messages)
        if isinstance(line.said, Replaced)
    ]
    if not events:
        return []
    for message in messages:
        events += [(number, message, symbol) for number, symbol in symbol_lines(message)]
        if "create_env" in message.text:
            rows = message.text.split("\n")
            events += [
                (line_of(message, row), message, None)
                for row, text in enumerate(rows)
                if text == "create_env"
            ]
    read = _Reader()
    for line, message, said in sorted(events, key=lambda e: e[0]):
        read.add(line, message, said)
    return sorted(read.found, key=lambda r: r.line)


class _Reader:
    def __init__(self) -> None:
        self.found: list[LoggedReplacement] = []
        self._sources: dict[_Compile, dict[str, list[str]]] = {}
        self._named: dict[tuple[_Compile, str], int] = {}

    def add(self, line: int, message: LogLine, said: Replaced | SymbolLine | None) -> None:
        key = message.process, message.rank, message.compile_id
        if said is None:
            self._sources.pop(key, None)  # symbols are numbered anew
        elif not isinstance(said, Replaced):
            if said.origin:
                self._sources.setdefault(key, {}).setdefault(said.symbol, []).append(said.origin)
        elif said.symbol is None:
            self._named[key, said.value] = len(self.found)
            self.found.append(LoggedReplacement(message, line, said, (said.source or "",)))
        else:
            known = tuple(self._sources.get(key, {}).get(said.symbol, ()))
            # `Specializing` stands right before the line that has the symbol.
            at = self._named.pop((key, said.value), None)
            before = None if at is None else self.found[at]
            if at is not None and before is not None and (not known or before.said.source in known):
                joined = replace(said, source=before.said.source)
                self.found[at] = LoggedReplacement(message, line, joined, known or before.sources)
            else:
                self.found.append(LoggedReplacement(message, line, said, known))
