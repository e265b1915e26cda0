"""The screen: plain text, as wide as it needs to be, colours only when a terminal asks for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aoti_logs.explain import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Explanation, Finding, Link

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LONGEST = 300


def clean(text: str) -> str:
    """Make text from a log safe for a terminal: no escape codes, no control or direction characters."""
    text = re.sub(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)", "", text)
    return _BIDI.sub("", _CONTROL.sub("\ufffd", text.replace("\t", "    ")))


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def render_text(explanation: Explanation, *, everything: bool = False) -> str:
    """Write the whole screen.

    Args:
        explanation: what to show.
        everything: also notes, and all links of later causes.
    """
    lines: list[str] = []
    shown = [f for f in explanation.findings if everything or f.role != "note"]
    several = len({f.log for f in shown}) > 1 or len(explanation.inputs) > 1
    log = None
    for finding in shown:
        if several and finding.log != log:
            log = finding.log
            lines += ["", f"==== {clean(log or '')}", ""] if lines else [f"==== {clean(log or '')}", ""]
        lines += [*_finding(finding, explanation), ""]
    if not shown:
        lines += [*_nothing(explanation), ""]
    hidden = len(explanation.findings) - len(shown)
    if hidden:
        lines.append(f"{hidden} more {'note' if hidden == 1 else 'notes'}: --all shows them")
    for problem in explanation.problems[:10]:
        lines.append(f"not read: {clean(problem)}")
    if len(explanation.problems) > 10:
        lines.append(f"not read: and {len(explanation.problems) - 10} more")
    return "\n".join(lines).rstrip() + "\n"


def _nothing(explanation: Explanation) -> Iterator[str]:
    count = len(explanation.inputs)
    yield f"no failure found in {count} {'source' if count == 1 else 'sources'}"
    if not count:
        yield "  nothing there is a log of a run; the files that were read are listed by `aoti-logs tables`"


def _finding(finding: Finding, explanation: Explanation) -> Iterator[str]:
    yield f"{finding.severity}[{finding.rule}]: {_cut(finding.title)}"
    yield f"  {_confidence(finding)}" + (f"    rank {finding.rank}" if finding.rank is not None else "")
    yield ""
    yield from _chain(finding.chain)
    if len(finding.verdicts) > 1:
        yield ""
        yield f"  {len(finding.verdicts)} causes fit:"
        for number, verdict in enumerate(finding.verdicts):
            letter = chr(ord("a") + number)
            yield f"   {letter}. {verdict.confidence}: {_cut(verdict.title)} [{verdict.code}]"
            for because in verdict.because:
                yield f"      because {_cut(because)}"
            for decide in verdict.decide:
                yield f"      to decide: {_cut(decide)}"
    else:
        for verdict in finding.verdicts:
            for because in verdict.because:
                yield f"  because {_cut(because)}"
            for decide in verdict.decide:
                yield f"  to decide: {_cut(decide)}"
    for note in finding.notes:
        yield f"  note: {_cut(note)}"
    if finding.consequences:
        texts = [
            f"{_cut(c.text)}{' (' + c.details[0] + ')' if c.details else ''} ({clean(str(c.place))})"
            for c in finding.consequences
        ]
        yield f"  follows from it: {texts[0]}"
        yield from (f"                   {t}" for t in texts[1:6])
        if len(texts) > 6:
            yield f"                   and {len(texts) - 6} more"
    for missing in finding.missing:
        yield f"  missing: {_cut(missing.what)}"
        if missing.how_to_record != "-":
            yield f"           to have it: {_cut(missing.how_to_record)}"
    for number, experiment in enumerate(finding.experiments):
        env = " ".join(f"{k}={v}" for k, v in experiment.env)
        head = "next:" if number == 0 else "then:"
        effect = (
            "takes effect in a new process, no recompile"
            if experiment.takes_effect == "run"
            else "takes effect when compiling"
        )
        yield f"{head} {env}  {_cut(experiment.command)}; {effect}"
        yield f"      {_cut(experiment.why)}"
        yield f"      proof: {_cut(experiment.proof)}"
        if experiment.care:
            yield f"      care: {_cut(experiment.care)}"
    for number, fix in enumerate(finding.fixes):
        yield f"{'fix: ' if number == 0 else '     '} {_cut(fix)}"


def _confidence(finding: Finding) -> str:
    proven = sum(link.strength is Confidence.PROVEN for link in finding.chain)
    links = f"{proven} of {len(finding.chain)} links are quoted from this run"
    if finding.confidence is Confidence.PROVEN:
        return f"proven: {links}"
    if finding.confidence is Confidence.LIKELY:
        return f"likely: {links}; one step rests on a name that fits"
    if finding.confidence is Confidence.POSSIBLE:
        return f"possible: {links}; what failed is certain, why is not decided"
    return f"unknown: {links}; the chain is broken"


_MARK = {Confidence.PROVEN: " ", Confidence.LIKELY: "~", Confidence.POSSIBLE: "?", Confidence.UNKNOWN: "!"}


def _chain(chain: Sequence[Link]) -> Iterator[str]:
    """Number the steps; a `?` or `~` before a place says that the link is not proven."""
    if not chain:
        return
    width = min(max((len(str(link.place)) for link in chain if link.place), default=0), 44)
    for number, link in enumerate(chain, 1):
        place = _short(str(link.place), width) if link.place else ""
        yield f"{number:2}{_MARK[link.strength]}{link.step:<10} {place:<{width}}  {_cut(link.text)}"
        for detail in link.details:
            if detail:
                inset = 16 if detail.lstrip().startswith("^") else 18
                yield f"{'':{inset + width}}{_cut(detail)}"


def _short(place: str, width: int) -> str:
    """Keep the end of a long path, where file and line stand."""
    place = clean(place)
    if len(place) <= width:
        return place
    head, _, line = place.rpartition(":")
    name = re.split(r"[/!#]", head)[-1]
    keep = width - len(line) - 4
    if len(name) > keep:
        stem = name[: max(keep - 14, 6)]
        name = f"{stem}..{name[-11:]}"
    return f"{name}:{line}"
