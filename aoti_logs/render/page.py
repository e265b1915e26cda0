"""An explanation as one page that stands alone: findings, and the lines of the files that they quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.document import document
from aoti_logs.render.excerpts import Excerpts
from aoti_logs.render.finding_html import FindingHtml, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aoti_logs.explain import Explanation, Finding
    from aoti_logs.sources.source import Source

_INPUTS = 20
_STYLE = """
.excerpt { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; overflow-x: auto; padding: .3rem 0; }
.excerpt div { display: flex; } .excerpt i { color: var(--faint); font: 12px/1.45 ui-monospace, monospace; min-width: 5rem;
  padding-right: .8rem; text-align: right; user-select: none; } .excerpt code { white-space: pre; overflow-wrap: normal; }
.quoted { background: #8882; } .quoted:target { background: #fd08; outline: 2px solid #fd0; }
section h3 { font-weight: 600; margin-top: 1.4rem; }
"""


def render_page(explanation: Explanation, sources: Mapping[str, Source]) -> str:
    """Return the page.

    Args:
        explanation: what to show, notes included.
        sources: the files that were read, by the names that places give them.
    """
    excerpts = Excerpts(explanation.findings, sources)
    body = "\n".join([*_body(explanation, excerpts), *_files(excerpts)])
    return document(explanation.heading, body, generator="aoti-logs explain", style=_STYLE)


def _body(explanation: Explanation, excerpts: Excerpts) -> Iterator[str]:
    yield f"<h1>{safe(explanation.heading)}</h1>"
    inputs = explanation.inputs
    more = f" and {len(inputs) - _INPUTS:,} more" if len(inputs) > _INPUTS else ""
    yield f"<p>{safe(', '.join(inputs[:_INPUTS]) or 'no log of a run')}{more}</p>"
    several = len(inputs) > 1
    main = [f for f in explanation.findings if not _is_hidden(f)]
    notes = [f for f in explanation.findings if _is_hidden(f)]
    for number, finding in enumerate(main, 1):
        yield from FindingHtml(finding, excerpts, log=several).lines(f"finding-{number}")
    if not explanation.failed and not main:
        yield f'<p class="none">{safe(explanation.nothing)}</p>'
    if notes:
        yield f"<details><summary>{len(notes):,} {'note' if len(notes) == 1 else 'notes'}</summary>"
        for number, finding in enumerate(notes, 1):
            yield from FindingHtml(finding, excerpts, log=several).lines(f"note-{number}")
        yield "</details>"
    if explanation.problems:
        yield "<h2>Not read</h2><ul>"
        yield from (f"<li>{safe(problem)}</li>" for problem in explanation.problems[:100])
        yield "</ul>"


def _files(excerpts: Excerpts) -> Iterator[str]:
    lines = list(excerpts.lines())
    if lines:
        yield "<h2>The lines that are quoted</h2>"
        yield from lines


def _is_hidden(finding: Finding) -> bool:
    return finding.role == "note" and finding.severity != "warning"
