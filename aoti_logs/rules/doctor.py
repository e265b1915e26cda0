"""Looks at everything of a run that is at hand, and says what more there could be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.code.packages.package import Form
from aoti_logs.commands import joined
from aoti_logs.parse.logs.count_bytes import count_bytes
from aoti_logs.rules.checkup import Checkup, Understood
from aoti_logs.rules.checkup_code import of_code
from aoti_logs.rules.checkup_logs import counted, of_logs
from aoti_logs.rules.checkup_run import RunFacts
from aoti_logs.sources.source import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents
    from aoti_logs.rules.checkup import EvidenceKind
    from aoti_logs.sources.source import Source


def checkup(
    files: Sequence[Source],
    logs: Sequence[tuple[Source, LogEvents]],
    evidence: Evidence,
    problems: Sequence[str],
) -> Checkup:
    """Return what is at hand of a run.

    Args:
        files: what was read.
        logs: the logs that are asked about, with what is in them.
        evidence: all that is at hand.
        problems: what could not be read.
    """
    run = RunFacts(tuple(files), tuple(logs), evidence)
    command = run.run_command
    return Checkup(
        inputs=tuple(s.name for s in files if s.asked and s.role is Role.SUBJECT),
        about=run.about,
        command=None if command is None else command.shown.text,
        evidence=tuple(_as_shown(run, e) for e in (*of_logs(run), *of_code(run))),
        logs=tuple(_understood(source, events) for source, events in run.logs),
        versions=dict(_versions(run)),
        problems=(*problems, *_torn(run)),
    )


def _as_shown(run: RunFacts, one: EvidenceKind) -> EvidenceKind:
    """Put the environment that the log shows before the command that it shows."""
    recording = one.recording
    if recording is None or not recording.typed:
        return one
    shown = run.run_command.shown if run.run_command is not None else None
    if recording.takes_effect == "compile":
        shown = run.compile_command
    env = joined(shown.env if shown is not None else (), recording.env)
    return replace(one, recording=replace(recording, env=env))


def _understood(source: Source, events: LogEvents) -> Understood:
    unparsed = sum(u.span.end - u.span.start for u in events.unparsed)
    doubts = (
        [counted(len(source.problems), "problem") + f" while reading: {source.problems[0]}"]
        if source.problems
        else []
    )
    if source.size and bytes(source.data[source.size - 1 : source.size]) not in {b"\n", b"\r"}:
        doubts.append("its last line has no end: it may be cut off")
    nul = count_bytes(source.data, b"\0")
    if nul:
        doubts.append(f"it holds {counted(nul, 'NUL byte')}: grep takes it for binary without -a")
    torn = [d for d in events.dumps if not d.complete]
    if torn:
        doubts.append(f"{counted(len(torn), 'printed value')} ends early")
    first = events.unparsed[0].span.place if events.unparsed else None
    return Understood(source.name, source.size, unparsed, first, tuple(doubts))


def _versions(run: RunFacts) -> Iterator[tuple[str, str]]:
    from aoti_logs.parse.traces.summary import summary

    for trace in run.evidence.traces[:20]:
        version = summary(trace).torch_version
        if version:
            yield trace.source.name, version
    packages = run.evidence.packages
    for package in [p for p in packages if p.form is not Form.FILES] or packages:
        for model in package.models:
            told = package.torch(model)
            if told.exact is not None:
                yield package.name, told.exact
            elif told.at_least is not None:
                yield (
                    package.name,
                    f"{told.at_least} or later" + (f", older than {told.below}" if told.below else ""),
                )
            elif told.below is not None:
                yield package.name, f"older than {told.below}"


def _torn(run: RunFacts) -> Iterator[str]:
    for trace in run.evidence.traces:
        if trace.unparsed:
            number = counted(len(trace.unparsed), "part")
            yield f"{trace.source.name}: {number} of the trace belong to no record"
