"""Our page in a tlparse report: findings with links, what tlparse was given, what it leaves out.

The page loads nothing and runs nothing, and says so to the browser; text from logs is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from aoti_logs.render.document import document
from aoti_logs.render.finding_html import FindingHtml, place_html, safe
from aoti_logs.report.text import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aoti_logs.explain import Explanation, Finding
    from aoti_logs.render.finding_html import Lookup
    from aoti_logs.report.counts import Counts
    from aoti_logs.report.shortfalls import Shortfall


@dataclass(frozen=True)
class PageParts:
    """What stands on the page.

    Attributes:
        explanation: the findings.
        lookup: where tlparse's pages show something.
        version: of tlparse.
        index: the page to begin with, None when tlparse made none.
        reports: tlparse's reports of single traces: (title, href).
        plan: what was decided about several traces.
        fed: (trace, sentence): what tlparse was given instead.
        shortfalls: what tlparse leaves out of each trace.
        counts: our counts and tlparse's.
        problems: what tlparse could not make.
        last: the last lines it printed when it failed.
    """

    explanation: Explanation
    lookup: Lookup
    version: str
    index: str | None
    reports: Sequence[tuple[str, str]]
    plan: Sequence[str]
    fed: Sequence[tuple[str, str]]
    shortfalls: Sequence[tuple[str, Sequence[Shortfall]]]
    counts: Sequence[Counts]
    problems: Sequence[str]
    last: Sequence[str]


def render_page(parts: PageParts) -> str:
    """Return the page."""
    return document("Findings - aoti-logs", "\n".join(_Page(parts).body()))


def landing(title: str, reports: Sequence[tuple[str, str]]) -> str:
    """Return an index of reports that stand apart.

    Args:
        title: the heading.
        reports: (title, href) of each.
    """
    items = "".join(f'<li><a href="{escape(href)}">{safe(name)}</a></li>\n' for name, href in reports)
    return document(title, f"<h1>{safe(title)}</h1>\n<ul>\n{items}</ul>")


def summary(explanation: Explanation) -> str:
    """Say in a few words what was found."""
    findings = explanation.findings
    causes = sum(finding.role == "cause" for finding in findings)
    warnings = sum(_is_note(finding) and finding.severity == "warning" for finding in findings)
    notes = sum(_is_hidden(finding) for finding in findings)
    counted = [many(warnings, "warning")] if warnings else []
    counted += [many(notes, "note")] if notes else []
    return ", ".join([many(causes, "finding") if causes else "no failure found", *counted])


def _is_note(finding: Finding) -> bool:
    return finding.role == "note"


def _is_hidden(finding: Finding) -> bool:
    """Tell the notes that stand below a line to be opened, as `explain` shows them only with --all."""
    return _is_note(finding) and finding.severity != "warning"


class _Page:
    def __init__(self, parts: PageParts) -> None:
        self.parts = parts

    def body(self) -> Iterator[str]:
        parts = self.parts
        found = summary(parts.explanation)
        yield "<h1>What failed, and why</h1>"
        yield f"<p>{safe(found)} in {safe(_listed(parts.explanation.inputs))}. {self._around()}</p>"
        for problem in parts.problems:
            yield f"<p><b>{safe(problem)}</b></p>"
        if parts.last:
            yield "<p>The last lines that tlparse printed:</p>"
            yield "<pre>" + "\n".join(map(safe, parts.last)) + "</pre>"
        main = [finding for finding in parts.explanation.findings if not _is_hidden(finding)]
        notes = [finding for finding in parts.explanation.findings if _is_hidden(finding)]
        several = len(parts.explanation.inputs) > 1
        for number, finding in enumerate(main, 1):
            yield from FindingHtml(finding, parts.lookup, log=several).lines(f"finding-{number}")
        if all(map(_is_note, main)):
            yield '<p class="none">No rule found a failure in what was given.</p>'
        if notes:
            yield f"<details><summary>{many(len(notes), 'note')}</summary>"
            for number, finding in enumerate(notes, 1):
                yield from FindingHtml(finding, parts.lookup, log=several).lines(f"note-{number}")
            yield "</details>"
        yield from self._about_tlparse()

    def _around(self) -> str:
        parts = self.parts
        version = f" {safe(parts.version)}" if parts.version else ""
        links = [f'<a href="{escape(parts.index)}">tlparse{version}\'s report</a>'] if parts.index else []
        links += [f'<a href="{escape(href)}">{safe(title)}</a>' for title, href in parts.reports]
        return "Pages: " + ", ".join(links) + "." if links else ""

    def _about_tlparse(self) -> Iterator[str]:
        parts = self.parts
        if any(found for _, found in parts.shortfalls):
            yield "<h2>What tlparse's pages leave out or say wrongly</h2>\n<ul>"
            for title, found in parts.shortfalls:
                name = f"{title}: " if len(parts.shortfalls) > 1 else ""
                yield from (f"<li>{safe(name + s.sentence)}{self._places(s)}</li>" for s in found)
            yield "</ul>"
        given = [*parts.plan, *(f"{title}: {sentence}" for title, sentence in parts.fed)]
        yield from _list("What tlparse was given", given)
        if parts.counts:
            yield "<h2>Counts</h2>\n<table><tr><th>trace</th><th>aoti-logs</th><th>tlparse</th></tr>"
            for counts in parts.counts:
                cells = (counts.title, counts.ours(), counts.theirs())
                yield "<tr>" + "".join(f"<td>{safe(cell)}</td>" for cell in cells) + "</tr>"
            yield "</table>"
        yield from _list("Not read", parts.explanation.problems)

    def _places(self, shortfall: Shortfall) -> str:
        places = [place_html(place, self.parts.lookup) for place in shortfall.places]
        return f" ({', '.join(places)})" if places else ""


def _list(title: str, sentences: Iterable[str]) -> Iterator[str]:
    items = [f"<li>{safe(sentence)}</li>" for sentence in sentences]
    if items:
        yield f"<h2>{title}</h2>\n<ul>"
        yield from items
        yield "</ul>"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
