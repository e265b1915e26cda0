"""The lines around what findings quote, file by file, with an anchor a line and the way back to who quotes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.citations import citations, margin
from aoti_logs.render.finding_html import safe
from aoti_logs.render.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from aoti_logs.render.citations import Citation, Named
    from aoti_logs.sources.source import Place, Source

MOST_LINES = 4000
"""So many lines of files a page holds, however large the files are and however many findings quote them."""
_AROUND = 6
_MOST_QUOTED = 40
_LONGEST = 400
_LONGEST_QUOTED = 2000


class Excerpts:
    """Excerpts of the files that findings quote.

    Args:
        findings: whose quotes are shown, as the page names them.
        sources: the files, by the names that places give them.
    """

    def __init__(self, findings: Iterable[Named], sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._ranges: dict[str, list[tuple[int, int]]] = {}
        self._quoted: dict[str, set[int]] = {}
        self._cited: dict[tuple[str, int], list[Citation]] = {}
        self.left_out = 0
        """So many quotes found no room."""
        room = MOST_LINES
        for citation in citations(findings):
            place = citation.place
            if place.source not in sources or not sources[place.source].lines_from(place.line, place.line):
                continue
            known = place.line in self._quoted.get(place.source, ())
            last = min(max(place.end_line, place.line), place.line + _MOST_QUOTED)
            first = max(1, place.line - _AROUND)
            needed = 0 if known and last == place.line else last + _AROUND - first + 1
            if needed > room:
                self.left_out += 1
                continue
            room -= needed
            self._ranges.setdefault(place.source, []).append((first, last + _AROUND))
            self._quoted.setdefault(place.source, set()).update(range(place.line, last + 1))
            self._cited.setdefault((place.source, place.line), []).append(citation)
        self._numbers = {name: number for number, name in enumerate(self._ranges, 1)}

    def place(self, place: Place) -> Target | None:
        """Return the excerpt that shows a line."""
        if (place.source, place.line) not in self._cited:
            return None
        return Target(f"#file-{self._numbers[place.source]}-{place.line}", "")

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
                yield '<div class="excerpt"><div class="lines">'
                for line, text in self._numbered(name, first, last):
                    yield self._line(name, number, line, text)
                yield "</div></div>"
            yield "</section>"

    def _numbered(self, name: str, first: int, last: int) -> list[tuple[int, str]]:
        """Return the lines of an excerpt without empty ones at its ends: the last of a file would be one too many."""
        lines = list(enumerate(self._sources[name].lines_from(first, last), first))
        told = [at for at, (line, text) in enumerate(lines) if text.strip() or line in self._quoted[name]]
        return lines[told[0] : told[-1] + 1] if told else []

    def _line(self, name: str, number: int, line: int, text: str) -> str:
        cited = self._cited.get((name, line), ())
        longest = _LONGEST_QUOTED if cited else _LONGEST
        shown = safe(text if len(text) <= longest else text[:longest])
        more = f" <em>... {len(text):,} characters</em>" if len(text) > longest else ""
        quoted = ' class="quoted"' if line in self._quoted[name] else ""
        anchor = f' id="file-{number}-{line}"' if cited else ""
        back = f"<b>{margin(cited)}</b>"
        return f"<div{anchor}{quoted}>{back}<i>{line}</i><code>{shown}{more}</code></div>"


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, those that touch as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
