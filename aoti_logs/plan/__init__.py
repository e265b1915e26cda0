"""The ladder of experiments for a failure: each family of failures is a table of rungs in a module of its own."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from textwrap import shorten
from typing import TYPE_CHECKING

from aoti_logs.commands import COMPILES, SAME_COMMAND, Shown, joined
from aoti_logs.explain import Confidence
from aoti_logs.ladder import Command, Done, Ladder, Outcome, Step
from aoti_logs.plan.situation import situation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aoti_logs.explain import Experiment, Finding
    from aoti_logs.plan.ran import Ran
    from aoti_logs.plan.rung import Rung
    from aoti_logs.plan.situation import Situation

FAMILIES = {
    "unexplained": (range(1, 2),),
    "index": (range(100, 109), range(110, 111)),
    "package": (range(201, 204), range(206, 218)),
    "shapes": (range(204, 205), range(500, 520), range(617, 618)),
    "device": (range(109, 110), range(301, 304), range(305, 310)),
    "memory": (range(304, 305),),
    "death": (range(310, 320),),
    "ranks": (range(320, 330),),
    "nans": (range(401, 405),),
    "numbers": (range(405, 410),),
    "compiling": (range(600, 617), range(618, 630)),
}
"""Which rules (by number) each family is about."""
_UNKNOWN = {
    "aoti": "the code is a model of AOTInductor",
    "jit": "torch.compile made the code",
    "cuda": "it ran on CUDA",
    "rocm": "it ran on ROCm",
    "gpu": "it ran on a GPU",
    "cpu": "it ran on the CPU",
}
"""What has to be so for a step, in words, where nothing tells."""
_MODES = {
    "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER",
    "AOTI_RUNTIME_CHECK_INPUTS",
    "TORCHDYNAMO_REPRO_AFTER",
}
_TOLD_BY_RULE = ("nans",)
"""Families in which a cheaper step than that of the rule tells of inputs only, and not where the failure is made."""
_DECIDED = ("index", "package")
"""Families in which a settled finding leaves nothing to decide."""
_TITLE = 70
_PROGRAM = "a change of the program"
"""What a step of a rule's own is called that changes the program."""


def family_of(rule: str) -> str | None:
    """Return the family of a rule's failures; None for a rule that belongs to none."""
    number = int(rule[2:])
    return next((name for name, parts in FAMILIES.items() if any(number in p for p in parts)), None)


def rungs_of(family: str) -> tuple[Rung, ...]:
    """Return the rungs of a family, the cheapest and least invasive first."""
    module = import_module(f"aoti_logs.plan.{'device' if family == 'memory' else family}")
    found: tuple[Rung, ...] = module.MEMORY if family == "memory" else module.RUNGS
    return found


def ladder_of(finding: Finding, run: Ran, situation: Situation | None = None) -> Ladder:
    """Return what to run next, and after that; steps whose evidence is there are named as done.

    Args:
        finding: the failure.
        run: its run.
        situation: what is known of it, where it is at hand already.
    """
    family = family_of(finding.rule)
    sure = finding.confidence in {Confidence.PROVEN, Confidence.LIKELY}
    left = tuple(v.code for v in finding.verdicts) if len(finding.verdicts) > 1 and not sure else ()
    decided = family in _DECIDED and settled(finding)
    if finding.role != "cause" or (decided and not finding.experiments):
        return Ladder(left)
    situation = situation or situation_of(finding, run)
    steps: list[Step] = []
    spare: list[Step] = []
    done: dict[str, Done] = {}
    for rung in rungs_of(family) if family is not None else ():
        if not _helps(rung, situation):
            continue
        if rung.has is not None and rung.has in situation.evidence:
            because, place = situation.evidence[rung.has]
            done.setdefault(rung.has, Done(_filled(rung.name, situation), because, place))
            continue
        outcomes = _outcomes(rung.outcomes, left)
        if rung.outcomes and not outcomes and not rung.always:
            spare.append(_step(rung, (), situation))
            continue
        step = _step(rung, rung.outcomes if rung.always else outcomes, situation)
        if not decided or any(stands_for(step, e) for e in finding.experiments):
            steps.append(step)
    return Ladder(left, (*_with_own(steps, spare, finding, situation),), tuple(done.values()))


def settled(finding: Finding) -> bool:
    """Tell whether nothing is left to decide: the cause is proven, or it is the only one that fits and has a fix."""
    likely = finding.confidence is Confidence.LIKELY and len(finding.verdicts) == 1 and bool(finding.fixes)
    return finding.confidence is Confidence.PROVEN or likely


def _helps(rung: Rung, situation: Situation) -> bool:
    if any(situation.traits.get(need) is False for need in rung.needs):
        return False
    text = "".join([rung.tells, *(v for _, v in rung.env)])
    if any(f"{{{word}}}" in text and word not in situation.words for word in ("kernels", "symbols", "guard")):
        return False
    releases = situation.releases
    if releases.before(rung.since):
        return False
    # A newer and an older form of one step: the newer one is meant, unless the code is known to be older.
    return rung.below is None or releases.before(rung.below)


def _outcomes(outcomes: Sequence[Outcome], left: Sequence[str]) -> tuple[Outcome, ...]:
    """Return the outcomes that can be seen with what is left, none where none decides; all where rules name no rest."""
    if not left:
        return tuple(outcomes)
    found = []
    for outcome in outcomes:
        kept = replace(
            outcome,
            proves=tuple(c for c in outcome.proves if c in left),
            excludes=tuple(c for c in outcome.excludes if c in left),
        )
        if kept.proves or not outcome.proves:
            # What only excludes something else may be seen all the same: its meaning is said beside the others.
            found.append(kept)
    decides = any(k.proves or k.excludes for k in found)
    return tuple(found) if decides or not any(o.proves or o.excludes for o in outcomes) else ()


def _filled(text: str, situation: Situation) -> str:
    for word, value in situation.words.items():
        text = text.replace(f"{{{word}}}", value)
    return text


def _step(rung: Rung, outcomes: Sequence[Outcome], situation: Situation) -> Step:
    return Step(
        _filled(rung.name, situation),
        _filled(rung.tells, situation),
        tuple(_commands(rung, situation)),
        rung.effect,
        rung.effect == "compile",
        rung.when,
        rung.cost,
        rung.proof,
        tuple(outcomes),
        _misleads(rung, situation),
        tuple(
            words for need, words in _UNKNOWN.items() if need in rung.needs and need not in situation.traits
        ),
    )


def _misleads(rung: Rung, situation: Situation) -> tuple[str, ...]:
    if not rung.older or situation.releases.since((2, 7)):
        return rung.misleads
    first, *others = rung.misleads or ("",)
    return ("; ".join(filter(None, (rung.older, first))), *others)


def _commands(rung: Rung, situation: Situation) -> Iterator[Command]:
    env = tuple((k, _filled(v, situation)) for k, v in rung.env)
    change = _filled(rung.change, situation)
    again = situation.shown or Shown(SAME_COMMAND)
    known = situation.shown is not None
    compiling = rung.effect == "compile"
    if "{command}" not in rung.form:
        text = _filled(rung.form, situation)
        known = known and "{logged}" in rung.form and "<" not in text
        yield Command(
            "compile" if compiling else "run", text, joined(again.env, env) if known else env, known, sets=env
        )
    elif not compiling:
        text = rung.form.replace("{command}", again.text)
        yield Command("run", text, joined(again.env, env), known, rung.before, env, change)
    elif situation.compiles:
        env += rung.run_env
        text = rung.form.replace("{command}", again.text)
        yield Command("compile", text, joined(again.env, env), known, rung.before, env, change)
    else:
        first = situation.compile or Shown(COMPILES)
        text = rung.form.replace("{command}", first.text)
        found = situation.compile is not None
        yield Command("compile", text, joined(first.env, env), found, rung.before, env, change)
        if rung.rerun:
            yield Command("run", again.text, joined(again.env, rung.run_env), known, sets=rung.run_env)
    if rung.read is not None:
        yield Command("read", rung.read)


def _with_own(steps: list[Step], spare: list[Step], finding: Finding, situation: Situation) -> list[Step]:
    """Put in the experiments that the rule itself names: as the spare step that stands for it, else in its own words."""
    for experiment in finding.experiments:
        same = next((n for n, step in enumerate(steps) if stands_for(step, experiment)), None)
        if same is not None:
            steps[same] = _as_told(steps[same], experiment)
            continue
        own = next((s for s in spare if stands_for(s, experiment)), None) or _own(experiment, situation)
        at = next((n for n, s in enumerate(steps) if own.takes_effect == "run" and s.recompile), len(steps))
        steps.insert(0 if experiment is finding.experiments[0] else at, own)
    first = next((s for s in steps if finding.experiments and stands_for(s, finding.experiments[0])), None)
    if first is not None:
        # The rule knows the case best: of steps that ask for as much, the one that it names first leads.
        cost = 0 if family_of(finding.rule) in _TOLD_BY_RULE else _asks(first, situation)
        at = next(n for n, s in enumerate(steps) if s is first or _asks(s, situation) >= cost)
        steps.remove(first)
        steps.insert(at, first)
    return steps


def _asks(step: Step, situation: Situation) -> int:
    """Return what a step asks for: one more run, a compile that would not be made otherwise, a change of the program."""
    # What a rule itself asks to change is named for this failure, and worth more than it costs.
    changes = step.name != _PROGRAM and any(c.change for c in step.commands)
    if changes or any(c.text.startswith("<your ") for c in step.commands):
        return 2
    return int(step.recompile and not situation.compiles)


def _as_told(step: Step, experiment: Experiment) -> Step:
    """Return a step with the command that the rule names, where it knows more of the log than its first line."""
    first, *others = step.commands
    if experiment.env and not any(c.phase == "run" for c in others):
        told = dict(joined(experiment.kept, experiment.env))
        sets = tuple((dict(first.sets) | dict(experiment.env)).items())
        return replace(
            step, commands=(replace(first, env=(*(dict(first.env) | told).items(),), sets=sets), *others)
        )
    if (
        experiment.env
        or experiment.change
        or first.before
        or any(word in experiment.command for word in ("<", "#"))
    ):
        return step
    return replace(step, commands=(replace(first, text=experiment.command, shown=True), *others))


def stands_for(step: Step, experiment: Experiment) -> bool:
    """Tell whether a step is what a rule names: the same change, the same variables, or the same program."""
    changes = {c.change for c in step.commands if c.change}
    if experiment.change or changes:
        return experiment.change in changes
    if not experiment.env:
        programs = {(c.before or c.text).split(" ")[0] for c in step.commands if c.phase != "read"}
        return experiment.command.split(" ")[0] in programs or step.name in experiment.command
    if step.recompile and experiment.takes_effect == "run":
        return False  # variables of the run after a compile are not what the compile is made for
    # What is switched on when compiling and what is set for the run are two commands of one step.
    return all(any(_same(n, v, dict(c.sets).get(n)) for c in step.commands) for n, v in experiment.env)


def _same(name: str, wanted: str, given: str | None) -> bool:
    """Tell whether a value does what is wanted: paths and numbers are free, modes and names of logs are not."""
    if given is None:
        return False
    if name == "TORCH_LOGS":
        return {w.lstrip("+") for w in wanted.split(",")} <= {w.lstrip("+") for w in given.split(",")}
    return name not in _MODES or wanted == given


def _name(experiment: Experiment) -> str:
    if experiment.change:
        return _PROGRAM
    return "=".join(experiment.env[0]) if experiment.env else _title(experiment.command)


def _own(experiment: Experiment, situation: Situation) -> Step:
    compiling = experiment.takes_effect == "compile"
    shown = any(c is not None and c.text in experiment.command for c in (situation.shown, situation.compile))
    env = joined(experiment.kept, experiment.env)
    return Step(
        _name(experiment),
        experiment.why,
        (
            Command(
                "compile" if compiling else "run",
                experiment.command,
                env,
                shown,
                sets=experiment.env,
                change=experiment.change,
            ),
        ),
        experiment.takes_effect,
        compiling,
        "when compiling" if compiling else "in a new process",
        "one more compile"
        if compiling
        else "none"
        if experiment.command.startswith("aoti-logs ")
        else "one more run",
        experiment.proof,
        (),
        (experiment.care,) if experiment.care else (),
    )


def _title(command: str) -> str:
    """Name a step by its command, whole words of it."""
    return shorten(command, _TITLE, placeholder=" ...")
