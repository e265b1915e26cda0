"""Functions that were compiled again, as the messages of a log tell it (TORCH_LOGS=recompiles)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.parse.guards.logged_recompile import recompiles_in
from aoti_logs.parse.logs.whole_messages import readable_id
from aoti_logs.rules.recompile_words import newest_first
from aoti_logs.rules.recompiles import Again, Compiled, recompile_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.parse.guards.logged_recompile import LoggedRecompile
    from aoti_logs.parse.guards.recompile_reason import RecompileReason
    from aoti_logs.sources.source import Place, Source

Function = tuple[str | None, str | None, int | None]
"""Name, file and first line of a function."""


def logged_recompiles(events: LogEvents, source: Source) -> list[Finding]:
    """Return a note for each function of each process that a log says was compiled again."""
    groups: dict[tuple[int | None, int, Function], list[LoggedRecompile]] = {}
    for told in recompiles_in(events.messages):
        groups.setdefault((told.message.rank, told.message.process, function_of(told)), []).append(told)
    total = sum(map(len, groups.values()))
    found = []
    for (rank, process, function), group in groups.items():
        own: Source = group[0].message.span.source
        name, file, line = function
        facts = {"n_events_in_log": total, "process": process or None}
        found.append(
            recompile_note(
                [_again(told) for told in group],
                Compiled(name, file, line, own.place(group[0].line)),
                rank if rank is not None else source.rank,
                source.name,
                facts,
            )
        )
    return found


def function_of(told: LoggedRecompile) -> Function:
    """Return what identifies the function."""
    return told.recompile.function, told.recompile.file, told.recompile.line


def reasons_by_function(events: LogEvents) -> dict[Function, list[Sequence[RecompileReason]]]:
    """Return the reasons of every time that each function was compiled again."""
    found: dict[Function, list[Sequence[RecompileReason]]] = {}
    for told in recompiles_in(events.messages):
        found.setdefault(function_of(told), []).append(told.recompile.reasons)
    return found


def _again(told: LoggedRecompile) -> Again:
    own: Source = told.message.span.source
    reasons = told.recompile.reasons
    places: dict[int, Place] = {
        id(reason): own.place(told.line_of(number)) for number, reason in enumerate(reasons)
    }
    ordered = tuple((reason, places[id(reason)]) for reason in newest_first(reasons))
    return Again(readable_id(told.message), ordered)
