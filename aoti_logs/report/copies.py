"""Copies of generated code: what a file of a cache or a package says, the trace says as well."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from aoti_logs.sources.source import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.sources.source import Place, Source

_BEGINNING = 1 << 16


class Copies:
    """From a line of generated code to the same line in a trace.

    Args:
        evidence: the code at hand.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    @cached_property
    def _of(self) -> dict[str, list[Source]]:
        """By name of a source: the records of traces that hold the same text."""
        by_name = {source.name: source for source in self._evidence.sources}
        found: dict[str, list[Source]] = {}
        for code in self._evidence.base.codes:
            copies = [by_name[name] for name in code.names if name in by_name]
            held = [s for s in copies if s.parent is not None and s.parent.kind is Kind.TORCH_TRACE]
            for source in copies:
                if held and source not in held:
                    found[source.name] = held
        return found

    def places(self, place: Place) -> Iterator[Place]:
        """Yield where traces have this line."""
        copies = self._of.get(place.source)
        if copies is None:
            return
        own = next(s for s in self._evidence.sources if s.name == place.source)
        for copy in copies:
            line = place.line - _blank_lines(own) + _blank_lines(copy)
            if own.line_text(place.line) == copy.line_text(line):
                yield copy.place(line)


def _blank_lines(source: Source) -> int:
    """Return how many line ends stand before the text; copies may differ in them."""
    beginning = bytes(source.data[:_BEGINNING])
    return beginning[: len(beginning) - len(beginning.lstrip())].count(b"\n")
