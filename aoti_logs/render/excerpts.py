"""The lines around what a finding quotes, file by file, with an anchor a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.finding_html import safe
from aoti_logs.render.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from aoti_logs.explain import Finding
    from aoti_logs.sources.source import Place, Source

_AROUND = 6
_FOLLOWING = 20
_MOST_LINES = 4000
_LONGEST = 400


class Excerpts:
    """Excerpts of the files that findings quote.

    Args:
        findings: whose quotes are shown.
        sources: the files, by the names that places give them.
    """

    def __init__(self, findings: Iterable[Finding], sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._ranges: dict[str, list[tuple[int, int]]] = {}
        self._quoted: dict[str, set[int]] = {}
        room = _MOST_LINES
        for place in _places(findings):
            last = min(max(place.end_line, place.line), place.line + 40)
            if place.source not in sources or (room := room - (last - place.line + 2 * _AROUND + 1)) < 0:
                continue
            self._ranges.setdefault(place.source, []).append((max(1, place.line - _AROUND), last + _AROUND))
            self._quoted.setdefault(place.source, set()).update(range(place.line, last + 1))
        self._numbers = {name: number for number, name in enumerate(self._ranges, 1)}

    def place(self, place: Place) -> Target | None:
        """Return the excerpt that shows a line."""
        number = self._numbers.get(place.source)
        if number is None or place.line not in self._quoted[place.source]:
            return None
        return Target(f"#file-{number}-{place.line}", "show")

    def compile(self, compile_id: str, rank: int | None) -> Target | None:
        """Return None: the page has no list of compiles."""
        del compile_id, rank
        return None

    def kernel(self, name: str, rank: int | None) -> Target | None:
        """Return None: a kernel is shown where it is quoted."""
        del name, rank
        return None

    def lines(self) -> Iterator[str]:
        """Yield the HTML of all excerpts."""
        for name, number in self._numbers.items():
            yield f'<section id="file-{number}"><h3>{safe(name)}</h3>'
            for first, last in _merged(self._ranges[name]):
                yield '<div class="excerpt">'
                for line, text in enumerate(self._sources[name].lines_from(first, last), first):
                    yield self._line(name, number, line, text)
                yield "</div>"
            yield "</section>"

    def _line(self, name: str, number: int, line: int, text: str) -> str:
        shown = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
        quoted = line in self._quoted[name]
        anchor = f' id="file-{number}-{line}" class="quoted"' if quoted else ""
        return f"<div{anchor}><i>{line}</i><code>{safe(shown)}</code></div>"


def _places(findings: Iterable[Finding]) -> Iterator[Place]:
    for finding in findings:
        for link in (*finding.chain, *finding.consequences[:_FOLLOWING]):
            if link.place is not None:
                yield link.place


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, those that touch as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
