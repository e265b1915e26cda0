"""Failed compiles in a log: which exception leads, what belongs to it, and what is no failure."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Explanation
from aoti_logs.parse.events import ErrorForm
from tests.log_text import assert_partition, read

HEADER = "Traceback (most recent call last):\n"
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
COMMAND = "C++ compile error\n\nCommand:\n/srv/demo/g++ /srv/demo/c/k.cpp -std=c++17 -o /srv/demo/c/k.so\n\nOutput:\n"
PROCESS = (
    f'{HEADER}  File "/opt/lib/python3.11/subprocess.py", line 1, in run\n'
    "subprocess.CalledProcessError: Command 'g++' returned non-zero exit status 1.\n"
)
ERROR = "/srv/demo/c/k.cpp:3:5: error: expected ';'\n    3 |     int a\n      |          ^\n"


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> Explanation:
        (tmp_path / "run.log").write_text(text)
        return aoti_logs.load(tmp_path / "run.log").explain()

    return run


def kinds(answer: Explanation) -> list[tuple[str, str]]:
    return [(f.kind, f.role) for f in answer]


def test_a_chain_of_exceptions_is_one_failure(explain):
    text = (
        f"{PROCESS}{CAUSE}{HEADER}"
        '  File "/srv/demo/a.py", line 7, in main\n    compile(m)\n'
        f"torch._inductor.exc.InductorError: CppCompileError: {COMMAND}{ERROR}"
    )
    (finding,) = explain(text).findings
    assert finding.kind == "cpp_compile_error"
    assert finding.facts["exception_type"] == "torch._inductor.exc.InductorError"
    assert finding.facts["inner_exception"] == "CppCompileError"
    assert [k.step for k in finding.chain] == ["failure", "python", "compiler", "error", "inside"]
    assert [e["line"] for e in finding.facts["compiler_errors"]] == [3]


def test_an_error_is_quoted_at_its_own_line(explain):
    text = f'{HEADER}  File "/srv/demo/a.py", line 7, in main\ntorch._inductor.exc.CppCompileError: {COMMAND}{ERROR}'
    (finding,) = explain(text).findings
    (error,) = [k for k in finding.chain if k.step == "error"]
    assert text.split("\n")[error.place.line - 1].endswith("error: expected ';'")


def test_the_compilers_own_output_above_belongs_to_an_exception_without_it(explain):
    """Torch before 2.7 sends the output of AOTInductor's compiler to stderr and writes None."""
    text = f'{ERROR}{HEADER}  File "/srv/demo/a.py", line 7, in main\ntorch._inductor.exc.CppCompileError: {COMMAND}None\n'
    (finding,) = explain(text).findings
    (error,) = [k for k in finding.chain if k.step == "error"]
    assert (error.place.line, finding.facts["source_file"]) == (1, "/srv/demo/c/k.cpp")


def test_a_compilers_output_alone_is_a_failure(explain):
    (finding,) = explain(ERROR).findings
    assert (finding.kind, finding.facts["compiler_errors"][0]["message"]) == (
        "cpp_compile_error",
        "expected ';'",
    )


@pytest.mark.parametrize(
    "line",
    [
        "models/a.py:12:3: error: Incompatible types in assignment  [assignment]",  # mypy
        "ERROR: error: could not read the file",
        "request failed: error: timeout",
        "/srv/demo/c/k.cpp:3:5: warning: unused variable",
    ],
)
def test_what_is_no_compiler_error_is_none(explain, line):
    assert "cpp_compile_error" not in {f.kind for f in explain(f"{line}\n")}


def test_caught_exceptions_that_a_script_prints_are_failures_of_their_own(explain):
    text = (
        'UserError Constraints violated (b)! For more information, run with TORCH_LOGS="+dynamic".\n'
        "  - You marked b as dynamic but your code specialized it to be a constant (8). If\n"
        "GuardOnDataDependentSymNode Could not guard on data-dependent expression u0 > 5 (unhinted: u0 > 5).  (Size-like symbols: none)\n"
        "UnsupportedOperatorException mylib.foo.default\n"
        "InductorError InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')\n"
    )
    assert kinds(explain(text)) == [
        ("constraint_violation", "cause"),
        ("data_dependent", "cause"),
        ("unsupported_operator", "cause"),
        ("invalid_cxx_compiler", "cause"),
    ]
    assert_partition(read(text), len(text))


@pytest.mark.parametrize(
    "line", ["UserError is raised for bad input", "A Note about Constraints", "InductorError raised"]
)
def test_a_sentence_that_begins_with_a_class_is_no_failure(explain, line):
    assert not explain(f"{line}\n").findings


def test_an_unknown_error_before_a_failed_compile_is_a_note(explain):
    text = (
        f'{HEADER}  File "a.py", line 1, in f\nValueError: bad value\n\n'
        f'{HEADER}  File "a.py", line 2, in g\ntorch._dynamo.exc.Unsupported: Data-dependent branching\n'
    )
    assert kinds(explain(text)) == [("dynamo_unsupported", "cause"), ("python_traceback", "note")]


def test_an_error_behind_a_failed_compile_follows(explain):
    text = (
        f'{HEADER}  File "a.py", line 2, in g\ntorch._dynamo.exc.Unsupported: Data-dependent branching\n\n'
        f'{HEADER}  File "b.py", line 1, in f\nRuntimeError: worker died\n'
    )
    (finding,) = explain(text).findings
    assert [c.text for c in finding.consequences] == ["worker died"]


def test_the_same_failure_twice_is_told_once(explain):
    text = f'{HEADER}  File "a.py", line 2, in g\ntorch._dynamo.exc.Unsupported: Data-dependent branching\n\n'
    (finding,) = explain(text * 3).findings
    assert len(finding.consequences) == 2


META = """\
E1129 12:11:39.699000 6368 torch/_subclasses/fake_tensor.py:3090] [2/0] failed while attempting to run meta for aten.mm.default
E1129 12:11:39.699000 6368 torch/_subclasses/fake_tensor.py:3090] [2/0] Traceback (most recent call last):
E1129 12:11:39.699000 6368 torch/_subclasses/fake_tensor.py:3090] [2/0] RuntimeError: a and b must have same reduction dim
"""


def test_a_message_before_an_exception_is_likely_the_failure(explain):
    (finding,) = explain(META).findings
    assert (finding.kind, str(finding.confidence)) == ("fake_tensor_error", "likely")
    assert (finding.facts["op"], finding.facts["compile_id"], finding.facts["log_level"]) == (
        "aten.mm.default",
        "2/0",
        "E",
    )


def test_a_message_of_the_same_failure_is_no_second_one(explain):
    text = (
        f'{META}{HEADER}  File "a.py", line 2, in g\ntorch._dynamo.exc.TorchRuntimeError: Failed running '
        "call_function f(*(), **{}):\na and b must have same reduction dim\n"
    )
    assert kinds(explain(text)) == [("fake_tensor_error", "cause")]


def test_a_limit_in_a_log_is_a_warning(explain):
    text = (
        "W1129 12:11:44.598000 6368 torch/_dynamo/convert_frame.py:1994] [3/2] torch._dynamo hit config.recompile_limit (2)\n"
        "W1129 12:11:44.598000 6368 torch/_dynamo/convert_frame.py:1994] [3/2]    function: 'k' (/srv/demo/g.py:87)\n"
        "W1129 12:11:44.598000 6368 torch/_dynamo/convert_frame.py:1994] [3/2]    last reason: 3/1: tensor 'x' size mismatch at index 0. expected 3, actual 4\n"
    )
    answer = explain(text)
    (finding,) = answer.findings
    assert (finding.kind, finding.role, finding.severity) == ("recompile_limit", "note", "warning")
    assert (finding.facts["limit"], finding.facts["function"], finding.facts["line"]) == (2, "k", 87)
    assert finding.facts["last_reason"]["tensor"] == "x"
    assert not answer.failed
    assert "reached the limit of 2 compiles" in str(answer)


def test_unexpected_recompiles_get_no_advice_about_sizes(explain):
    text = (
        "W0519 00:03:34.719000 7 torch/_dynamo/convert_frame.py:1986] [0/8] torch._dynamo hit config.recompile_limit (8)\n"
        "W0519 00:03:34.719000 7 torch/_dynamo/convert_frame.py:1986] [0/8]    function: 'foo' (/srv/r.py:7)\n"
        "W0519 00:03:34.719000 7 torch/_dynamo/convert_frame.py:1986] [0/8]    last reason: 0/7: Unexpected recompilation: runtime guards failed even though they passed during recompilation-reason analysis. Please open an issue with a minimal repro: https://github.com/pytorch/pytorch\n"
    )
    (finding,) = explain(text).findings
    assert not any("mark_dynamic" in fix for fix in finding.fixes)


def test_a_report_of_a_draft_export_is_a_warning(explain, fixtures_dir: Path):
    text = (fixtures_dir / "cpu_trace_draft_export" / "run.log").read_text()
    answer = explain(text)
    assert {(f.rule, f.role, f.severity) for f in answer} == {
        ("AL507", "note", "warning"),
        ("AL605", "note", "warning"),
    }
    assert not answer.failed


def test_a_compilers_output_is_one_record(fixtures_dir: Path):
    events = read(ERROR + "done\n")
    assert [(e.form, e.span.start, e.span.end) for e in events.errors] == [
        (ErrorForm.COMPILER, 0, len(ERROR))
    ]
    assert_partition(events, len(ERROR) + 5)


def test_the_warning_of_a_limit_belongs_to_the_exception_of_it(explain):
    text = (
        "W1129 12:11:44.598000 6368 torch/_dynamo/convert_frame.py:1994] [3/2] torch._dynamo hit config.recompile_limit (2)\n"
        "W1129 12:11:44.598000 6368 torch/_dynamo/convert_frame.py:1994] [3/2]    function: 'k' (/srv/demo/g.py:87)\n"
        f'{HEADER}  File "a.py", line 2, in g\ntorch._dynamo.exc.FailOnRecompileLimitHit: Hard failure due to fullgraph=True\n'
    )
    (finding,) = explain(text).findings
    assert (finding.role, finding.facts["function"], finding.facts["limit"]) == ("cause", "k", 2)
    assert finding.title == "`k` reached the limit of 2 compiles, and that is an error here"


def test_a_fake_kernel_of_the_program_that_raises_does_not_say_that_the_inputs_are_wrong(tmp_path: Path):
    (tmp_path / "run.log").write_text(
        'Traceback (most recent call last):\n  File "/srv/demo/a.py", line 8, in <module>\n    f(x)\n'
        "torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call\n"
        "  Explanation: Dynamo failed to run FX node with fake tensors: call_function my.op.default("
        "*(FakeTensor(..., size=(3,)),), **{}): got AssertionError('fake is wrong')\n"
    )
    (finding,) = aoti_logs.load(tmp_path).explain()
    assert finding.title == "the fake kernel of `my.op.default` raised AssertionError: fake is wrong"
