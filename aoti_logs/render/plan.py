"""The ladder of experiments as a screen: one numbered step after the other, what is done already behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_logs.render.safe import clean
from aoti_logs.render.text import asked_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aoti_logs.explain import Explanation
    from aoti_logs.ladder import Ladder, Outcome, Step

_LONGEST = 600


def render_plans(explanation: Explanation) -> str:
    """Write the ladder of each cause."""
    lines: list[str] = []
    for finding in explanation.findings:
        if finding.role != "cause":
            continue
        rank = f"    rank {finding.rank}" if finding.rank is not None else ""
        log = f"    {finding.log}" if finding.log and len(explanation.inputs) > 1 else ""
        lines.append(f"plan for {finding.severity}[{finding.rule}]: {_cut(finding.title)}")
        lines.append(f"  {finding.confidence}{rank}{log}")
        lines += [*_ladder(explanation.plan(finding), decided=finding.confidence == "proven"), ""]
    if not lines:
        lines += _nothing(explanation)
    for problem in explanation.problems[:10]:
        lines.append(f"not read: {problem}")
    return "\n".join(map(clean, lines)).rstrip() + "\n"


def _nothing(explanation: Explanation) -> Iterator[str]:
    """Say why there is no ladder: no failure was found, which is not that nothing failed."""
    warnings = [f for f in explanation.findings if f.severity == "warning"]
    for warning in warnings:
        yield f"{warning.severity}[{warning.rule}]: {_cut(warning.title)}"
        for number, experiment in enumerate(warning.experiments, 1):
            yield from map(clean, asked_lines(experiment, f"{number:2}."))
            yield f"    {'tells:':<11}{_cut(experiment.why)}"
        if not warning.experiments:
            yield "  no experiment is known for this warning"
        for missing in warning.missing:
            yield f"  missing: {_cut(missing.what)}; to have it: {_cut(missing.how_to_record)}"
    if not warnings:
        yield "no failure was found, so there is nothing to plan"


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."


def _ladder(ladder: Ladder, *, decided: bool) -> Iterator[str]:
    if ladder.open:
        yield f"  explanations that are left: {', '.join(ladder.open)}"
    yield ""
    for number, step in enumerate(ladder.steps, 1):
        yield from _step(number, step)
        yield ""
    if not ladder.steps:
        yield (
            "  the cause is proven: no experiment is left"
            if decided
            else "  no experiment is known that decides more"
        )
        yield ""
    for done in ladder.done:
        where = f" ({done.place})" if done.place else ""
        yield f"  done: {_cut(done.name)}: {_cut(done.because)}{where}"


def _step(number: int, step: Step) -> Iterator[str]:
    only = f" (if {' and '.join(step.only_if)})" if step.only_if else ""
    yield f"{number:2}. {_cut(step.name)}{only}"
    for command in step.commands:
        head = {"compile": "compile:", "run": "run:", "read": "then read:"}[command.phase]
        if command.change:
            yield f"    {'change:':<11}{clean(command.change)}"
        # A command is never cut: half of one is worse than a long line.
        yield f"    {head:<11}{clean(command.line)}"
    effect = {
        "run": "takes effect in a new process, no recompile",
        "load": "takes effect when the package is loaded, no recompile",
        "compile": "takes effect when compiling: the model has to be compiled again",
    }[step.takes_effect]
    when = "" if step.when in effect else f"; {_cut(step.when)}"
    yield f"    {'effect:':<11}{effect}{when}"
    yield f"    {'tells:':<11}{_cut(step.tells)}"
    for at, outcome in enumerate(step.outcomes):
        yield f"    {'decides:' if at == 0 else '':<11}{_outcome(outcome)}"
    yield f"    {'cost:':<11}{_cut(step.cost)}"
    for at, care in enumerate(step.misleads):
        yield f"    {'care:' if at == 0 else '':<11}{_cut(care)}"
    yield f"    {'proof:':<11}{_cut(step.proof)}"


def _outcome(outcome: Outcome) -> str:
    parts = [outcome.means] if outcome.means else []
    parts += [f"proves {' or '.join(outcome.proves)}"] if outcome.proves else []
    parts += [f"excludes {', '.join(outcome.excludes)}"] if outcome.excludes else []
    return f"{_cut(outcome.seen)} -> {_cut('; '.join(parts))}"
