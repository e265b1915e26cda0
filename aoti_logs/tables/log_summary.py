"""Which artifacts and loggers wrote how much into a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dataframely as dy

from aoti_logs.parse.logs.log_totals import NO_LOGGER, totals_by_artifact
from aoti_logs.tables import _trace as t

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aoti_logs._run import Run
    from aoti_logs.parse.events import LogLine


class LogSummary(dy.Schema):
    """One row an artifact of TORCH_LOGS in a log, and one row a logger for its messages without artifact."""

    source = t.source()
    line = t.line()
    tag = dy.String(
        nullable=True, description="Artifact as printed, `__output_code`; null for other messages."
    )
    module = dy.String(
        nullable=True, description="Logger or file of messages without artifact; null for artifacts."
    )
    levels = dy.List(dy.String(), nullable=False, description="Levels that occur, in order.")
    n_messages = dy.Int64(nullable=False, description="Messages.")
    n_records = dy.Int64(
        nullable=False, description="Lines with a prefix; only the default style has one in every line."
    )
    n_lines = dy.Int64(nullable=False, description="Lines of the messages.")
    last_line = dy.Int64(nullable=False, description="Last line, from 1.")
    loggers = dy.List(dy.String(), nullable=False, description="Loggers, or files that logged.")
    compile_ids = dy.List(dy.String(), nullable=False, description="Compile ids without attempt.")
    ranks = dy.List(dy.Int64(), nullable=False, description="Ranks of the prefixes.")
    processes = dy.List(dy.Int64(), nullable=False, description="Process ids; thread ids in torch 2.4.")


SCHEMA = LogSummary


def rows(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, values in the order of the columns."""
    for source, events in run.logs():
        for (artifact, module), total in totals_by_artifact(_logged(events.messages)).items():
            yield (
                source.name, total.line, f"__{artifact}" if artifact else None, module, list(total.levels),
                total.n_messages, total.n_records, total.n_lines, total.last_line, list(total.loggers),
                list(total.compile_ids), list(total.ranks), list(total.processes),
            )  # fmt: skip


def _logged(messages: Iterable[LogLine]) -> Iterator[LogLine]:
    return (m for m in messages if m.style != NO_LOGGER)
