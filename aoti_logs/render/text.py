"""The screen: plain text, as wide as it needs to be, colours only when a terminal asks for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence
from aoti_logs.render.names import ShortNames
from aoti_logs.render.safe import clean
from aoti_logs.render.window import around, room, without_middle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from aoti_logs.explain import Experiment, Explanation, Finding, Link, Verdict

_LONGEST = 400
_LONGEST_COMMAND = 4000
_FOLLOWING = 6
_NOTES = 8
_CALL = 130
CHANGE, RUN = "change the program", "then run"
"""Heads of an experiment that is a change of the program and a command."""
FOLLOWS = "follows from it"
STEPS = {
    "again": "told again",
    "follows": FOLLOWS,
    "after": "printed after it",
    "before": "printed before it",
}
"""How later errors stand to the cause; `after` says that nothing tells whether they follow."""


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def _command(line: str) -> str:
    """Return a command whole: half of one cannot be typed."""
    line = clean(line)
    return line if len(line) <= _LONGEST_COMMAND else line[:_LONGEST_COMMAND] + " ..."


def render_text(
    explanation: Explanation, *, everything: bool = False, paths: Mapping[str, str] | None = None
) -> str:
    """Write the whole screen.

    Args:
        explanation: what to show.
        everything: also notes, and all links of later causes.
        paths: where the files lie, by the names that places give; without it the legend has these names.
    """
    only = explanation.inputs[0] if len(explanation.inputs) == 1 else None
    lines: list[str] = []
    shown = [f for f in explanation.findings if everything or f.role != "note" or f.severity == "warning"]
    several = len({f.log for f in shown}) > 1 or len(explanation.inputs) > 1
    log = None
    for finding in shown:
        if several and finding.log != log:
            log = finding.log
            lines += ["", f"==== {clean(log or '')}", ""] if lines else [f"==== {clean(log or '')}", ""]
        lines += [*finding_lines(finding, only, paths), ""]
    if not shown:
        lines += [*_nothing(explanation), ""]
    lines += hidden_lines([f for f in explanation.findings if f not in shown])
    lines += _summary(explanation)
    lines += problem_lines(explanation)
    return "\n".join(map(clean, lines)).rstrip() + "\n"


def problem_lines(explanation: Explanation) -> Iterator[str]:
    """Name what could not be read."""
    for problem in explanation.problems[:10]:
        yield f"not read: {clean(problem)}"
    if len(explanation.problems) > 10:
        yield f"not read: and {len(explanation.problems) - 10} more"


def hidden_lines(notes: Sequence[Finding]) -> Iterator[str]:
    """Name the notes that are not shown whole, one a line; what several logs say alike once."""
    alike: dict[str, int] = {}
    for note in notes:
        rank = f" (rank {note.rank})" if note.rank is not None else ""
        line = f"note[{note.rule}]: {_cut(note.title)}{rank}"
        alike[line] = alike.get(line, 0) + 1
    for line, count in list(alike.items())[:_NOTES]:
        yield f"{line} ({count} times)" if count > 1 else line
    if len(alike) > _NOTES:
        yield f"and {len(alike) - _NOTES} more notes"
    if notes:
        yield f"--all shows {'it' if len(notes) == 1 else 'them'} whole"


def _nothing(explanation: Explanation) -> Iterator[str]:
    count = len(explanation.inputs)
    if not count and any(f.rule == "AL701" for f in explanation.findings):
        yield "no log of a run is here, only generated code"
        return
    yield f"no failure found in {count} {'source' if count == 1 else 'sources'}"
    if not count:
        yield "  nothing there is a log of a run; the files that were read are listed by `aoti-logs tables`"

    for name, why in list(explanation.silent.items())[:_NOTES]:
        yield f"  {name}: {why}" if count > 1 else f"  {why}"


def _summary(explanation: Explanation) -> Iterator[str]:
    """Count the inputs of a folder: one that is not named above had no failure."""
    count, failed = len(explanation.inputs), len(explanation.failed_inputs)
    if count < 2 or not failed:
        return
    silent = sum(name not in explanation.failed_inputs for name in explanation.silent)
    rest = f"{count - failed - silent} without a failure"
    yield f"{count} logs and traces: {failed} failed, {rest}" + (
        f", {silent} that say nothing" if silent else ""
    )


def finding_lines(
    finding: Finding, only: str | None = None, paths: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Write one finding whole; `only` is the one file that was given, if it was one, `paths` where files lie."""
    places = [link.place.source for link in (*finding.chain, *finding.consequences) if link.place]
    names = ShortNames(places, only, paths)
    yield f"{finding.severity}[{finding.rule}]: {_cut(finding.title)}"
    yield f"  {confidence_line(finding)}" + (f"    rank {finding.rank}" if finding.rank is not None else "")
    yield ""
    yield from _chain(finding.chain, names)
    yield ""
    yield from _verdicts(finding, names)
    for note in finding.notes:
        yield f"  note: {_cut(names.within(note))}"
    yield from _consequences(finding, names)
    for missing in finding.missing:
        yield f"  missing: {_cut(missing.what)}"
        if missing.how_to_record != "-":
            yield f"           to have it: {_cut(missing.how_to_record)}"
    for number, experiment in enumerate(finding.experiments):
        run = experiment.takes_effect == "run"
        effect = "takes effect in a new process, no recompile" if run else "takes effect when compiling"
        yield from asked_lines(experiment, "next:" if number == 0 else "then:")
        yield f"      {effect}"
        yield f"      {_cut(experiment.why)}"
        yield f"      proof: {_cut(names.within(experiment.proof))}"
        if experiment.care:
            yield f"      care: {_cut(experiment.care)}"
    for number, fix in enumerate(finding.fixes):
        yield f"{'fix: ' if number == 0 else '     '} {_cut(fix)}"
    legend = names.legend()
    if legend:
        width = max(len(short) for short, _ in legend)
        for number, (short, whole) in enumerate(legend):
            yield f"{'files:' if number == 0 else '      '} {clean(short):<{width}}  {clean(whole)}"


def asked_lines(experiment: Experiment, head: str) -> Iterator[str]:
    """Write what an experiment asks for: words and a command never share a line, which somebody may paste."""
    if experiment.change:
        yield f"{head} {CHANGE}: {_cut(experiment.change)}"
        head = f"{' ' * len(head)} {RUN}:"
    yield f"{head} {_command(experiment.line)}"


def _verdicts(finding: Finding, names: ShortNames) -> Iterator[str]:
    """Write one sure cause with what else is sure, or all the causes that fit."""
    lead, others = finding.verdicts[:1], finding.verdicts[1:]
    if finding.confidence in {Confidence.PROVEN, Confidence.LIKELY} or not others:
        for verdict in lead:
            yield from _reasons(verdict, names, "  ")
        for verdict in others:
            yield f"  also {verdict.confidence}: {_cut(verdict.title)} [{verdict.code}]"
            yield from _reasons(verdict, names, "    ")
        return
    yield f"  {len(finding.verdicts)} known causes fit:"
    for number, verdict in enumerate(finding.verdicts):
        yield f"   {letter_of(number)}. {_cut(verdict.title)} [{verdict.code}]"
        for because in verdict.because:
            yield f"      because {_cut(names.within(because))}"
    lettered = deciding(finding.verdicts).items()
    yield from _deciding((f"{', '.join(of)}: {what}" for what, of in lettered), names, "  ")


def letter_of(number: int) -> str:
    """Return the letter of a cause of several: `a` is number 0."""
    return chr(ord("a") + number)


def deciding(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return what decides between several causes, each with the letters of those that it decides."""
    letters: dict[str, str] = {}
    for number, verdict in enumerate(verdicts):
        for decide in dict.fromkeys(verdict.decide):
            letters[decide] = letters.get(decide, "") + letter_of(number)
    return letters


def _deciding(what: Iterable[str], names: ShortNames, inset: str) -> Iterator[str]:
    for number, decide in enumerate(what):
        yield f"{inset}{'to decide:' if number == 0 else '          '} {_cut(names.within(decide))}"


def _reasons(verdict: Verdict, names: ShortNames, inset: str) -> Iterator[str]:
    for because in verdict.because:
        yield f"{inset}because {_cut(names.within(because))}"
    yield from _deciding(verdict.decide, names, inset)


def _consequences(finding: Finding, names: ShortNames) -> Iterator[str]:
    for words in STEPS.values():
        texts = [_following(k, names) for k in finding.consequences if STEPS.get(k.step, FOLLOWS) == words]
        head = f"  {words}: "
        for number, text in enumerate(texts[:_FOLLOWING]):
            yield f"{head if number == 0 else ' ' * len(head)}{text}"
        if len(texts) > _FOLLOWING:
            yield f"{' ' * len(head)}and {len(texts) - _FOLLOWING} more"


def _following(link: Link, names: ShortNames) -> str:
    again = f", {link.details[0]}" if link.details else ""
    place = f"{names.name(link.place.source)}:{link.place.line}" if link.place else ""
    text = link.text if len(link.text) <= _CALL else link.text[:_CALL] + " ..."
    return f"{_cut(text)} ({clean(place)}{again})"


def confidence_line(finding: Finding) -> str:
    """Say how sure a finding is, and how much of its chain is quoted."""
    proven = sum(link.strength is Confidence.PROVEN for link in finding.chain)
    of = "model" if finding.rule.startswith("AL7") else "run"
    links = f"{proven} of {len(finding.chain)} links are quoted from this {of}"
    doubt = _cut(finding.doubt) if finding.doubt else None
    return {
        Confidence.PROVEN: f"proven: {links}",
        Confidence.LIKELY: f"likely: {links}; {doubt or 'one step rests on a name that fits'}",
        Confidence.POSSIBLE: f"possible: {links}; {doubt or 'why it failed is not decided'}",
        Confidence.UNKNOWN: f"unknown: {links}; {doubt or 'the cause is not among them'}",
    }[finding.confidence]


_MARK = {Confidence.PROVEN: " ", Confidence.LIKELY: "~", Confidence.POSSIBLE: "?", Confidence.UNKNOWN: "!"}
_MEANS = {
    Confidence.LIKELY: "likely, it rests on a name that fits",
    Confidence.POSSIBLE: "possible, others fit as well",
    Confidence.UNKNOWN: "not known",
}
_CODE = re.compile(r"\d{1,9} \| ")


def _chain(chain: Sequence[Link], names: ShortNames) -> Iterator[str]:
    """Write the numbered steps; `?` or `~` behind a number says that the link is not proven, and a line below why."""
    places = [f"{names.name(k.place.source)}:{k.place.line}" if k.place else "" for k in chain]
    width = max(map(len, places), default=0)
    for number, (link, place) in enumerate(zip(chain, places, strict=True), 1):
        text, details = _cut(link.text), [names.within(d) for d in link.details if d]
        if details and details[0].lstrip().startswith("^"):
            text, details[0] = around(clean(link.text), clean(details[0]), room(width + 16))
        yield f"{number:2}{_MARK[link.strength]}{link.step:<10} {clean(place):<{width}}  {text}"
        for detail in details:
            if detail.lstrip().startswith("^"):
                yield " " * (width + 16) + detail
            else:
                yield " " * 14 + (
                    without_middle(clean(detail), room(14)) if _CODE.match(detail) else _cut(detail)
                )
    told = [link.strength for link in chain]
    marks = [f"{_MARK[how]} {what}" for how, what in _MEANS.items() if how in told]
    if marks:
        yield f"  behind a number: {'; '.join(marks)}"
