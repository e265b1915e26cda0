"""Limits on compiles that a log warns of, one case a function: it warns again at later calls, and may be cut off."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aoti_logs.parse.compiles.failure import Failure, FailureKind, Limit
from aoti_logs.parse.guards.recompile_limit import read_limit
from aoti_logs.parse.guards.recompile_reason import read_recompile_reason
from aoti_logs.parse.logs.whole_messages import whole_messages
from aoti_logs.rules.error_case import shown_command
from aoti_logs.rules.failure_case import FailureCase, Function, Reached
from aoti_logs.rules.logged_recompiles import reasons_by_function
from aoti_logs.rules.recompile_words import reason_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.parse.events import LogEvents, LogLine
    from aoti_logs.sources.source import Source

_MOST = 20  # warnings about one function whose text is kept
_WORDS = (" hit config.", "   last reason: ", " hit recompilation cache limit")


@dataclass
class _Warned:
    """The warnings about one function, in the order of the log."""

    told: list[tuple[LogLine, Limit]] = field(default_factory=list)

    @property
    def limit(self) -> Limit:
        """What all of them say together; the last reason is the newest."""
        joined = self.told[0][1]
        for _, limit in self.told[1:]:
            joined = replace(
                joined,
                config=joined.config or limit.config,
                limit=joined.limit if joined.limit is not None else limit.limit,
                function=joined.function or limit.function,
                file=joined.file or limit.file,
                line=joined.line or limit.line,
                last_reason=limit.last_reason or joined.last_reason,
                reasons=(*joined.reasons, *limit.reasons),
            )
        return joined


def limit_cases(events: LogEvents, source: Source) -> Iterator[FailureCase]:
    """Yield a case for each function that a log says reached its limit."""
    groups: dict[tuple[Any, ...], _Warned] = {}
    telling = (m for m in events.messages if "convert_frame" in m.module or " hit config." in m.text)
    for message in whole_messages(telling):
        if not any(words in message.text for words in _WORDS):
            continue
        limit = read_limit(message.text, headless="convert_frame" in message.module)
        if limit is not None:
            groups.setdefault(_key(message, limit, groups), _Warned()).told.append((message, limit))
    if not groups:
        return
    history = reasons_by_function(events)
    for warned in groups.values():
        limit = warned.limit
        known = history.get((limit.function, limit.file, limit.line), [])
        facts = {"history": [list(reasons) for reasons in known], "command": shown_command(events)}
        yield _case(warned, limit, source, facts)


def _key(message: LogLine, limit: Limit, groups: dict[tuple[Any, ...], _Warned]) -> tuple[Any, ...]:
    """Return what tells one function from others: the first number of its compile ids, else its name and place."""
    code = (message.compile_id or "").rpartition("/")[0]
    at = (message.rank, message.process, code)
    function = (limit.function, limit.file, limit.line)
    if code and limit.function is None:
        return next((key for key in groups if key[:3] == at), (*at, None))
    if code and (*at, None) in groups:
        groups[*at, function] = groups.pop((*at, None))
    return (*at, function)


def _case(warned: _Warned, limit: Limit, source: Source, facts: dict[str, Any]) -> FailureCase:
    message = next((m for m, told in warned.told if told.function), warned.told[0][0])
    own: Source = message.span.source
    texts = [m.text for m, _ in warned.told[:_MOST]]
    places = tuple(own.place(n) for m, _ in warned.told[:_MOST] for n in m.lines)
    text = "\n".join(texts)
    row, named = _named(text)
    return FailureCase(
        failure=Failure(FailureKind.RECOMPILE_LIMIT, None, (), named, text, detail=limit),
        place=places[row] if row < len(places) else message.span.place,
        text_places=places,
        compile_id=message.compile_id,
        function=Function(limit.function, limit.file, limit.line) if limit.function else None,
        reached=Reached.HANDLED,
        rank=message.rank if message.rank is not None else source.rank,
        log=source.name,
        facts={
            "log_level": message.level[:1],
            "process": message.process,
            "events": [_event(told, one) for told, one in warned.told],
            **facts,
        },
    )


def _named(text: str) -> tuple[int, str]:
    """Return the row that names the limit, the first where none does."""
    rows = text.split("\n")
    return next(
        ((number, row.strip()) for number, row in enumerate(rows) if "hit " in row), (0, rows[0].strip())
    )


def _event(message: LogLine, limit: Limit) -> dict[str, Any]:
    last = read_recompile_reason(limit.last_reason) if limit.last_reason else None
    return {
        "compile_id": message.compile_id,
        "function": limit.function,
        "file": limit.file,
        "line": limit.line,
        "last_reason": reason_facts(last) if last is not None else None,
    }
