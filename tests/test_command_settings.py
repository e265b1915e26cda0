"""AL221: settings of a run's command that mean something else, come too late, or do nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.rules.command_setting import said_of
from aoti_logs.settings import all_settings, setting
from aoti_logs.settings.value import is_switch, meant, switched

LOADED = (
    "Traceback (most recent call last):\n"
    '  File "/srv/demo/serve.py", line 9, in <module>\n'
    '    print(torch._inductor.aoti_load_package("model.pt2")(x))\n'
    '  File "/opt/venv/lib/python3.11/site-packages/torch/export/pt2_archive/_package.py", line 743, in __call__\n'
    "    flat_outputs = self.loader.boxed_run(flat_inputs)\n"
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)\n"
)


@pytest.fixture
def explained(tmp_path: Path):
    def explain(text: str) -> list[aoti_logs.Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain().findings)

    return explain


def told(found: list[aoti_logs.Finding]) -> list[str]:
    """What is said of settings, in findings of its own and in notes of causes."""
    return [f.title for f in found if f.rule == "AL221"] + [
        n for f in found for n in f.notes if "(AL221" in n
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AOTI_RUNTIME_CHECK_INPUTS=false", "switches the checks of inputs ON"),
        ("AOTI_RUNTIME_CHECK_INPUTS=no", "switches the checks of inputs ON"),
        ("AOTI_RUNTIME_CHECK_INPUTS=", "for 2.7 the empty text is off"),
        ("TORCHINDUCTOR_NAN_ASSERTS=true", "leaves the setting off"),
        ("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=4", "is no level of the value printer"),
        ("TORCHINDUCTOR_SIZE_ASSERTS=true", "leaves the setting off"),
        ("TORCHINDUCTOR_FORCE_DISABLE_CACHES=false", "leaves the setting on"),
        ("PYTHONFAULTHANDLER=0", "leaves the setting on"),
        ("PYTHONUNBUFFERED=false", "leaves the setting on"),
        ("AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT=k", "does nothing without"),
        ("AOTINDUCTOR_REPRO_LEVEL=4", "does nothing without `DUMP_AOTI_MINIFIER`"),
        ("TORCHINDUCTOR_ASSERT_INDIRECT_INDEXING=0", "torch reads no variable"),
        ("AOTI_RUNTIME_CHECK_INPUT=1", "`AOTI_RUNTIME_CHECK_INPUTS` is"),
    ],
)
def test_a_setting_that_does_not_do_what_it_looks_like_is_told(text, said, explained):
    (title,) = told(explained(f"$ {text} python run.py\nok\n"))
    assert said in title


@pytest.mark.parametrize(
    "text",
    [
        "AOTI_RUNTIME_CHECK_INPUTS=1",
        "AOTI_RUNTIME_CHECK_INPUTS=0",
        "TORCHINDUCTOR_NAN_ASSERTS=1",
        "TORCHINDUCTOR_NAN_ASSERTS=0",
        "PYTHONUNBUFFERED=0",
        "PYTHONUNBUFFERED=1",
        "PYTHONFAULTHANDLER=1",
        "TORCH_LOGS=+dynamo",
        "TORCHINDUCTOR_CACHE_DIR=/tmp/cache",
        "CUDA_LAUNCH_BLOCKING=true",
        "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM=1",
        "DUMP_AOTI_MINIFIER=1 AOTINDUCTOR_REPRO_LEVEL=4",
        "MY_SETTING=false",
    ],
)
def test_a_setting_that_does_what_it_looks_like_is_not_spoken_of(text, explained):
    assert told(explained(f"$ {text} python run.py\nok\n")) == []


def test_the_kernels_to_print_are_read_by_level_2_only(explained):
    env = "AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT=k AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER={}"
    assert "only level 2" in told(explained(f"$ {env.format(3)} python run.py\nok\n"))[0]
    assert told(explained(f"$ {env.format(2)} python run.py\nok\n")) == []


def test_what_acts_when_compiling_is_told_as_possible_where_a_run_only_loads_a_model(explained):
    found = explained(f"$ TORCHINDUCTOR_NAN_ASSERTS=1 python serve.py\n{LOADED}")
    (note,) = told(found)
    assert "only loads a model" in note and note.endswith("(AL221, run.log:1)")
    (cause,) = [f for f in found if f.role == "cause"]
    assert cause.rule != "AL221"


def test_a_log_that_speaks_of_a_compile_says_nothing_of_too_late(explained):
    compiling = "W1129 12:30:21.502000 24053 torch/_inductor/compile_fx.py:71] a message\n"
    assert told(explained(f"$ TORCHINDUCTOR_NAN_ASSERTS=1 python serve.py\n{compiling}{LOADED}")) == []


def test_a_printer_that_printed_is_not_too_late(explained):
    text = "$ AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3 python serve.py\n[ before_launch: k ]\n[ after_launch: k ]\n"
    assert told(explained(text + LOADED)) == []


def test_of_several_runs_in_a_log_each_has_its_own_note(explained):
    other = LOADED.replace("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)", "a weight is missing")
    both = f"$ TORCHINDUCTOR_NAN_ASSERTS=true python serve.py\n{LOADED}$ python serve.py\n{other}"
    causes = [f for f in explained(both) if f.role == "cause"]
    assert [len([n for n in f.notes if "AL221" in n]) for f in causes] == [1, 0]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("cpu_nan_asserts_too_late", "not_in_the_code"),
        ("cpu_compile_nan_asserts_true", "other_value"),
    ],
)
def test_a_recorded_run_whose_check_never_ran_says_so(name, problem, fixtures_dir):
    folder = fixtures_dir / name
    found = aoti_logs.load(folder / "run.log", context=folder).explain().findings
    (note,) = [f for f in found if f.rule == "AL221"]
    assert (note.role, note.facts["problem"]) == ("note", problem)
    assert note.chain[0].text.startswith("$ ")


def test_a_recorded_run_that_meant_to_switch_the_checks_off_is_told_that_they_are_on(fixtures_dir):
    folder = fixtures_dir / "cpu_input_checks_false"
    (cause,) = [f for f in aoti_logs.load(folder / "run.log", context=folder).explain() if f.role == "cause"]
    assert cause.rule == "AL206"
    assert any("switches the checks of inputs ON" in n for n in cause.notes)


def test_a_recorded_run_that_was_compiled_with_its_setting_says_nothing(fixtures_dir):
    for name in ("cpu_nan_assert_input", "cpu_compile_nan_assert", "cpu_input_checks", "gpu_nan_assert"):
        folder = fixtures_dir / name
        assert told(list(aoti_logs.load(folder / "run.log", context=folder).explain())) == []


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("folder", "log", "said"),
    [
        ("torch26/gather_checked", "run_wrong_idx_dtype.log", "no generated code at hand reads it"),
        ("torch26/gather_checked", "run_wrong_dtype.log", "no generated code at hand reads it"),
        ("torch26/nan_asserts", "compile.log", "no generated code at hand has a check of NaN"),
        ("torch29/nan_asserts", "compile.log", "no generated code at hand has a check of NaN"),
        ("torch29/gather_plain", "run_wrong_dtype_checked_at_run.log", None),
    ],
)
def test_code_of_older_releases_shows_what_could_not_act(folder, log, said, corpus_dir):
    where = corpus_dir / "versions" / folder
    notes = told(list(aoti_logs.load(where / log, context=where).explain()))
    assert [said in n for n in notes] == [True] if said else notes == []


def test_the_empty_text_is_off_in_code_of_torch_2_7_and_0_is_on(tmp_path):
    (tmp_path / "m.wrapper.cpp").write_text(
        "#include <torch/csrc/inductor/aoti_include/cpu.h>\n"
        '    const static char* env_var_value = getenv("AOTI_RUNTIME_CHECK_INPUTS");\n'
        "    const static bool result = env_var_value != nullptr && env_var_value[0] != 0;\n"
        "void AOTInductorModel::run_impl(\n"
    )

    def notes(value: str) -> list[str]:
        (tmp_path / "run.log").write_text(f"$ AOTI_RUNTIME_CHECK_INPUTS={value} python run.py\nok\n")
        return told(list(aoti_logs.load(tmp_path / "run.log", context=tmp_path).explain()))

    assert notes("") == []
    assert "every text but the empty one is on" in notes("0")[0]


def test_the_readings_of_the_catalogue_are_those_of_their_owners():
    assert switched(setting("AOTI_RUNTIME_CHECK_INPUTS"), "") is True
    assert switched(setting("AOTI_RUNTIME_CHECK_INPUTS"), "0no") is False
    assert switched(setting("PYTHONUNBUFFERED"), "00") is False
    assert switched(setting("PYTHONUNBUFFERED"), "no") is True
    assert switched(setting("TORCH_SHOW_CPP_STACKTRACES"), "true") is None
    assert not is_switch(setting("TORCH_COMPILE_DYNAMIC_SOURCES"))
    assert all(switched(s, "1") is True for s in all_settings() if is_switch(s))


@given(st.text(max_size=40))
def test_any_text_of_any_setting_is_on_off_or_neither(text):
    assert meant(text) in {True, False, None}
    assert {switched(s, text) for s in all_settings()} <= {True, False, None}


@given(
    st.dictionaries(
        st.text(max_size=60) | st.sampled_from([s.name for s in all_settings()]),
        st.text(max_size=20),
        max_size=6,
    )
)
def test_any_command_is_read(env):
    from aoti_logs.code.evidence import Evidence
    from aoti_logs.parse.events import LogEvents

    for said in said_of(env, LogEvents(), Evidence((), lambda _: LogEvents())):
        assert said.name in env
