"""Texts that hold the words of a failure and are none: lists of changes, source code, names of tests, other programs."""

import time
from pathlib import Path

import pytest

import aoti_logs

NO_CC = "Failed to find C compiler. Please specify via CC environment variable."
NO_TRITON = "Cannot find a working triton installation. Either the package is not installed or it is too old."


def told(folder: Path, text: str) -> list[aoti_logs.Finding]:
    (folder / "run.log").write_text(text)
    return list(aoti_logs.load(folder / "run.log").explain())


@pytest.mark.parametrize(
    "line",
    [
        f'I get "RuntimeError: {NO_CC}" sometimes',
        f'    print("error: RuntimeError: {NO_CC}")',
        f"#   RuntimeError: {NO_CC}",
        "* Fixed RuntimeError: Compiler: cl is not found. on Windows (#1234)",
        "        'RuntimeError: Compiler: cl is not found.'",
        f"tests/test_triton.py::test_missing[TritonMissing: {NO_TRITON}] PASSED",
        f"WARNING: no torch.compile, falling back: RuntimeError: {NO_TRITON}",
        "tests/test_a.py::test_llvm[LLVM ERROR: foo] PASSED",
        "Exception: none so far",
        # nvcc of an extension, which no Triton compiles
        "ptxas error   : Entry function '_Z3fooPf' uses too much shared data (0x20000 bytes, 0xc000 max)",
    ],
)
def test_a_text_about_an_error_is_none(tmp_path, line):
    assert told(tmp_path, f"step 1\n{line}\nstep 2\n") == []


def test_a_question_with_an_explanation_and_a_hint_is_no_graph_break(tmp_path):
    """Dynamo adds its context, or the page of that kind of code."""
    assert told(tmp_path, "3: What does dropout do?\n  Explanation: it zeroes values\n  Hint: think\n") == []


def test_a_loggers_line_below_frames_that_a_program_printed_is_no_exception(tmp_path):
    frames = '  File "/app/t.py", line 5, in main\n    traceback.print_stack()\n'
    assert told(tmp_path, f"{frames}app.engine.Trainer: starting epoch 3\n") == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("    raise Again(no)\n", "queues.Again: Resource temporarily unavailable"),
        ("", "zmq.error.Again: Resource temporarily unavailable"),
    ],
)
def test_an_exception_of_any_name_is_found_below_what_raises_it_or_from_a_module_of_errors(
    tmp_path, code, line
):
    (found,) = told(tmp_path, f'  File "socket.pyx", line 186, in recv\n{code}{line}\n')
    assert found.facts["exception_type"] == line.partition(":")[0]


def test_a_class_of_another_library_that_is_called_like_one_of_torch_is_not_taken_for_it(tmp_path):
    assert [f.rule for f in told(tmp_path, "media.exc.Unsupported: codec h265\n")] == ["AL001"]


def test_a_line_of_ptxas_is_not_joined_with_an_exception_that_only_says_its_name(tmp_path):
    text = (
        "ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'\nfallback\n"
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nValueError: bad ptxas path\n'
    )
    assert [f.rule for f in told(tmp_path, text)] == ["AL612", "AL001"]


def test_many_explanations_below_each_other_are_read_in_time(tmp_path):
    """Each is looked at once: reading on from each to the end took minutes."""
    began = time.process_time()
    assert told(tmp_path, "Question\n" + "  Explanation: foo\n" * 8000) == []
    assert time.process_time() - began < 20
