"""What a screen names to run next: the first step of the ladder, with the commands and variables that logs show."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.commands import COMPILES, SAME_COMMAND, Shown, joined, shell_line
from aoti_logs.explain import Experiment, Explanation
from aoti_logs.ladder import Command, Step
from aoti_logs.plan import stands_for
from aoti_logs.plan.next_step import typed
from aoti_logs.plan.situation import Situation

FIXTURES = Path(__file__).parent.parent / "fixtures"
ALL = sorted(p.parent.name for p in FIXTURES.glob("*/run.log"))
NAMES = st.from_regex(r"[A-Z_]{1,6}", fullmatch=True)
VARIABLES = st.lists(st.tuples(NAMES, st.text(max_size=8)), max_size=5, unique_by=lambda p: p[0]).map(tuple)


def explained(name: str, *, alone: bool = False) -> Explanation:
    folder = FIXTURES / name
    return aoti_logs.load(folder / "run.log", context=None if alone else folder).explain()


@pytest.mark.parametrize("alone", [False, True], ids=["context", "alone"])
@pytest.mark.parametrize("name", ALL)
def test_next_is_the_first_step_of_the_plan(name: str, alone: bool):
    explanation = explained(name, alone=alone)
    for finding in explanation.findings:
        steps = explanation.plan(finding).steps
        if finding.role != "cause" or not finding.experiments:
            assert finding.role != "cause" or not steps or finding.confidence == "proven"
            continue
        following = finding.experiments[0]
        assert steps, following
        assert stands_for(steps[0], following)
        sets = dict(pair for c in steps[0].commands for pair in c.sets)
        assert dict(following.env).items() <= sets.items()


@pytest.mark.parametrize("name", ALL)
def test_no_command_loses_a_variable_of_the_shown_one(name: str):
    explanation = explained(name)
    for finding in (f for f in explanation.findings if f.role == "cause"):
        for line in [e.line for e in finding.experiments] + [
            c.line for s in explanation.plan(finding).steps for c in s.commands
        ]:
            assert "the command that compiles" not in line.replace(COMPILES, "")
            assert "the same command" not in line.replace(SAME_COMMAND, "")
            names = re.findall(r"(?:^| && |; )((?:[A-Z_a-z0-9]+=\S* )*)", line)
            for group in names:
                set_here = [word.partition("=")[0] for word in group.split()]
                assert len(set_here) == len(set(set_here)), line


@given(VARIABLES, VARIABLES)
def test_what_an_experiment_sets_replaces_what_was_set(shown: tuple, env: tuple):
    found = joined(shown, env)
    assert len({n for n, _ in found}) == len(found)
    assert dict(found) == {**dict(shown), **dict(env)}
    assert found[len(found) - len(env) :] == env


def test_names_of_logs_are_added_up():
    assert joined((("TORCH_LOGS", "guards"),), (("TORCH_LOGS", "dynamic"),)) == (
        ("TORCH_LOGS", "guards,dynamic"),
    )


def test_a_value_with_a_space_is_quoted():
    assert shell_line((("A", "b c"),), "run") == "A='b c' run"


def told(command: str, *env: tuple[str, str]) -> Experiment:
    return Experiment(command, env, "run", "", "")


def situation(compiled: Shown | None = None) -> Situation:
    finding = explained("cpu_gather_empty_table").findings[0]
    return Situation(
        finding, shown=Shown("python run.py", (("DEVICE", "cuda"), ("X", "1"))), compile=compiled
    )


def test_variables_stand_before_a_tool_that_runs_the_command():
    found = typed(told("compute-sanitizer python run.py", ("X", "2")), situation())
    assert found.line == "DEVICE=cuda X=2 compute-sanitizer python run.py"


def test_variables_stand_before_the_command_behind_a_border_of_the_shell():
    assert typed(told(f"ulimit -c unlimited; {SAME_COMMAND}"), situation()).line == (
        "ulimit -c unlimited; DEVICE=cuda X=1 python run.py"
    )


def test_compile_and_run_keep_each_its_own_variables():
    compiled = Shown("python build.py", (("CACHE", "c"),))
    experiment = told(f"{COMPILES} && {SAME_COMMAND}", ("PRINTER", "2"))
    assert typed(experiment, situation(compiled)).line == (
        "CACHE=c PRINTER=2 python build.py && DEVICE=cuda X=1 python run.py"
    )
    assert typed(experiment, situation()).line == (f"PRINTER=2 {COMPILES} && DEVICE=cuda X=1 python run.py")


def test_a_command_that_compiles_and_runs_is_named_once():
    both = Shown("python run.py", (("DEVICE", "cuda"), ("X", "1")))
    assert typed(told(f"{COMPILES} && {SAME_COMMAND}", ("P", "2")), situation(both)).line == (
        "DEVICE=cuda X=1 P=2 python run.py"
    )


def test_the_compile_that_another_log_shows_is_the_one_to_repeat():
    finding = explained("cpu_int32_ids").findings[0]
    lines = [e.line for e in finding.experiments if e.takes_effect == "compile"]
    assert lines
    assert all("demo.py build cpu_int32_ids" in line and COMPILES not in line for line in lines)
    alone = explained("cpu_int32_ids", alone=True).findings[0]
    assert any(COMPILES in e.line for e in alone.experiments)


def test_what_a_step_means_is_told_for_each_outcome():
    explanation = explained("cpu_compile_gather")
    finding = explanation.findings[0]
    assert finding.experiments[0].env == (("TORCH_COMPILE_DISABLE", "1"),)
    assert "an index error in eager, too: the index itself is bad" in finding.experiments[0].why
    seen = [o.seen for o in explanation.plan(finding).steps[0].outcomes]
    assert seen == ["an index error in eager, too", "eager is fine"]


MISSING_WEIGHT = "model.load_constants(weights, check_full_update=True) before the model runs"


def test_a_change_of_the_program_never_shares_a_line_with_the_command():
    explanation = explained("gpu_ten_missing_weight")
    finding = explanation.findings[0]
    change, run = finding.experiments[0].change, finding.experiments[0].line
    assert change == MISSING_WEIGHT
    assert re.fullmatch(r"(?:[A-Z_]+=\S+ )*python /srv/demo/ten_demo\.py serve missing_weight", run)
    assert f"next: change the program: {change}\n      then run: {run}\n" in str(explanation)
    from aoti_logs.render.github import render_github
    from aoti_logs.render.markdown import render_markdown
    from aoti_logs.render.page import render_page
    from aoti_logs.render.plan import render_plans

    assert f"    change:    {change}\n    run:       {run}\n" in render_plans(explanation)
    assert f"change the program: `{change}`\n  - then run: `{run}`" in render_markdown(explanation)
    assert f"change the program: <code>{change}</code><br>then run: <code>{run}</code>" in render_page(
        explanation, {}
    )
    assert f"change the program: {change}%0A      then run: {run}" in render_github(explanation)


@pytest.mark.parametrize("name", ALL)
def test_no_step_has_words_where_a_command_belongs(name: str):
    explanation = explained(name)
    for finding in (f for f in explanation.findings if f.role == "cause"):
        for step in explanation.plan(finding).steps:
            for command in step.commands:
                assert not re.search(r"<your (?!torchrun)|\bin the program\b|^with ", command.line), command


def test_a_change_that_a_rule_names_is_the_step_of_the_ladder_that_makes_it():
    draft = Experiment("python export.py", (), "compile", "", "", change="draft_export(...)")
    command = Command("compile", "python export.py", change="draft_export(...)")
    step = Step("draft_export", "", (command,), "compile", True, "", "", "")
    assert stands_for(step, draft)
    assert not stands_for(step, Experiment("python export.py", (), "compile", "", ""))
    assert not stands_for(
        Step("run", "", (Command("run", "python export.py"),), "run", False, "", "", ""), draft
    )
