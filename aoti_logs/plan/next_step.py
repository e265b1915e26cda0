"""What a screen names to run next is the first step of the ladder, built on the commands that logs show."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_logs.commands import COMPILES, SAME_COMMAND, Shown
from aoti_logs.explain import Experiment
from aoti_logs.plan import ladder_of, settled, stands_for
from aoti_logs.plan.situation import situation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aoti_logs.explain import Finding
    from aoti_logs.ladder import Step
    from aoti_logs.plan.ran import Ran
    from aoti_logs.plan.situation import Situation

_FEW = 2
_READS = "aoti-logs "
_DEBUGGED = " --args "
_APART = re.compile(r"[;:]\s+\Z")
"""A shell's or a reader's border: variables that stand before it do not reach the command behind it."""


def with_next(finding: Finding, run: Ran) -> Finding:
    """Return a finding whose experiments are typed as the shown commands need it, the first step of its ladder first.

    Where a rule names none, that step is named, unless the cause is known and there is nothing to decide.
    """
    if not finding.experiments and (finding.role != "cause" or settled(finding)):
        return finding
    situation = situation_of(finding, run)
    finding = replace(finding, experiments=tuple(typed(e, situation) for e in finding.experiments))
    steps = ladder_of(finding, run, situation).steps
    if finding.role != "cause" or not steps:
        return finding
    told = [_told(e, steps, situation) for e in finding.experiments]
    first = next((n for n, e in enumerate(finding.experiments) if stands_for(steps[0], e)), None)
    own = _experiment(steps[0], situation) if first is None else told.pop(first)
    leading = [own]
    if own.command.startswith(_READS) and len(steps) > 1 and not any(stands_for(steps[1], e) for e in told):
        leading.append(
            _experiment(steps[1], situation)
        )  # who has the files no longer needs the first real step
    return replace(finding, experiments=(*leading, *told))


def _told(experiment: Experiment, steps: Sequence[Step], situation: Situation) -> Experiment:
    """Return what a rule names as the ladder tells it; what the ladder has not stays as it is."""
    step = next((s for s in steps if stands_for(s, experiment)), None)
    if step is None:
        return experiment
    own = _as_in_step(experiment, step, situation)
    return replace(own, why=_conditional(own.why, step))


def _as_in_step(experiment: Experiment, step: Step, situation: Situation) -> Experiment:
    """Return what a rule names with the commands of the step, where these are two, or one that needs no word beside it."""
    if sum(c.phase != "read" for c in step.commands) < 2 and "#" not in experiment.command:
        return experiment
    own = _experiment(step, situation)
    return replace(experiment, command=own.command, env=own.env, kept=own.kept)


def typed(experiment: Experiment, situation: Situation) -> Experiment:
    """Put the commands that logs show in place of words, each with the variables that are set before it there."""
    run, compiled = situation.shown, situation.compile
    if compiled is None and situation.compiles:
        compiled = run
    text, kept = experiment.command, experiment.kept
    if compiled is not None and COMPILES in text:
        before, _, after = text.partition(COMPILES)
        for again in (SAME_COMMAND, run.text) if run is not None and compiled == run else ():
            after = after.removeprefix(f" && {again}")  # one command compiles and runs: once is enough
        text, kept = f"{before}{compiled.text}{_with_variables(after, run)}", compiled.env
    elif COMPILES in text:
        before, _, after = text.partition(COMPILES)
        text = f"{before}{COMPILES}{_with_variables(after, run)}"
    elif run is not None and (SAME_COMMAND in text or run.text in text):
        text = text.replace(SAME_COMMAND, run.text)
        if _APART.search(text[: text.find(run.text)]):
            text = text.replace(run.text, run.line(experiment.env), 1)
        else:
            kept = run.env
    elif run is not None and _DEBUGGED in text:
        kept = run.env  # a program that the shown command starts: it inherits the variables
    return replace(experiment, command=text, kept=kept)


def _with_variables(text: str, run: Shown | None) -> str:
    """Return the part behind the compile, with the variables of the run before its command."""
    if run is None:
        return text
    return text.replace(SAME_COMMAND, run.text).replace(run.text, run.line(), 1)


def _conditional(why: str, step: Step) -> str:
    """Say first what is not known and has to be so for a step to help."""
    return f"if {' and '.join(step.only_if)}: {why}" if step.only_if else why


def _experiment(step: Step, situation: Situation) -> Experiment:
    """Return a step of a ladder as a rule would name it."""
    first, *others = (c for c in step.commands if c.phase != "read")
    base = situation.compile if first.phase == "compile" and not situation.compiles else situation.shown
    kept = base.env if first.shown and base is not None else ()
    seen = [f". If {o.seen}: {o.means}" for o in step.outcomes if o.means]
    tells = f"it tells {step.tells}" + ("".join(seen) if len(seen) <= _FEW else "")
    return Experiment(
        " && ".join(
            [f"{first.before}; {first.line}" if first.before else first.text, *(c.line for c in others)]
        ),
        () if first.before else tuple(pair for pair in first.env if pair not in kept),
        "compile" if step.recompile else "run",
        _conditional(tells, step),
        f"{step.when}; {step.proof}",
        step.misleads[0] if step.misleads else None,
        () if first.before else kept,
        first.change,
    )
