"""One finding as HTML: its chain with links to where each line is shown, its causes, what to run next."""

from __future__ import annotations

import re
from html import escape
from string import ascii_lowercase
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.render.names import ShortNames, short_path
from aoti_logs.render.safe import clean
from aoti_logs.render.text import CHANGE, FOLLOWS, RUN, STEPS, confidence_line, deciding, letter_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from aoti_logs.explain import Finding, Link
    from aoti_logs.render.target import Target
    from aoti_logs.sources.source import Place

    class Lookup(Protocol):
        """Where tlparse's pages, or the excerpts below, show something; None where they do not."""

        def place(self, place: Place) -> Target | None:
            """Return what shows a line; without a label of its own it is the line's name that leads there."""

        def compile(self, compile_id: str, rank: int | None) -> Target | None:
            """Return where the index lists a compile id."""

        def kernel(self, name: str, rank: int | None) -> Target | None:
            """Return the page that defines a kernel."""


_COMPILE = re.compile(r"\[((?:!\d+/)?\d+/\d+(?:_\d+)?)\]")
_SPAN = re.compile(r"`([^`]{1,200})`")
_LONGEST = 2000
FOLLOWING = 20
"""So many of the later errors are shown; the others are counted."""


def safe(text: object) -> str:
    """Return text from a log as HTML shows it: escaped, without control characters, not endless."""
    plain = clean(str(text))
    return escape(plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " ...")


def prose(text: object) -> str:
    """Return a sentence of ours: what stands between backticks is code."""
    return _SPAN.sub(r"<code>\1</code>", safe(text))


def anchor(target: Target, text: str | None = None) -> str:
    """Return a link."""
    return f'<a href="{escape(target.href)}">{safe(text if text is not None else target.label)}</a>'


def place_html(place: Place | None, lookup: Lookup, name: Callable[[str], str] = str) -> str:
    """Return file and line, and the way to where it is shown.

    Args:
        place: the line.
        lookup: what shows lines.
        name: shortens a file's name.
    """
    if place is None:
        return ""
    target = lookup.place(place)
    told = f'title="{safe(place.source)}">{safe(name(place.source))}:{place.line}'
    if target and not target.label:
        return f'<a href="{escape(target.href)}" {told}</a>'
    return f"<span {told}</span>" + (f" {anchor(target)}" if target else "")


class FindingHtml:
    """A finding on the page.

    Args:
        finding: what was found.
        lookup: what shows lines.
        log: whether to name the log it was read from.
    """

    def __init__(self, finding: Finding, lookup: Lookup, *, log: bool) -> None:
        self.finding = finding
        self.lookup = lookup
        self.log = log
        links = (*finding.chain, *finding.consequences)
        self.names = ShortNames([link.place.source for link in links if link.place])

    def lines(self, anchor_name: str, number: int | None = None) -> Iterator[str]:
        """Yield its HTML.

        Args:
            anchor_name: its `id`; that of the third link of its chain ends in `-3`, of its first later error in `-a`.
            number: shown before its title.
        """
        finding = self.finding
        rank = f"; rank {finding.rank}" if finding.rank is not None else ""
        log = f"; in {short_path(finding.log)}" if finding.log and self.log else ""
        severity = safe(finding.severity)
        yield f'<article class="{severity}" id="{anchor_name}">'
        shown = f"{number}. " if number is not None else ""
        yield f"<h3>{shown}<b>{severity} {safe(finding.rule)}</b> {self._text(finding.title, prose)}</h3>"
        yield f'<p class="sure">{safe(confidence_line(finding))}{safe(rank + log)}</p>'
        if finding.chain:
            yield "<table>"
            for step, link in enumerate(finding.chain, 1):
                yield self._link(f"{anchor_name}-{step}", step, link)
            yield "</table>"
        terms = [*self._verdicts(), *self._facts(), *self._after(anchor_name), *self._next(), *self._files()]
        if terms:
            yield "<dl>" + "\n".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in terms) + "</dl>"
        yield "</article>"

    def _link(self, name: str, number: int, link: Link) -> str:
        details = "\n".join(safe(self.names.within(detail)) for detail in link.details if detail)
        # A line of ^^^ points into the line above it, which must then not be wrapped.
        points = " points" if any(detail.lstrip().startswith("^") for detail in link.details) else ""
        details = f"\n<pre>{details}</pre>" if details else ""
        sure = "" if link.strength is Confidence.PROVEN else f" ({safe(link.strength)})"
        where = place_html(link.place, self.lookup, self.names.name)
        return (
            f'<tr id="{name}"><td>{number}</td><td class="step">{safe(link.step)}{sure}</td><td class="where">{where}</td>'
            f'<td class="text{points}"><code>{self._text(link.text)}</code>{details}</td></tr>'
        )

    def _text(self, text: str, form: Callable[[str], str] = safe) -> str:
        """Escape a text, with links for the compile ids in it."""
        pieces = []
        at = 0
        for found in _COMPILE.finditer(text):
            target = self.lookup.compile(found[1], self.finding.rank)
            if target is not None:
                pieces += [form(text[at : found.start()]), anchor(target, found[0])]
                at = found.end()
        return "".join([*pieces, form(text[at:])])

    def _within(self, text: str) -> str:
        return prose(self.names.within(text))

    def _verdicts(self) -> Iterator[tuple[str, str]]:
        """Yield one sure cause with what else is sure, or all the causes that fit."""
        verdicts = self.finding.verdicts
        sure = self.finding.confidence in {Confidence.PROVEN, Confidence.LIKELY}
        for number, verdict in enumerate(verdicts):
            name = f"{prose(verdict.title)} [{safe(verdict.code)}]"
            if not sure and len(verdicts) > 1:
                yield f"cause {letter_of(number)}", name
            elif number:
                yield "also", f"{safe(verdict.confidence)}: {name}"
            yield from (("because", self._within(because)) for because in verdict.because)
            if sure or len(verdicts) == 1:
                decide = dict.fromkeys(verdict.decide)
                yield from (("to decide", self._within(what)) for what in decide)
        if not sure and len(verdicts) > 1:
            for what, letters in deciding(verdicts).items():
                yield f"to decide {', '.join(letters)}", self._within(what)

    def _facts(self) -> Iterator[tuple[str, str]]:
        facts = self.finding.facts
        kernel, compile_id = facts.get("kernel"), facts.get("compile_id")
        if isinstance(kernel, str) and (target := self.lookup.kernel(kernel, self.finding.rank)):
            yield "kernel", f"<code>{safe(kernel)}</code> {anchor(target)}"
        if isinstance(compile_id, str) and (target := self.lookup.compile(compile_id, self.finding.rank)):
            yield "compile id", f"<code>{safe(compile_id)}</code> {anchor(target)}"

    def _after(self, name: str) -> Iterator[tuple[str, str]]:
        finding = self.finding
        yield from (("note", self._within(note)) for note in finding.notes)
        for letter, link in zip(ascii_lowercase, finding.consequences[:FOLLOWING], strict=False):
            more = f", {safe(link.details[0])}" if link.details else ""
            where = place_html(link.place, self.lookup, self.names.name)
            words = STEPS.get(link.step, FOLLOWS)
            yield words, f'<span id="{name}-{letter}">{self._text(link.text)}</span> ({where}{more})'
        if len(finding.consequences) > FOLLOWING:
            yield "and", f"{len(finding.consequences) - FOLLOWING:,} more"
        for missing in finding.missing:
            how = f"; to have it: {missing.how_to_record}" if missing.how_to_record != "-" else ""
            yield "missing", self._within(missing.what + how)

    def _next(self) -> Iterator[tuple[str, str]]:
        for number, experiment in enumerate(self.finding.experiments):
            effect = (
                "in a new process, no recompile" if experiment.takes_effect == "run" else "when compiling"
            )
            said = [f"takes effect {effect}; {experiment.why}", f"proof: {experiment.proof}"]
            said += [f"care: {experiment.care}"] if experiment.care else []
            change = [f"{CHANGE}: <code>{safe(experiment.change)}</code>"] if experiment.change else []
            run = f"{RUN}: " if experiment.change else ""
            lines = [*change, f"{run}<code>{safe(experiment.line)}</code>", *map(self._within, said)]
            yield "then" if number else "next", "<br>".join(lines)
        yield from (("fix", prose(fix)) for fix in self.finding.fixes)

    def _files(self) -> Iterator[tuple[str, str]]:
        legend = self.names.legend()
        if legend:
            yield "files", "<br>".join(f"{safe(short)} is {safe(whole)}" for short, whole in legend)
