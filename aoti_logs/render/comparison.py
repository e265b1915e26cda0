"""Two runs side by side: what is the same, what differs, and the lines that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.safe import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Finding, Link
    from aoti_logs.rules.comparison import Comparison, Difference, Pair

_LONGEST = 200
_MOST = 20


def render_comparison(comparison: Comparison) -> str:
    """Write the screen."""
    lines = [_headline(comparison), f"  A  {comparison.names[0]}", f"  B  {comparison.names[1]}", ""]
    for pair in comparison.pairs[:_MOST]:
        lines += [*_pair(pair), ""]
    for letter, findings in (("A", comparison.only_first), ("B", comparison.only_second)):
        lines += [f"only in {letter}: {_told(f)}" for f in findings[:_MOST]]
        if len(findings) > _MOST:
            lines.append(f"only in {letter}: and {len(findings) - _MOST} more")
    return "\n".join(map(clean, lines)).rstrip() + "\n"


def _headline(comparison: Comparison) -> str:
    if comparison.likeness == "alike but for":
        return f"the runs failed alike but for: {comparison.why}"
    if comparison.likeness == "alike":
        return f"the runs failed alike: {comparison.why}"
    if comparison.likeness == "unlike":
        return f"the runs did not fail alike: {comparison.why}"
    return f"the runs are not known to have failed alike: {comparison.why}"


def _pair(pair: Pair) -> Iterator[str]:
    yield f"{pair.likeness}: {_cut(pair.why)}"
    yield f"  A  {_told(pair.first)}"
    yield f"  B  {_told(pair.second)}"
    if pair.same:
        yield f"  the same: {', '.join(pair.same)}"
    rows = [*pair.other, *pair.differences][:_MOST]
    for number, row in enumerate(rows):
        yield f"  {'differs:' if number == 0 else '        '}  {_row(row)}"
    for letter, links in zip("AB", pair.shown, strict=True):
        for number, link in enumerate(links):
            yield f"  {'shown by:' if (letter, number) == ('A', 0) else '         '} {letter}  {_link(link)}"


def _row(row: Difference) -> str:
    name = row.name if row.what in {"signature", row.name} else f"{row.what} ({row.name})"
    return f"{name}: {_cut(row.first)} | {_cut(row.second)}"


def _link(link: Link) -> str:
    return f"{link.step:<10} {link.place or '-'}  {_cut(link.text)}"


def _told(finding: Finding) -> str:
    rank = f", rank {finding.rank}" if finding.rank is not None else ""
    signature = finding.facts.get("signature")
    return f"{finding.severity}[{finding.rule}]: {_cut(finding.title)} ({finding.confidence}{rank}; signature {signature or 'not known'})"


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
