"""The screen of a checkup: what is at hand, then what is missing with the line that records it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.names import ShortNames
from aoti_logs.render.safe import clean
from aoti_logs.rules.checkup import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.rules.checkup import Checkup, EvidenceKind

_EFFECT = {
    "run": "in a new process, no recompile",
    "compile": "when compiling: the model has to be compiled again",
}
_COSTS = ("now", "run", "compile")
_LOGS = 20
_LONGEST = 300
_LONGEST_COMMAND = 4000


def render_checkup(checkup: Checkup) -> str:
    """Write the whole screen."""
    names = ShortNames([e.place.source for e in checkup.evidence if e.place is not None])
    lines = [checkup.about]
    if checkup.command is not None:
        lines.append(f"command: {_cut(checkup.command)}")
    lines += [
        f"torch: {version} ({names.name(source) or source})"
        for source, version in list(checkup.versions.items())[:5]
    ]
    lines.append("")
    for title, state in (("at hand", State.HERE), ("in part", State.PARTLY), ("missing", State.MISSING)):
        found = sorted((e for e in checkup.evidence if e.state is state), key=_cost)
        if found:
            lines += [f"{title}:", *_group(found, names), ""]
    unneeded = [e for e in checkup.evidence if e.state is State.NOT_NEEDED]
    if unneeded:
        lines += [f"not needed here: {'; '.join(f'{e.kind} ({e.found})' for e in unneeded)}", ""]
    lines += _logs(checkup)
    lines += [f"not read: {problem}" for problem in checkup.problems[:10]]
    if len(checkup.problems) > 10:
        lines.append(f"not read: and {len(checkup.problems) - 10} more")
    return "\n".join(clean(line).rstrip() for line in lines).rstrip() + "\n"


def _cost(one: EvidenceKind) -> int:
    """Order by what recording it takes: nothing, a run, a compile."""
    return _COSTS.index(one.recording.takes_effect) if one.recording is not None else 0


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def _group(found: Sequence[EvidenceKind], names: ShortNames) -> Iterator[str]:
    width = max(len(e.kind) for e in found)
    for one in found:
        place = f" ({names.name(one.place.source)}:{one.place.line})" if one.place is not None else ""
        yield f"  {one.kind:<{width}}  {_cut(one.found)}{place}"
        if one.state is State.HERE:
            continue
        inset = " " * (width + 4)
        yield f"{inset}would tell {one.allows}"
        if one.recording is not None:
            line = one.recording.line[:_LONGEST_COMMAND]  # cut, it could not be typed
            yield f"{inset}{f'$ {line}' if one.recording.typed else line}"
            if one.recording.takes_effect != "now":
                yield f"{inset}takes effect {_EFFECT[one.recording.takes_effect]}"
            if one.recording.care:
                yield f"{inset}care: {one.recording.care}"


def _logs(checkup: Checkup) -> Iterator[str]:
    for log in checkup.logs[:_LOGS]:
        place = f", the first at line {log.first.line}" if log.first is not None else ""
        rest = f"; {log.unparsed_bytes:,} bytes no reader knows{place}" if log.unparsed_bytes else ""
        yield f"log {log.source}: {log.share:.1%} of {log.bytes:,} bytes understood{rest}"
        yield from (f"    {doubt}" for doubt in log.doubts)
    if len(checkup.logs) > _LOGS:
        yield f"and {len(checkup.logs) - _LOGS} more logs"
