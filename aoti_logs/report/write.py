"""A report: tlparse's pages of the traces that were given, and our page of findings among them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from aoti_logs.report.counts import count
from aoti_logs.report.folder import PAGE, Target
from aoti_logs.report.links import Links
from aoti_logs.report.page import PageParts, landing, render_page, summary
from aoti_logs.report.pages import make_pages
from aoti_logs.report.plan import plan
from aoti_logs.report.shortfalls import shortfalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Explanation
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.report.copies import Copies
    from aoti_logs.report.counts import Counts
    from aoti_logs.report.pages import Pages
    from aoti_logs.report.plan import Plan, Slot
    from aoti_logs.report.shortfalls import Shortfall
    from aoti_logs.report.tlparse import Options

_MARK = b'id="aoti-logs-findings"'


@dataclass(frozen=True)
class Written:
    """A report that was written.

    Attributes:
        folder: where.
        summary: what was found, in a few words.
        version: of tlparse.
        traces: how many traces have pages of tlparse.
        sentences: what tlparse was given instead of the traces, and what it leaves out of them.
        counts: our counts and tlparse's.
        problems: what tlparse could not make; the report is not complete when there are some.
        last: the last lines that tlparse printed, when it failed.
    """

    folder: Path
    summary: str
    version: str
    traces: int
    sentences: tuple[str, ...]
    counts: tuple[Counts, ...]
    problems: tuple[str, ...]
    last: tuple[str, ...]

    @property
    def page(self) -> Path:
        """Our page."""
        return self.folder / PAGE

    @property
    def index(self) -> Path:
        """The page to begin with."""
        return self.folder / "index.html"


def write_report(
    indexes: Sequence[TraceIndex],
    explanation: Explanation,
    folder: Path,
    options: Options,
    copies: Copies,
    *,
    overwrite: bool = False,
) -> Written:
    """Write a report of traces.

    Args:
        indexes: the traces.
        explanation: what was found in them and in whatever was given with them.
        folder: where the report is to be.
        options: what tlparse is asked for.
        copies: where traces hold the text of other files.
        overwrite: replace a report that is there.

    Raises:
        aoti_logs.LoadError: the folder cannot or must not be written.
    """
    target = Target(folder, overwrite=overwrite)
    work = target.build()
    try:
        report = work / "report"
        scratch = work / "scratch"
        scratch.mkdir()
        layout = plan(indexes, options)
        pages = make_pages(layout, options, scratch, report)
        written = _Writer(layout, pages, explanation, report, options, copies).write(folder)
        target.place(report)
        return written
    finally:
        shutil.rmtree(work, ignore_errors=True)


@dataclass
class _Writer:
    layout: Plan
    pages: Pages
    explanation: Explanation
    report: Path
    options: Options
    copies: Copies

    def write(self, folder: Path) -> Written:
        layout, pages = self.layout, self.pages
        shown = [slot for slot in layout.slots if slot.folder in pages.said]
        links = Links(shown, self.report, self.copies)
        counts = [count(slot, pages.said.get(slot.folder)) for slot in layout.slots]
        lacking: list[tuple[str, list[Shortfall]]] = [
            (
                slot.feed.title,
                list(
                    shortfalls(
                        slot,
                        pages.said[slot.folder],
                        own,
                        self.report / slot.folder,
                        self.options,
                        self.explanation,
                    )
                ),
            )
            for slot, own in zip(layout.slots, counts, strict=True)
            if slot.folder in pages.said
        ]
        index = self._index()
        apart = [(_label(slot), f"{quote(slot.folder)}index.html") for slot in shown if slot.folder]
        parts = PageParts(
            self.explanation,
            links,
            pages.version,
            index,
            apart,
            layout.sentences,
            pages.fed,
            lacking,
            counts,
            pages.problems,
            pages.last,
        )
        (self.report / PAGE).write_text(render_page(parts), encoding="utf-8", errors="replace")
        self._link_back()
        sentences = list(layout.sentences)
        sentences += _grouped("given to tlparse", pages.fed, len(layout.slots))
        told = [(title, s.sentence) for title, found in lacking for s in found if not s.always]
        sentences += _grouped("tlparse", told, len(layout.slots))
        return Written(
            folder,
            summary(self.explanation),
            pages.version,
            len(shown),
            tuple(sentences),
            tuple(counts),
            tuple(pages.problems),
            pages.last,
        )

    def _index(self) -> str | None:
        """Return the page to begin with; write one where tlparse makes none of all traces."""
        index = self.report / "index.html"
        if index.exists():
            return "index.html"
        reports = [
            (_label(slot), f"{quote(slot.folder)}index.html")
            for slot in self.layout.slots
            if slot.folder in self.pages.said
        ]
        title = "tlparse's reports" if reports else "tlparse made no report"
        index.write_text(landing(title, reports), encoding="utf-8", errors="replace")
        return "index.html" if reports else None

    def _link_back(self) -> None:
        """Put a link to our page into tlparse's, once."""
        text = f"aoti-logs: {summary(self.explanation)}"
        for folder in dict.fromkeys(["", *(slot.folder for slot in self.layout.slots)]):
            path = self.report / folder / "index.html"
            if not path.is_file():
                continue
            page = path.read_bytes()
            if _MARK in page:
                continue
            up = "../" if folder else ""
            link = f'<p {_MARK.decode()}><a href="{up}{PAGE}">{escape(text)}</a></p>'.encode()
            before, body, after = page.partition(b"<body>")
            path.write_bytes(before + body + link + after if body else link + page)


def _label(slot: Slot) -> str:
    return f"{slot.feed.title} ({slot.folder.rstrip('/')})"


def _grouped(subject: str, told: Sequence[tuple[str, str]], slots: int) -> list[str]:
    """Return each sentence once, with the trace that it is about or their number."""
    titles: dict[str, list[str]] = {}
    for title, sentence in told:
        titles.setdefault(sentence, []).append(title)
    lines = []
    for sentence, about in titles.items():
        which = f"{about[0]}: " if slots > 1 and len(about) == 1 else ""
        lines.append(f"{subject}: {which}{sentence}" + (f" ({len(about)} traces)" if len(about) > 1 else ""))
    return lines
