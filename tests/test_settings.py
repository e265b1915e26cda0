"""The catalogue of settings: whole, found by any name, shown, and what rules say of the same variables."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from aoti_logs.cli import SettingsEffect, app
from aoti_logs.errors import UnknownNameError
from aoti_logs.render.settings_screen import HEADINGS, settings_page
from aoti_logs.settings import Effect, Kind, all_settings, setting
from aoti_logs.settings.catalogue import nearest
from aoti_logs.settings.model import AGAIN, READINGS, number
from tests.rule_settings import experiments, rules_of

RELEASES: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parent / "payloads" / "settings_releases.json").read_text()
)
READ = ("2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13")
SETTINGS = pytest.mark.parametrize("known", all_settings(), ids=lambda s: s.name)
runner = CliRunner()


@SETTINGS
def test_every_entry_is_whole(known):
    assert known.does.endswith(".") and known.read and known.default and known.cost
    assert known.again in AGAIN
    assert known.reading is None or known.reading in READINGS
    assert (known.reading is not None) == (known.kind is not Kind.CONFIG)
    assert known.proof or known.outside, "nothing shows it"
    assert known.since or known.owner or known.outside or known.proof
    names = {s.name for s in all_settings()}
    assert set(known.related) <= names - {known.name}


def test_no_name_stands_twice():
    names = [s.name for s in all_settings()]
    assert len(names) == len(set(names)) >= 120


@SETTINGS
def test_releases_are_those_whose_wheels_have_the_name(known):
    if known.since is None:
        pytest.skip("not torch's, or in a library of CUDA that was not read")
    have = list(RELEASES[known.name])
    assert (known.since, known.until or READ[-1]) == (have[0], have[-1])
    # A release in between that lacks it is told.
    for release in READ[READ.index(have[0]) : READ.index(have[-1])]:
        assert release in have or any(release in text for text in known.changes)


@SETTINGS
def test_every_change_of_a_default_is_told(known):
    value = known.config or known.name
    defaults = [
        (r, text) for r, text in RELEASES.get(value, {}).items() if text not in {"named", "<unknown>"}
    ]
    defaults = [(r, text) for r, text in defaults if not text.startswith("alias") and known.known_in(r)]
    for (_, before), (release, after) in pairwise(defaults):
        assert before == after or any(release in text for text in known.changes), (
            f"{release}: {before} -> {after}"
        )


@SETTINGS
def test_rules_are_those_that_set_it_or_name_it(known):
    assert known.rules == rules_of().get(known.name, ())


@pytest.mark.parametrize(
    "experiment", experiments(), ids=lambda e: f"{e.module}-{'-'.join(sorted(e.variables))}"
)
def test_experiments_of_rules_say_when_their_variables_take_effect(experiment):
    effects = {setting(name).effect for name in experiment.variables}
    assert experiment.takes_effect == ("compile" if Effect.COMPILE in effects else "run")


@SETTINGS
def test_a_setting_is_found_by_each_of_its_names(known):
    assert setting(known.name) is known
    assert setting(known.name.lower() if known.kind is Kind.ENVIRONMENT else known.name) is known
    for name in known.names:
        assert known.name == name or setting(name).name in {known.name, name, setting(name).name}
    assert setting(f"{known.name}=1") is known


def test_a_config_value_leads_to_its_variable():
    assert setting("torch._inductor.config.nan_asserts").name == "TORCHINDUCTOR_NAN_ASSERTS"
    assert setting("nan_asserts").name == "TORCHINDUCTOR_NAN_ASSERTS"
    assert setting("aot_inductor.package_cpp_only").kind is Kind.CONFIG


def test_an_older_name_leads_to_the_newer_one():
    assert setting("torch._dynamo.config.cache_size_limit").name == "torch._dynamo.config.recompile_limit"


def test_a_name_that_is_also_an_older_one_is_itself():
    assert setting("PYTORCH_CUDA_ALLOC_CONF").name == "PYTORCH_CUDA_ALLOC_CONF"
    assert setting("AOT_INDUCTOR_DEBUG_COMPILE").name == "AOT_INDUCTOR_DEBUG_COMPILE"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("AOTI_RUNTIME_CHECK_INPUT", "AOTI_RUNTIME_CHECK_INPUTS"),
        ("TORCHINDUCTOR_NAN_ASSERT", "TORCHINDUCTOR_NAN_ASSERTS"),
        ("CUDA_LAUNCH_BLOCK", "CUDA_LAUNCH_BLOCKING"),
        ("launch_blocking", "CUDA_LAUNCH_BLOCKING"),
        ("recompile", "torch._dynamo.config.recompile_limit"),
        ("TORCH_LOG", "TORCH_LOGS"),
    ],
)
def test_a_typo_is_answered_with_what_was_meant(wrong, meant):
    assert meant in nearest(wrong)
    with pytest.raises(UnknownNameError, match=re.escape(meant)):
        setting(wrong)


@given(st.text(max_size=300))
def test_any_text_finds_a_setting_or_says_that_none_is_called_so(text):
    try:
        setting(text)
    except UnknownNameError as error:
        assert "no setting is called" in str(error)


def test_the_check_of_inputs_is_off_only_when_its_text_begins_with_zero():
    known = setting("AOTI_RUNTIME_CHECK_INPUTS")
    assert known.reading == "not-zero" and known.effect is Effect.FIRST_RUN
    assert any("ALSO `0`" in text for text in known.changes), "torch 2.7 takes 0 for on"


def test_releases_choose_what_is_known():
    assert not setting("AOTI_RUNTIME_CHECK_INPUTS").known_in("2.6")
    assert setting("AOTI_RUNTIME_CHECK_INPUTS").known_in("2.13.0+cpu")
    assert setting("TORCHINDUCTOR_SIZE_ASSERTS").known_in("2.1")
    assert not setting("TORCHINDUCTOR_ABI_COMPATIBLE").known_in("2.6")
    assert number("v2.10.1") == (2, 10)


@SETTINGS
def test_a_page_tells_what_the_setting_does_and_when(known):
    page = settings_page(known)
    assert page.startswith(known.name) and "takes effect" in page and "known from" in page
    assert all(len(line) <= 100 or " " not in line.strip() for line in page.splitlines())


def call(*words: str):
    return runner.invoke(app, ["settings", *words])


def test_the_list_is_ordered_by_when_settings_take_effect():
    output = call().output
    places = [output.index(heading) for heading in HEADINGS.values()]
    assert places == sorted(places)
    assert all(s.name in output for s in all_settings())


def test_the_list_can_be_narrowed_by_effect_and_release():
    output = call("--when", "first-run", "--version", "2.9").output
    assert "AOTI_RUNTIME_CHECK_INPUTS" in output and "TORCH_LOGS" not in output
    assert "AOTI_RUNTIME_CHECK_INPUTS" not in call("--version", "2.6").output
    assert {e.value.replace("-", " ") for e in SettingsEffect} == {e.value for e in Effect}


def test_the_page_of_one_setting():
    output = call("AOTI_RUNTIME_CHECK_INPUTS").output
    assert "`AOTI_RUNTIME_CHECK_INPUTS=false` switches it ON" in output
    assert "at the first run of a loaded model" in output


def test_json_of_one_and_of_all():
    one = json.loads(call("aot_inductor.check_lowerbound", "--format", "json").output)
    assert (one["kind"], one["effect"], one["option"]) == (
        "config",
        "compile",
        "aot_inductor.check_lowerbound",
    )
    assert len(json.loads(call("--format", "json").output)) == len(all_settings())


def test_an_unknown_name_and_release_are_clear_sentences():
    result = call("AOTI_CHECK_INPUT")
    assert result.exit_code == 2 and "AOTI_RUNTIME_CHECK_INPUTS" in result.output
    assert call("--version", "new").exit_code == 2


def test_the_page_in_docs_is_up_to_date(root_dir, monkeypatch):
    monkeypatch.syspath_prepend(str(root_dir / "docs"))
    import generate  # type: ignore[import-not-found]  # docs/ is no package

    assert (root_dir / "docs" / "settings.md").read_text() == generate.settings_page(), "run `make docs`"


def test_settings_need_neither_torch_nor_polars_nor_lark():
    code = (
        "import sys; from aoti_logs.settings import setting; setting('TORCH_LOGS');"
        "print([m for m in ('torch', 'polars', 'lark', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
