"""An explanation as one page that stands alone: findings, and the lines of the files that they quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.explain import Audit
from aoti_logs.render.citations import Named
from aoti_logs.render.document import document
from aoti_logs.render.excerpts import MOST_LINES, Excerpts
from aoti_logs.render.finding_html import FindingHtml, prose, safe
from aoti_logs.render.names import short_path
from aoti_logs.render.safe import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aoti_logs.explain import Explanation, Finding
    from aoti_logs.sources.source import Source

_INPUTS = 20
_MOST = 300
_MODELS = 3
_CONTENTS = 3
_TITLE = 100
_STYLE = """
nav ol { padding-left: 1.6rem; } nav li { margin: .15rem 0; }
.excerpt { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; overflow-x: auto; padding: .3rem 0; }
.lines { display: table; min-width: 100%; } .lines div { display: table-row; }
.lines b, .lines i { display: table-cell; width: 1%; color: var(--faint); font: 12px/1.55 ui-monospace, monospace;
  text-align: right; white-space: nowrap; user-select: none; padding-left: .5rem; min-width: 2.2rem; }
.lines code { display: table-cell; white-space: pre; overflow-wrap: normal; padding: 0 .8rem; }
.lines em { color: var(--faint); }
.quoted { background: var(--quoted); }
.quoted:target, tr:target, span:target { background: var(--target); outline: 2px solid var(--mark); outline-offset: -2px; }
:target { scroll-margin-top: 30vh; } article:target, section:target { scroll-margin-top: 1rem; }
section h3 { font-weight: 600; margin-top: 1.4rem; padding: .3rem 0; position: sticky; top: 0; background: var(--paper); }
"""


def render_page(explanation: Explanation, sources: Mapping[str, Source]) -> str:
    """Return the page.

    Args:
        explanation: what to show, notes included.
        sources: the files that were read, by the names that places give them.
    """
    main, notes = _named(explanation.findings)
    excerpts = Excerpts([*main, *notes], sources)
    several = len(explanation.inputs) > 1
    body = [
        *_head(explanation),
        *_contents(main),
        *_findings(explanation, main, excerpts, log=several),
        *_notes(notes, excerpts, log=several, alone=not main),
        *_left_out(explanation, len(main) + len(notes)),
        *_problems(explanation),
        *_files(excerpts),
    ]
    return document(_title(explanation, main), "\n".join(body), generator="aoti-logs explain", style=_STYLE)


def _named(findings: Sequence[Finding]) -> tuple[list[Named], list[Named]]:
    """Return the findings that are shown at once, and the notes that a click opens."""
    shown = [f for f in findings if not _is_hidden(f)][:_MOST]
    hidden = [f for f in findings if _is_hidden(f)][: _MOST - len(shown)]
    alone = len(shown) == 1
    return (
        [Named(f"finding-{n}", "" if alone else f"{n}.", f) for n, f in enumerate(shown, 1)],
        [Named(f"note-{n}", f"n{n}.", f) for n, f in enumerate(hidden, 1)],
    )


def _title(explanation: Explanation, main: Sequence[Named]) -> str:
    """Return what the browser's tab says: the first finding, so that several pages can be told apart."""
    if not main:
        return f"{explanation.nothing.removesuffix('.')} - aoti-logs"
    first = main[0].finding
    title = clean(first.title)
    return f"{first.rule} {title if len(title) <= _TITLE else title[:_TITLE] + ' ...'} - aoti-logs"


def _head(explanation: Explanation) -> Iterator[str]:
    yield f"<h1>{safe(explanation.heading)}</h1>"
    if isinstance(explanation, Audit):
        yield from _models(explanation)
        return
    inputs = explanation.inputs
    more = f" and {len(inputs) - _INPUTS:,} more" if len(inputs) > _INPUTS else ""
    yield f"<p>{safe(', '.join(inputs[:_INPUTS]) or 'no log of a run')}{more}</p>"


def _models(audit: Audit) -> Iterator[str]:
    """Say which compiled models were looked at; many of them fold."""
    count = len(audit.models)
    if count > _MODELS:
        yield f"<details><summary>{count:,} models were looked at</summary>"
    for model in audit.models[:_MOST]:
        said = [model.headline or "", f"compiled by torch {model.torch}" if model.torch else ""]
        more = "; ".join(filter(None, said))
        name = f'<span title="{safe(model.name)}">{safe(short_path(model.name))}</span>'
        yield f"<p>{name}{': ' if more else ''}{safe(more)}</p>"
    if count > _MOST:
        yield f"<p>and {count - _MOST:,} more</p>"
    if count > _MODELS:
        yield "</details>"


def _contents(main: Sequence[Named]) -> Iterator[str]:
    """List the findings where there are too many to see at once."""
    if len(main) < _CONTENTS:
        return
    yield "<nav><ol>"
    for named in main:
        finding = named.finding
        rank = f", rank {finding.rank}" if finding.rank is not None else ""
        log = f", {short_path(finding.log)}" if finding.log else ""
        link = f'<a href="#{named.anchor}">{safe(finding.severity)} {safe(finding.rule)}</a>'
        yield f"<li>{link} {prose(finding.title)} ({safe(f'{finding.confidence}{rank}{log}')})</li>"
    yield "</ol></nav>"


def _findings(
    explanation: Explanation, main: Sequence[Named], excerpts: Excerpts, *, log: bool
) -> Iterator[str]:
    for number, named in enumerate(main, 1):
        shown = number if len(main) > 1 else None
        yield from FindingHtml(named.finding, excerpts, log=log).lines(named.anchor, shown)
    if not explanation.failed and not main:
        yield f'<p class="none">{safe(explanation.nothing)}</p>'


def _notes(notes: Sequence[Named], excerpts: Excerpts, *, log: bool, alone: bool) -> Iterator[str]:
    """Fold the notes, unless nothing else is there to see."""
    if notes:
        words = f"{len(notes):,} {'note' if len(notes) == 1 else 'notes'}"
        yield f"<details{' open' if alone else ''}><summary>{words}</summary>"
        for named in notes:
            yield from FindingHtml(named.finding, excerpts, log=log).lines(named.anchor)
        yield "</details>"


def _left_out(explanation: Explanation, shown: int) -> Iterator[str]:
    if len(explanation.findings) > shown:
        count = len(explanation.findings) - shown
        yield f"<p>{count:,} more findings are not on this page; <code>--format json</code> has them all.</p>"


def _problems(explanation: Explanation) -> Iterator[str]:
    problems = explanation.problems
    if problems:
        yield "<h2>Not read</h2><ul>"
        yield from (f"<li>{safe(problem)}</li>" for problem in problems[:100])
        if len(problems) > 100:
            yield f"<li>and {len(problems) - 100:,} more</li>"
        yield "</ul>"


def _files(excerpts: Excerpts) -> Iterator[str]:
    lines = list(excerpts.lines())
    if lines:
        yield "<h2>The lines that are quoted</h2>"
        yield '<p class="none">The numbers in the margin lead back to the link that quotes the line.</p>'
        yield from lines
    if excerpts.left_out:
        yield (
            f"<p>{excerpts.left_out:,} more quotes are not shown here: "
            f"a page holds {MOST_LINES:,} lines of files.</p>"
        )


def _is_hidden(finding: Finding) -> bool:
    return finding.role == "note" and finding.severity != "warning"
