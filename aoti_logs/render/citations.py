"""Who quotes a line: the links of the findings on a page, as the numbers in the margin beside the line."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from string import ascii_lowercase
from typing import TYPE_CHECKING

from aoti_logs.render.finding_html import FOLLOWING, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.sources.source import Place

_SHOWN = 4


@dataclass(frozen=True)
class Named:
    """A finding on a page: `anchor` is the `id` of its HTML, `label` what stands before its links' numbers."""

    anchor: str
    label: str
    finding: Finding


@dataclass(frozen=True)
class Citation:
    """A link that quotes a place: where it stands on the page, its number there, and what it is."""

    place: Place
    anchor: str
    label: str
    words: str

    def html(self) -> str:
        """Return the way back to it."""
        return f'<a href="#{escape(self.anchor)}" title="{safe(self.words)}">{safe(self.label)}</a>'


def citations(named: Iterable[Named]) -> Iterator[Citation]:
    """Yield what quotes a place, in the order of the page.

    Args:
        named: the findings; links of their chains are counted 1, 2, ..., later errors a, b, ...
    """
    for one in named:
        finding = one.finding
        numbered = [*zip(map(str, range(1, len(finding.chain) + 1)), finding.chain, strict=True)]
        numbered += zip(ascii_lowercase, finding.consequences[:FOLLOWING], strict=False)
        for number, link in numbered:
            if link.place is not None:
                words = f"{finding.rule}, {link.step}"
                yield Citation(link.place, f"{one.anchor}-{number}", one.label + number, words)


def margin(cited: Sequence[Citation]) -> str:
    """Return the ways back from a line, the first few of them, and how many more there are."""
    more = f" +{len(cited) - _SHOWN:,}" if len(cited) > _SHOWN else ""
    return " ".join(citation.html() for citation in cited[:_SHOWN]) + more
