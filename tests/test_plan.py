"""The ladder of experiments: the cheapest first, nothing that is there already, nothing that cannot help."""

import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.explain import Explanation, Finding
from aoti_logs.ladder import EFFECTS, Ladder
from aoti_logs.plan import FAMILIES, family_of, rungs_of
from aoti_logs.render.plan import render_plans
from aoti_logs.rules import all_rules

SCREENS = (
    "gpu_size_outside_range",  # an index: several causes fit
    "gpu_printer",  # the values are printed: the ladder is short
    "gpu_illegal_read",  # a fault: the kernel is not known
    "gpu_illegal_read_core",  # the kernel is known
    "gpu_ranks_tee",  # no code at hand
    "gpu_nan_assert",
    "cpu_death_shell",
    "cpu_death_model_call",
    "gpu_collective_timeout_recorder",
    "cpu_death_torchrun",
    "cpu_trace_data_dependent",
    "cpu_log_new_length",
    "cpu_trace_fullgraph",
    "cpu_trace_failing_backend",
    "cpu_aoti_bag",
    "gpu_out_of_memory_compiled",
    "cpu_ok",
    "gpu_ten_user_kernel",
    "gpu_ten_shape_range",  # nothing crashed
    "gpu_ten_recompile_storm",
    "gpu_ten_two_ranks",
)
FIXTURES = Path(__file__).parent.parent / "fixtures"
ALL = sorted(p.parent.name for p in FIXTURES.glob("*/run.log"))
RUNGS = [(family, rung) for family in FAMILIES for rung in rungs_of(family)]


def explained(folder: Path) -> Explanation:
    return aoti_logs.load(folder / "run.log", context=folder).explain()


def lead(explanation: Explanation) -> tuple[Finding, Ladder]:
    finding = next(f for f in explanation.findings if f.role == "cause")
    return finding, explanation.plan(finding)


@pytest.mark.parametrize("name", SCREENS)
def test_screen_of_a_plan(name: str, fixtures_dir: Path, golden):
    folder = fixtures_dir / name
    done = CliRunner().invoke(app, ["explain", str(folder / "run.log"), "-c", str(folder), "--plan"])
    assert done.exit_code == 0
    golden(f"screens/plans/{name}.txt", done.output)


@pytest.mark.parametrize("name", ALL)
def test_every_ladder_keeps_the_order_the_commands_and_the_rules_own_experiments(
    name: str, fixtures_dir: Path
):
    explanation = explained(fixtures_dir / name)
    for finding in explanation.findings:
        ladder = explanation.plan(finding)
        names = [s.name for s in ladder.steps]
        assert finding.role == "cause" or not names
        for step in ladder.steps:
            assert step.commands and step.takes_effect in EFFECTS
            assert not re.search(
                r"\{\w+\}", "".join([step.name, step.tells, *(c.line for c in step.commands)])
            )
        if finding.role == "cause" and finding.confidence != "proven":
            for experiment in finding.experiments:
                variables = {k for k, _ in experiment.env}
                sets = [{k for c in s.commands for k, _ in c.env} for s in ladder.steps]
                assert any(variables <= names for names in sets), experiment
                assert not [s.name for s in ladder.steps if "=" in s.name]
        for outcome in (o for s in ladder.steps for o in s.outcomes):
            assert not set(outcome.proves) & set(outcome.excludes)


def test_a_plan_in_json_keeps_its_contract(fixtures_dir: Path):
    from aoti_logs.explanation_schema import JSON_SCHEMA
    from tests.test_fixtures import _holds

    for name in ("gpu_size_outside_range", "gpu_illegal_read", "cpu_death_shell"):
        answer = json.loads(json.dumps(explained(fixtures_dir / name).to_dict(plans=True)))
        assert any(f["plan"]["steps"] for f in answer["findings"] if f["role"] == "cause")
        _holds(answer, JSON_SCHEMA, name)


def test_json_has_plans_on_request_only(fixtures_dir: Path):
    path = str(fixtures_dir / "gpu_illegal_read" / "run.log")
    with_plans = json.loads(CliRunner().invoke(app, ["explain", path, "--plan", "-f", "json"]).output)
    without = json.loads(CliRunner().invoke(app, ["explain", path, "-f", "json"]).output)
    assert "plan" in with_plans["findings"][0]
    assert all("plan" not in f for f in without["findings"])


def test_a_plan_in_a_form_that_has_none_is_refused(fixtures_dir: Path):
    path = str(fixtures_dir / "gpu_illegal_read" / "run.log")
    assert CliRunner().invoke(app, ["explain", path, "--plan", "-f", "sarif"]).exit_code == 2


def test_what_the_log_shows_is_what_is_run(fixtures_dir: Path):
    _, ladder = lead(explained(fixtures_dir / "gpu_size_outside_range"))
    assert ladder.steps[0].commands[0].line == (
        "AOTI_RUNTIME_CHECK_INPUTS=1 python /srv/demo/demo.py serve gpu_size_outside_range"
    )
    assert ladder.steps[0].commands[0].shown


def test_a_log_without_a_command_gets_words_for_it(tmp_path: Path, fixtures_dir: Path):
    text = (fixtures_dir / "gpu_illegal_read" / "run.log").read_text()
    (tmp_path / "a.log").write_text(text.partition("\n")[2])
    _, ladder = lead(aoti_logs.load(tmp_path / "a.log").explain())
    assert ladder.steps[0].commands[0].line == "CUDA_LAUNCH_BLOCKING=1 <the same command as before>"
    assert not ladder.steps[0].commands[0].shown


def test_a_step_whose_evidence_is_there_is_named_as_done(fixtures_dir: Path):
    _, before = lead(explained(fixtures_dir / "gpu_illegal_read"))
    _, after = lead(explained(fixtures_dir / "gpu_illegal_read_blocking"))
    assert before.steps[0].name == "wait for each launch"
    assert "wait for each launch" not in [s.name for s in after.steps]
    assert [d.name for d in after.done if d.place and d.place.line == 1] == ["wait for each launch"]


def test_a_proven_cause_leaves_nothing_to_try(fixtures_dir: Path):
    finding, ladder = lead(explained(fixtures_dir / "cpu_printer_empty_table"))
    assert finding.confidence == "proven"
    assert not ladder.steps


def test_a_model_for_the_cpu_is_not_sent_to_tools_of_cuda(fixtures_dir: Path):
    for name in ALL:
        if name.startswith("cpu_"):
            explanation = explained(fixtures_dir / name)
            for finding in explanation.findings:
                for step in explanation.plan(finding).steps:
                    assert "CUDA" not in " ".join(c.line for c in step.commands), (name, step.name)


def test_the_explanations_that_are_left_are_those_of_the_finding(fixtures_dir: Path):
    finding, ladder = lead(explained(fixtures_dir / "gpu_size_outside_range"))
    assert ladder.open == tuple(v.code for v in finding.verdicts)
    decided = {c for s in ladder.steps for o in s.outcomes for c in (*o.proves, *o.excludes)}
    assert decided - {"AL108"} <= set(ladder.open)


@pytest.mark.parametrize(("family", "rung"), RUNGS, ids=lambda v: v if isinstance(v, str) else v.name)
def test_outcomes_name_rules_that_exist(family: str, rung):
    del family
    known = {r.code for r in all_rules()}
    assert {c for o in rung.outcomes for c in (*o.proves, *o.excludes)} <= known
    assert rung.proof and rung.cost and rung.when and rung.tells


def test_a_rule_belongs_to_one_family_at_most():
    numbers = [n for parts in FAMILIES.values() for part in parts for n in part]
    assert len(numbers) == len(set(numbers))
    assert family_of("AL101") == "index"
    assert family_of("AL999") is None


def test_variables_of_torch_are_read_by_the_installed_torch():
    """Every variable that a step sets stands in a file of torch, or belongs to another program."""
    spec = __import__("importlib.util").util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("torch is not installed")
    folder = Path(spec.submodule_search_locations[0])
    others = {
        "CUDA_LAUNCH_BLOCKING", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_COREDUMP_SHOW_PROGRESS", "LD_DEBUG", "MALLOC_CHECK_",
        "MALLOC_PERTURB_", "AMD_SERIALIZE_KERNEL", "NCCL_DEBUG", "PYTHONFAULTHANDLER", "PYTHONUNBUFFERED", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    }  # fmt: skip
    # What only an older torch read, an installed one need not have.
    wanted = {k for _, r in RUNGS if r.below is None for k, _ in (*r.env, *r.run_env)} - others
    places = (
        "_inductor",
        "_dynamo",
        "_logging",
        "compiler",
        "fx/experimental",
        "distributed",
        "include/c10",
        "include/torch/csrc/distributed",
    )
    texts = [p for place in places for p in (folder / place).rglob("*") if p.suffix in {".py", ".h", ".hpp"}]
    for path in texts:
        if not wanted:
            break
        text = path.read_text(errors="replace")
        wanted -= {name for name in wanted if name in text}
    libraries = [folder / "lib" / n for n in ("libtorch_cpu.so", "libc10.so", "libtorch_python.so")]
    for name in sorted(wanted):
        assert any(name.encode() in p.read_bytes() for p in libraries if p.exists()), name


def _named() -> dict[str, tuple[str, str]]:
    """Every variable that a step sets, with what the step says of it."""
    return {
        k: (r.name, "compile" if e == "compile" else "run")
        for _, r in RUNGS
        for e, env in ((r.effect, r.env), ("run", r.run_env))
        for k, _ in env
    }


def test_every_variable_of_a_step_is_a_setting_that_is_described():
    from aoti_logs.settings import setting

    foreign = {"LD_DEBUG"}  # of the dynamic loader, which is no part of torch
    for name in _named().keys() - foreign:
        assert setting(name).name in {name, *setting(name).formerly} or name in setting(name).names, name


@pytest.mark.parametrize(("family", "rung"), RUNGS, ids=lambda v: v if isinstance(v, str) else v.name)
def test_a_step_takes_effect_when_its_settings_do(family: str, rung):
    from aoti_logs.settings import Effect, setting

    del family
    compiling = {k for k, _ in rung.env if k != "LD_DEBUG" and setting(k).effect is Effect.COMPILE}
    others = {k for k, _ in rung.run_env if setting(k).effect is Effect.COMPILE}
    assert not others
    assert not compiling or rung.effect == "compile" or compiling == {"TORCH_COMPILE_DISABLE"}
    if rung.effect == "compile" and rung.env:
        assert compiling
    for name in (k for k, _ in rung.env if k != "LD_DEBUG"):
        found = setting(name)
        if found.since is not None and name == found.name:
            major, minor = map(int, found.since.split("."))
            assert rung.since >= (major, minor) or name in OPTIONAL, name


OPTIONAL = {"INDUCTOR_PROVENANCE"}
"""Variables that only add to what a step shows: an older torch ignores them."""


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_damaged_log_never_keeps_from_planning_or_comparing(data):
    """Cut, repeated and overwritten bytes: a plan and a comparison are made all the same."""
    name = data.draw(
        st.sampled_from(["gpu_illegal_read", "cpu_aoti_input_dtype", "gpu_nan_assert", "cpu_death_shell"])
    )
    text = (FIXTURES / name / "run.log").read_bytes()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    noise = data.draw(st.binary(max_size=20))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.log"
        path.write_bytes(text[:start] + noise + text[end:])
        run = aoti_logs.load(path)
        explanation = run.explain()
        assert json.dumps(explanation.to_dict(plans=True))
        render_plans(explanation)
        assert str(run.compare(aoti_logs.load(FIXTURES / name / "run.log")))
        for finding in explanation.findings:
            if finding.role == "cause" and finding.confidence == "unknown":
                assert finding.facts["signature"] is None


def test_what_a_log_says_reaches_the_screen_without_control_characters(tmp_path: Path, fixtures_dir: Path):
    text = (fixtures_dir / "gpu_illegal_read" / "run.log").read_text()
    _, _, rest = text.partition("\n")
    (tmp_path / "a.log").write_text(f"$ python serve.py \x1b[31m--evil\x07 'a b'\n{rest}")
    screen = render_plans(aoti_logs.load(tmp_path / "a.log").explain())
    assert "\x1b" not in screen and "\x07" not in screen


# The first and last lines of a traceback of torch 2.13 (torch/_export/non_strict_utils.py).
EXPORT = """Traceback (most recent call last):
  File "/srv/demo/dim.py", line 8, in <module>
    export(P(), (torch.rand(1, 3),), dynamic_shapes={"x": {0: Dim.DYNAMIC}})
  File "/opt/venv/lib/python3.11/site-packages/torch/export/__init__.py", line 212, in export
    return _export(
  File "/opt/venv/lib/python3.11/site-packages/torch/_export/non_strict_utils.py", line 831, in make_constraints
    raise ValueError(prefix + "\\n".join(range_violations))
ValueError: Found the following conflicts between user-specified ranges and inferred ranges from model tracing:
- Received user-specified dim hint Dim.DYNAMIC(min=None, max=None), but export 0/1 specialized due to hint of 1 for dimension inputs['x'].shape[0].
"""


def test_an_unexplained_error_of_an_export_is_not_tried_with_a_switch_of_torch_compile_which_leaves_it_as_it_is(
    tmp_path,
):
    (tmp_path / "run.log").write_text(EXPORT)
    (finding,) = aoti_logs.load(tmp_path / "run.log").explain().findings
    assert finding.rule == "AL001"
    assert all("TORCH_COMPILE_DISABLE" not in e.line for e in finding.experiments)
