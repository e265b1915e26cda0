"""Words of healthy logs that read like errors, and errors that stop no program."""

from pathlib import Path

import pytest

import aoti_logs


@pytest.fixture
def explained(tmp_path: Path):
    """Explain a text."""

    def run(text: str) -> aoti_logs.Explanation:
        (tmp_path / "run.log").write_text(text)
        return aoti_logs.load(tmp_path / "run.log").explain()

    return run


@pytest.mark.parametrize(
    "line",
    [
        "Error: 0.0312",
        "Error: 3.1% | top5 0.4",
        "Error: none",
        "MeanSquaredError: 0.33",
        "ValidationError: 3.2%",
        "CUDA error checking enabled",
        "CUDA error: no error",
        "HIP error rate 0.0",
        "CUDA out of memory handler installed",
        "CUDA out of memory: 0",
        "index out of bounds: 0 rows dropped",
    ],
)
def test_a_figure_or_a_sentence_with_the_words_of_an_error_is_none(explained, line: str):
    assert not explained(f"epoch 1\n{line}\nepoch 2\n").findings


@pytest.mark.parametrize(
    "line",
    [
        "Error: 3 inputs were expected",
        "KeyError: 0.5",
        "CUDA error 719 at launch.cu:3",
        "CUDA out of memory",
        "index out of bounds: 0 <= tmp7 < 10",
    ],
)
def test_an_error_in_the_same_words_is_one(explained, line: str):
    (finding,) = explained(f"epoch 1\n{line}\nepoch 2\n").findings
    assert finding.role == "cause"


def test_what_logging_says_of_its_own_handlers_stops_no_program(explained):
    said = explained(
        "--- Logging error ---\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/logging/__init__.py", line 1110, in emit\n    msg = self.format(record)\n'
        "TypeError: %d format: a real number is required, not str\nCall stack:\n"
        "  File \"/srv/demo/a.py\", line 3, in <module>\n    logging.warning('%d items', 'x')\n"
        "Message: '%d items'\nArguments: ('x',)\nok\n"
    )
    assert not said.findings


def test_an_escaped_traceback_ends_with_the_string_that_it_is_in(explained):
    (finding,) = explained(
        "started\n"
        r'{"msg": "it failed:\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n    g()\n'
        'RuntimeError: x"}\n'
    ).findings
    assert finding.title == "RuntimeError: x"


def test_frames_that_a_program_prints_of_itself_are_no_failure(explained):
    said = explained(
        'epoch 1\n  File "/srv/demo/a.py", line 3, in main\n    traceback.print_stack()\nepoch 2\n'
    )
    assert not said.findings


def test_a_message_that_ends_in_a_colon_tells_the_traceback_below_it(explained):
    said = explained(
        'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 4, in <module>\n    main()\n'
        "RuntimeError: worker failed with code 1:\nTraceback (most recent call last):\n"
        '  File "/srv/demo/b.py", line 2, in g\n    f()\nValueError: child\n'
    )
    assert [f.title for f in said.findings if f.role == "cause"] == ["ValueError: child"]


def test_a_title_goes_on_in_the_line_below_when_the_first_one_only_announces_it(explained):
    (finding,) = explained(
        'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 4, in <module>\n    main()\n'
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "a.weight".\n'
    ).findings
    assert finding.title.endswith('for Net: Missing key(s) in state_dict: "a.weight".')


def test_the_local_variables_in_a_box_of_rich_do_not_end_it(explained):
    (finding,) = explained(
        "╭───────── Traceback (most recent call last) ─────────╮\n│ /srv/demo/a.py:3 in f                               │\n"
        "│ ❱ 3 def f(x): return x['k']                         │\n│ ╭─ locals ─╮                                        │\n"
        "│ │ x = {}   │                                        │\n│ ╰──────────╯                                        │\n"
        "╰─────────────────────────────────────────────────────╯\nKeyError: 'k'\n"
    ).findings
    assert finding.title == "KeyError: 'k'"


SESSION = (
    "============================= test session starts ==============================\n"
    "tests/test_a.py::test_log \n"
    "Traceback (most recent call last):\n"
    '  File "/srv/demo/test_a.py", line 11, in test_log\n'
    "    1 / 0\n"
    "ZeroDivisionError: division by zero\n"
    "PASSED\n"
)


def test_what_a_session_that_passed_prints_is_no_failure(explained):
    said = explained(f"{SESSION}============== 2 passed, 2 xfailed, 1 warning in 7.47s ==============\n")
    assert not said.findings


@pytest.mark.parametrize(
    "summary", ["1 failed, 2 passed in 7.47s", "2 passed, 1 error in 7.47s", "2 skipped in 0.1s"]
)
def test_what_a_session_prints_that_did_not_pass_may_be_the_failure(explained, summary: str):
    said = explained(f"{SESSION}============== {summary} ==============\n")
    assert [f.role for f in said.findings] == ["cause"]


def test_an_error_behind_a_session_that_passed_is_a_failure(explained):
    said = explained(f"{SESSION}============== 2 passed in 7.47s ==============\n{SESSION[80:]}")
    assert [f.role for f in said.findings] == ["cause"]


@pytest.mark.parametrize("style", ["{}: {}", "[{}] {}"])
def test_the_number_of_a_line_is_no_rank(explained, style: str):
    printed = [
        "Traceback (most recent call last):",
        '  File "/srv/demo/a.py", line 2, in f',
        "    g()",
        "KeyError: 'k'",
    ]
    (finding,) = explained("".join(style.format(n, row) + "\n" for n, row in enumerate(printed))).findings
    assert (finding.title, finding.rank, finding.facts["n_python_frames"]) == ("KeyError: 'k'", None, 1)


def test_ranks_in_turn_are_ranks(explained):
    printed = [
        "Traceback (most recent call last):",
        '  File "/srv/demo/a.py", line 2, in f',
        "    g()",
        "KeyError: 'k'",
    ]
    (finding,) = explained("".join(f"{r}: {row}\n" for row in printed for r in (0, 1))).findings
    assert finding.facts["ranks"] == [0, 1]


def test_a_message_whose_first_line_is_empty_is_told_by_the_next(explained):
    (finding,) = explained(
        'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 2, in f\n    g()\n'
        "ValueError: \nInvalid log settings: aotx, must be a name.\n"
    ).findings
    assert finding.title == "ValueError: Invalid log settings: aotx, must be a name."


@pytest.mark.parametrize(
    "below", ["^C", "worker 3 goes on", '\nfrom user code:\n  File "/srv/demo/a.py", line 3, in g']
)
def test_an_exception_without_a_message_takes_none_from_the_line_below(explained, below: str):
    (finding,) = explained(
        f'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 2, in f\n    g()\nAssertionError\n{below}\n'
    ).findings
    assert finding.title == "AssertionError"
