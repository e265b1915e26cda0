"""Which error of several leads: chains, handlers, a program's own words, tracebacks cut off."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Finding


def _findings(tmp_path: Path, text: str) -> list[Finding]:
    (tmp_path / "run.log").write_text(text)
    return list(aoti_logs.load(tmp_path / "run.log").explain().findings)


def _traceback(error: str, *frames: tuple[str, str]) -> str:
    rows = "".join(f'  File "/srv/app/run.py", line 7, in {name}\n    {code}\n' for name, code in frames)
    return f"Traceback (most recent call last):\n{rows}{error}\n"


_DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_MISS = _traceback("KeyError: 'fast'", ("load", "kernel = KERNELS[name]"))


@pytest.mark.parametrize(
    ("code", "leads"),
    [
        ("kernel = build(name)", "ValueError"),
        ("raise ValueError('no kernel is named so')", "KeyError"),
        ("pool.close()", "KeyError"),
    ],
)
def test_an_exception_in_a_handler_leads_unless_it_translates_the_first_or_cleans_up(
    tmp_path: Path, code: str, leads: str
):
    deeper = () if code.startswith("raise") else (("work", "raise ValueError(text)"),)
    later = _traceback("ValueError: something else", ("<module>", "load(name)"), ("load", code), *deeper)
    (finding,) = _findings(tmp_path, _MISS + _DURING + later)
    assert finding.facts["exception_type"] == leads
    assert [k.step for k in finding.consequences] == ["before" if leads == "ValueError" else "after"]


def test_what_says_that_it_was_raised_from_the_first_follows_from_it(tmp_path: Path):
    later = _traceback("ConfigError: no settings", ("<module>", "load(name)"), ("load", "raise ConfigError"))
    (finding,) = _findings(tmp_path, _MISS + _CAUSE + later)
    assert [(k.step, k.text) for k in finding.consequences] == [("follows", "ConfigError: no settings")]


def test_an_error_that_a_handler_printed_is_a_note_beside_the_one_that_ended_the_program(tmp_path: Path):
    crash = _traceback("ValueError: invalid literal", ("<module>", "main()"), ("main", "int('x')"))
    ended, handled = _findings(tmp_path, _MISS + "using the slow kernel\n" + crash)
    assert (ended.role, ended.facts["exception_type"]) == ("cause", "ValueError")
    assert (handled.role, handled.facts["exception_type"]) == ("note", "KeyError")
    assert handled.doubt


def test_an_error_that_nothing_comes_after_leads_though_a_handler_printed_it(tmp_path: Path):
    (finding,) = _findings(tmp_path, _MISS + "request 7 failed\n")
    assert finding.role == "cause"


def test_a_line_in_the_words_of_the_program_does_not_lead_before_a_traceback(tmp_path: Path):
    crash = _traceback("ValueError: invalid literal", ("<module>", "main()"))
    (finding,) = _findings(tmp_path, "Error: cannot read settings.toml, using the defaults\n" + crash)
    assert finding.facts["exception_type"] == "ValueError"


def test_an_error_line_that_the_call_of_the_model_hands_on_leads(tmp_path: Path):
    call = "RuntimeError: run_func_( container_handle_, x) API call failed at model_container_runner.cpp, line 145"
    text = "Error: something in the model refused this\n" + _traceback(call, ("<module>", "model(x)"))
    (finding,) = _findings(tmp_path, text)
    assert "something in the model refused this" in str(finding.facts["message"])


def test_a_traceback_that_lost_its_exception_does_not_lead_before_one_that_has_it(tmp_path: Path):
    cut = "Traceback (most recent call last):\n" + '  File "/srv/app/run.py", line 3, in work\n    step()\n'
    (finding,) = _findings(tmp_path, cut + "\n" + _traceback("KeyError: 'x'", ("<module>", "main()")))
    assert finding.title == "KeyError: 'x'"
