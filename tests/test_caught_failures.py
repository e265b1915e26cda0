"""A failed compile that the program caught, or that another error stands beside, is told as that."""

import json
from hashlib import md5
from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Confidence, Explanation

HEADER = "Traceback (most recent call last):\n"
BROKEN = (
    f'{HEADER}  File "/srv/demo/a.py", line 7, in main\n    f(x)\n'
    "torch._dynamo.exc.BackendCompilerFailed: backend='bad' raised:\nRuntimeError: my backend is broken\n"
)
LATER = f'{HEADER}  File "/srv/demo/a.py", line 11, in main\n    print(data["weights"])\n'
WHILE = "\nDuring handling of the above exception, another exception occurred:\n\n"
OUTPUT = "g++: error: unrecognized command-line option '-mno-such-flag'\n"
COMPILER = (
    f'{HEADER}  File "/srv/demo/cache/hs/chsrxys7ioobhm4rqj7npzhqhkaopxjet3i6lqagayigrf464rwf.py", line 33, in <module>\n'
    "torch._inductor.exc.CppCompileError: C++ compile error\n\nCommand:\ng++ /srv/demo/k.cpp -o /srv/demo/k.so\n\n"
    f"Output:\n{OUTPUT}"
)
UNDECIDED = (
    "Could not guard on data-dependent expression u0 > 3 (unhinted: u0 > 3).  (Size-like symbols: none)\n"
)
REFUSED = "a and b must have same reduction dim, but got [3, 4] X [3, 4]."


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> Explanation:
        (tmp_path / "run.log").write_text(text)
        return aoti_logs.load(tmp_path / "run.log").explain()

    return run


def trace(*records: tuple[str, object, int | None, str | None], process: int = 77) -> str:
    lines = []
    for name, fields, number, payload in records:
        envelope = {name: fields}
        if number is not None:
            envelope |= {"frame_id": 0, "frame_compile_id": number, "attempt": 0}
        if payload is not None:
            envelope["has_payload"] = md5(payload.encode()).hexdigest()
        lines.append(f"V1129 12:00:00.000000 {process} torch/_dynamo/x.py:1] {json.dumps(envelope)}")
        lines += [f"\t{line}" for line in payload.split("\n")] if payload is not None else []
    return "\n".join(lines) + "\n"


def start(number: int):
    return "dynamo_start", {"stack": [{"line": 5, "name": "f", "filename": 0}]}, number, None


def end(number: int, **fields: object):
    known = {
        "fail_type": None,
        "fail_reason": None,
        "co_name": "f",
        "co_filename": "m.py",
        "co_firstlineno": 5,
    }
    return "compilation_metrics", known | fields, number, None


FAILED = {
    "fail_type": "torch._dynamo.exc.BackendCompilerFailed",
    "fail_reason": "backend='bad' raised:\nRuntimeError: my backend is broken",
}


def test_an_error_behind_a_caught_failure_does_not_follow_from_it(explain):
    found = explain(f"{BROKEN}\n{LATER}KeyError: 'weights'\n").findings
    assert [(f.rule, f.role) for f in found] == [("AL603", "cause"), ("AL001", "cause")]
    assert not found[0].consequences


def test_what_a_parent_process_says_of_its_child_follows(explain):
    (finding,) = explain(f"{BROKEN}\n{LATER}torch.distributed.elastic.ChildFailedError: x failed\n").findings
    assert len(finding.consequences) == 1


def test_an_exception_raised_while_handling_is_not_said_to_hand_it_on(explain):
    (finding,) = explain(f"{BROKEN}{WHILE}{LATER}KeyError: 'fallback'\n").findings
    assert [k.step for k in finding.chain] == ["failure", "python", "then"]


def test_a_compilers_output_on_stderr_and_in_the_exception_is_one_failure(explain):
    (finding,) = explain(f"{OUTPUT}{COMPILER}").findings
    assert finding.rule == "AL607"
    assert "user_frame" not in finding.facts  # the frame is of code that Inductor generated


def test_a_compiler_that_was_killed_is_not_laid_to_its_options(explain):
    killed = "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
    (finding,) = explain(COMPILER.replace(OUTPUT, killed)).findings
    assert "options" not in finding.verdicts[0].because[0]


def test_draft_export_is_no_advice_for_a_compile(explain):
    frame = f'{HEADER}  File "/srv/demo/a.py", line 7, in main\n    f(x)\n'
    export = '  File "/opt/site-packages/torch/export/__init__.py", line 3, in export\n    return _export()\n'
    for middle, advised in [("", 0), (export, 1)]:
        (finding,) = explain(f"{frame}{middle}torch._dynamo.exc.UserError: {UNDECIDED}").findings
        assert (finding.rule, len(finding.experiments)) == ("AL506", advised)


def test_wrong_arguments_of_an_export_are_not_called_code_that_cannot_be_traced(explain):
    text = f'{HEADER}  File "/srv/demo/a.py", line 7, in main\ntorch._dynamo.exc.UserError: When `dynamic_shapes` is a dict\n'
    (finding,) = explain(text).findings
    assert "refused what it was given" in finding.title
    assert not finding.verdicts[0].fixes


@pytest.mark.parametrize("again", [{}, FAILED])
def test_a_failure_is_a_warning_where_its_function_is_compiled_later(tmp_path, again):
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(
        trace(start(0), end(0, **FAILED), start(1), end(1, **again))
    )
    (finding,) = (f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL603")
    assert (finding.role, finding.confidence) == (
        ("cause", Confidence.PROVEN) if again else ("note", Confidence.LIKELY)
    )


def test_metrics_that_name_no_function_tell_nothing_of_a_retry(tmp_path):
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(
        trace(start(0), end(0, **FAILED), start(1), end(1, co_name=["f"], co_filename={}))
    )
    (finding,) = (f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL603")
    assert finding.role == "cause"


def test_a_log_of_a_failure_that_was_retried_is_a_warning_too(tmp_path):
    (tmp_path / "run.log").write_text(BROKEN)
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(
        trace(start(0), end(0, **FAILED), start(1), end(1))
    )
    (finding,) = (f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL603")
    assert (finding.role, finding.severity) == ("note", "warning")


@pytest.mark.parametrize(("process", "linked"), [(77, True), (78, False)])
def test_a_message_and_a_trace_of_two_processes_are_not_linked(tmp_path, process, linked):
    at = "W1129 12:00:00.000000 77 torch/_dynamo/convert_frame.py:9] [0/1] "
    said = [
        "torch._dynamo hit config.recompile_limit (1)",
        "   function: 'f' (m.py:5)",
        "   last reason: 0/0: s == 'a'",
    ]
    (tmp_path / "run.log").write_text("".join(f"{at}{line}\n" for line in said))
    limit = {
        "fail_type": "torch._dynamo.exc.RecompileLimitExceeded",
        "fail_reason": "recompile_limit reached",
    }
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(
        trace(start(0), end(0), start(1), end(1, **limit), process=process)
    )
    found = [f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL502"]
    assert len(found) == (1 if linked else 2)


def test_a_refused_operator_is_only_likely_a_cause_where_the_log_has_no_traceback(tmp_path):
    at = "E1129 12:00:00.000000 77 torch/_subclasses/fake_tensor.py:9] [0/0] "
    said = [
        "failed while attempting to run meta for aten.mm.default",
        HEADER.strip(),
        f"RuntimeError: {REFUSED}",
    ]
    (tmp_path / "run.log").write_text("".join(f"{at}{line}\n" for line in said))
    node = f"Dynamo failed to run FX node with fake tensors: call_function <built-in function matmul>(*(), **{{}}): got RuntimeError('{REFUSED}')"
    failed = {"fail_type": "torch._dynamo.exc.TorchRuntimeError", "fail_reason": node}
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(trace(start(0), end(0, **failed)))
    (finding,) = (f for f in aoti_logs.load(tmp_path).explain() if f.rule == "AL604")
    assert (finding.confidence, [k.step for k in finding.chain][-1]) == (Confidence.LIKELY, "log")


def test_the_exception_of_a_failed_export_and_its_broken_off_graph_are_one_finding(tmp_path):
    (tmp_path / "run.log").write_text(
        f'{HEADER}  File "/srv/demo/a.py", line 7, in <module>\n    export(m, (x,))\n'
        '  File "/opt/site-packages/torch/export/__init__.py", line 3, in export\n    return _export()\n'
        f"RuntimeError: {REFUSED}\n"
    )
    frames = [
        {"line": 7, "name": "<module>", "filename": "/srv/demo/a.py", "loc": "export(m, (x,))"},
        {"line": 3, "name": "export", "filename": "/opt/site-packages/torch/export/__init__.py"},
    ]
    record = json.dumps(
        {
            "artifact": {"name": "make_fx_fail_partial", "encoding": "string"},
            "stack": frames,
            "has_payload": md5(b"class g(torch.nn.Module):").hexdigest(),
        }
    )
    (tmp_path / "dedicated_log_torch_trace_a.log").write_text(
        f"V1129 12:00:00.000000 77 torch/x.py:1] {record}\n\tclass g(torch.nn.Module):\n"
    )
    (finding,) = (f for f in aoti_logs.load(tmp_path).explain() if f.role == "cause")
    assert [k.step for k in finding.chain][-1] == "trace"


def test_an_operator_is_quoted_at_the_line_that_names_it(explain):
    text = (
        f'{HEADER}  File "/srv/demo/a.py", line 7, in main\n    f(x)\n'
        "torch._inductor.exc.InductorError: LoweringException: NotImplementedError: no sin\n"
        "  target: aten.sin.default\n  args[0]: 1\n"
    )
    (finding,) = explain(text).findings
    (link,) = [k for k in finding.chain if k.step == "operator"]
    assert text.split("\n")[link.place.line - 1] == "  target: aten.sin.default"
