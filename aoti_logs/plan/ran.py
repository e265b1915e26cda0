"""What a plan asks of a run: its logs, its files, the code and traces at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.sources.source import Source


class Ran(Protocol):
    """A run, as far as plans look at it."""

    @property
    def files(self) -> tuple[Source, ...]:
        """Files and archive members that were read."""

    @property
    def evidence(self) -> Evidence:
        """Generated code, traces and packages at hand."""

    def logs(self) -> Iterator[tuple[Source, LogEvents]]:
        """Yield the logs with their events."""
