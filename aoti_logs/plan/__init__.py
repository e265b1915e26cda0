"""The ladder of experiments for a failure: each family of failures is a table of rungs in a module of its own."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

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
_DECIDED = ("index", "package")
"""Families in which a proven finding leaves nothing to decide."""
YOURS = "<your command>"
COMPILES = "<the command that compiles the model>"


def family_of(rule: str) -> str | None:
    """Return the family of a rule's failures; None for a rule that belongs to none."""
    number = int(rule[2:])
    return next((name for name, parts in FAMILIES.items() if any(number in p for p in parts)), None)


def rungs_of(family: str) -> tuple[Rung, ...]:
    """Return the rungs of a family, the cheapest and least invasive first."""
    module = import_module(f"aoti_logs.plan.{'device' if family == 'memory' else family}")
    found: tuple[Rung, ...] = module.MEMORY if family == "memory" else module.RUNGS
    return found


def ladder_of(finding: Finding, run: Ran) -> Ladder:
    """Return what to run next, and after that; steps whose evidence is there are named as done."""
    family = family_of(finding.rule)
    sure = finding.confidence in {Confidence.PROVEN, Confidence.LIKELY}
    left = tuple(v.code for v in finding.verdicts) if len(finding.verdicts) > 1 and not sure else ()
    decided = family in _DECIDED and finding.confidence is Confidence.PROVEN
    if finding.role != "cause" or (decided and not finding.experiments):
        return Ladder(left)
    situation = situation_of(finding, run)
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
        if not decided or any(_stands_for(step, e) for e in finding.experiments):
            steps.append(step)
    return Ladder(left, (*_with_own(steps, spare, finding, situation),), tuple(done.values()))


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
    """Return the outcomes that decide something about what is left; all of them where rules name no rest."""
    if not left:
        return tuple(outcomes)
    found = []
    for outcome in outcomes:
        kept = replace(
            outcome,
            proves=tuple(c for c in outcome.proves if c in left),
            excludes=tuple(c for c in outcome.excludes if c in left),
        )
        if kept.proves or kept.excludes or not (outcome.proves or outcome.excludes):
            found.append(kept)
    return tuple(found)


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
        rung.misleads,
        tuple(
            words for need, words in _UNKNOWN.items() if need in rung.needs and need not in situation.traits
        ),
    )


def _commands(rung: Rung, situation: Situation) -> Iterator[Command]:
    env = tuple((k, _filled(v, situation)) for k, v in rung.env)
    known = situation.command is not None
    again = situation.command or YOURS
    compiling = rung.effect == "compile"
    if "{command}" not in rung.form:
        text = _filled(rung.form, situation)
        known = situation.command is not None and "{logged}" in rung.form and "<" not in text
        yield Command(
            "compile" if compiling else "run", text, _joined(situation, env) if known else env, known
        )
    elif not compiling:
        text = rung.form.replace("{command}", again)
        yield Command("run", text, _joined(situation, env), known, rung.before)
    elif situation.compiles:
        whole = _joined(situation, (*env, *rung.run_env))
        yield Command("compile", rung.form.replace("{command}", again), whole, known, rung.before)
    else:
        yield Command("compile", rung.form.replace("{command}", COMPILES), env, before=rung.before)
        if rung.rerun:
            yield Command("run", again, _joined(situation, rung.run_env), known)
    if rung.read is not None:
        yield Command("read", rung.read)


def _joined(situation: Situation, env: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the variables of the shown command with those of a step; what TORCH_LOGS names is added up."""
    found = dict(situation.env)
    for name, value in env:
        before = found.get(name, "").split(",") if name == "TORCH_LOGS" else []
        found[name] = ",".join(dict.fromkeys([*filter(None, before), *value.split(",")])) if before else value
    return tuple(found.items())


def _with_own(steps: list[Step], spare: list[Step], finding: Finding, situation: Situation) -> list[Step]:
    """Put in the experiments that the rule itself names: as the spare step that stands for it, else in its own words."""
    for experiment in finding.experiments:
        same = next((n for n, step in enumerate(steps) if _stands_for(step, experiment)), None)
        if same is not None:
            steps[same] = _as_told(steps[same], experiment)
            continue
        own = next((s for s in spare if _stands_for(s, experiment)), None) or _own(experiment, situation)
        at = next((n for n, s in enumerate(steps) if own.takes_effect == "run" and s.recompile), len(steps))
        steps.insert(0 if experiment is finding.experiments[0] else at, own)
    first = next((s for s in steps if finding.experiments and _stands_for(s, finding.experiments[0])), None)
    if first is not None:
        # The rule knows the case best: of steps that ask for as much, the one that it names first leads.
        steps.remove(first)
        steps.insert(
            next((n for n, s in enumerate(steps) if s.recompile == first.recompile), len(steps)), first
        )
    return steps


def _as_told(step: Step, experiment: Experiment) -> Step:
    """Return a step with the command that the rule names, where it knows more of the log than its first line."""
    own = experiment.command
    if experiment.env or any(word in own for word in ("COMMAND", "<", "#", "export")):
        return step
    first, *others = step.commands
    return replace(
        step, commands=(replace(first, text=own.removeprefix(f"{first.before}; "), shown=True), *others)
    )


def _stands_for(step: Step, experiment: Experiment) -> bool:
    """Tell whether a step is what a rule names: the same variables, or the same program."""
    if not experiment.env:
        programs = {(c.before or c.text).split(" ")[0] for c in step.commands}
        return experiment.command.split(" ")[0] in programs or step.name in experiment.command
    # What is switched on when compiling and what is set for the run are two commands of one step.
    return all(any(_same(n, v, dict(c.env).get(n)) for c in step.commands) for n, v in experiment.env)


def _same(name: str, wanted: str, given: str | None) -> bool:
    """Tell whether a value does what is wanted: paths and numbers are free, modes and names of logs are not."""
    if given is None:
        return False
    if name == "TORCH_LOGS":
        return {w.lstrip("+") for w in wanted.split(",")} <= {w.lstrip("+") for w in given.split(",")}
    return name not in _MODES or wanted == given


def _own(experiment: Experiment, situation: Situation) -> Step:
    compiling = experiment.takes_effect == "compile"
    shown = situation.command is not None and situation.command in experiment.command
    return Step(
        "=".join(experiment.env[0]) if experiment.env else experiment.command.split(" ")[0],
        experiment.why,
        (Command("compile" if compiling else "run", experiment.command, experiment.env, shown),),
        experiment.takes_effect,
        compiling,
        "when compiling" if compiling else "in a new process",
        "one more compile" if compiling else "one more run",
        experiment.proof,
        (),
        (experiment.care,) if experiment.care else (),
    )
