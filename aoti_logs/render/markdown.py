"""An explanation as Markdown, to be pasted into a bug report: names of users and machines are not told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.render.names import ShortNames
from aoti_logs.render.private import without_names
from aoti_logs.render.safe import clean
from aoti_logs.render.text import CHANGE, FOLLOWS, RUN, STEPS, confidence_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Explanation, Finding, Link
    from aoti_logs.sources.source import Place

_LONGEST = 1000
_FOLLOWING = 6
# GitHub reads no emphasis into an underscore within a word.
_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~&@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^\s*(?:[-+]|\d+\.)(?=\s))")
# What our sentences put between backticks is code. So is what GitHub would call a person or an issue by, escaped or not:
# a fix that names @torch.library calls the organisation of that name.
_SPAN = re.compile(r"`([^`]{1,200})`|(?<![\w`])([@#]\w[\w./-]*(?<![./-]))")


def render_markdown(explanation: Explanation, *, everything: bool = False) -> str:
    """Write an explanation.

    Args:
        explanation: what to write.
        everything: also notes.
    """
    shown = [f for f in explanation.findings if everything or f.role != "note" or f.severity == "warning"]
    lines: list[str] = []
    for finding in shown:
        lines += [*_finding(finding), ""]
    if not shown:
        lines += [explanation.nothing, ""]
    hidden = [f for f in explanation.findings if f not in shown]
    lines += [f"- note **{note.rule}**: {_text(note.title)}" for note in hidden[:20]]
    lines += [f"- not read: {_text(problem)}" for problem in explanation.problems[:20]]
    return "\n".join(lines).rstrip() + "\n"


def _text(text: str) -> str:
    """Return text as a paragraph shows it; what our sentences put between backticks is code."""
    plain = without_names(clean(text))
    plain = plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " ..."
    pieces, at = [], 0
    for span in _SPAN.finditer(plain):
        pieces += [_escaped(plain[at : span.start()]), _code(span[1] or span[2])]
        at = span.end()
    return "".join([*pieces, _escaped(plain[at:])])


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """Return text as inline code; the fence is longer than any run of backticks in it."""
    plain = without_names(clean(text)).strip()
    plain = plain if len(plain) <= _LONGEST else plain[:_LONGEST] + " ..."
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") or not plain else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _place(place: Place | None, names: ShortNames) -> str:
    return _code(f"{names.name(place.source)}:{place.line}") if place is not None else ""


def _finding(finding: Finding) -> Iterator[str]:
    names = ShortNames([k.place.source for k in (*finding.chain, *finding.consequences) if k.place])
    rank = f", rank {finding.rank}" if finding.rank is not None else ""
    yield f"### {finding.severity} {finding.rule}: {_text(finding.title)}"
    yield ""
    yield f"_{_text(confidence_line(finding))}{rank}_"
    yield ""
    for number, link in enumerate(finding.chain, 1):
        sure = "" if link.strength is Confidence.PROVEN else f" ({link.strength})"
        yield f"{number}. **{_text(link.step)}**{sure} {_place(link.place, names)} {_code(link.text)}"
        yield from _details(link, names, " " * len(f"{number}. "))
    if finding.chain:
        yield ""
    yield from _reasons(finding, names)
    yield from (f"- note: {_text(names.within(note))}" for note in finding.notes)
    yield from _following(finding, names)
    for missing in finding.missing:
        how = f" To have it: {_text(missing.how_to_record)}" if missing.how_to_record != "-" else ""
        yield f"- missing: {_text(missing.what)}.{how}"
    yield from _experiments(finding, names)
    yield from (f"- **fix**: {_text(fix)}" for fix in finding.fixes)
    for short, whole in names.legend():
        yield f"- {_code(short)} is {_code(whole)}"


def _details(link: Link, names: ShortNames, inset: str) -> Iterator[str]:
    shown = [without_names(clean(names.within(d))) for d in link.details if d]
    if shown:
        fence = "`" * max(3, 1 + max(len(run) for run in ["", *re.findall("`+", "\n".join(shown))]))
        yield f"{inset}{fence}text"
        yield from (inset + (d if len(d) <= _LONGEST else d[:_LONGEST] + " ...") for d in shown)
        yield f"{inset}{fence}"


def _reasons(finding: Finding, names: ShortNames) -> Iterator[str]:
    several = len(finding.verdicts) > 1 and finding.confidence in {Confidence.POSSIBLE, Confidence.UNKNOWN}
    for verdict in finding.verdicts:
        inset = ""
        if several:
            yield f"- possible cause **{verdict.code}**: {_text(verdict.title)}"
            inset = "  "
        elif verdict is not finding.verdicts[0]:
            yield f"- also {verdict.confidence}, **{verdict.code}**: {_text(verdict.title)}"
            inset = "  "
        yield from (f"{inset}- because {_text(names.within(b))}" for b in verdict.because)
        yield from (f"{inset}- to decide: {_text(names.within(d))}" for d in verdict.decide)


def _following(finding: Finding, names: ShortNames) -> Iterator[str]:
    for link in finding.consequences[:_FOLLOWING]:
        yield f"- {STEPS.get(link.step, FOLLOWS)}: {_code(link.text)} {_place(link.place, names)}".rstrip()
    if len(finding.consequences) > _FOLLOWING:
        yield f"- and {len(finding.consequences) - _FOLLOWING:,} more"


def _experiments(finding: Finding, names: ShortNames) -> Iterator[str]:
    for number, experiment in enumerate(finding.experiments):
        run = experiment.takes_effect == "run"
        effect = "takes effect in a new process, no recompile" if run else "takes effect when compiling"
        head = f"- **{'then' if number else 'next'}**: "
        if experiment.change:
            yield f"{head}{CHANGE}: {_code(experiment.change)}"
            head = f"  - {RUN}: "
        yield f"{head}{_code(experiment.line)}, {effect}: {_text(experiment.why)}"
        if experiment.care:
            yield f"  - care: {_text(names.within(experiment.care))}"
