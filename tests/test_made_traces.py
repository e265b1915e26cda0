"""Traces made for what takes many programs, or many versions of torch, to record."""

import json
from pathlib import Path
from typing import Any

import pytest

import aoti_logs
from aoti_logs.explain import Explanation, Finding


def findings(answer: Explanation, kind: str) -> list[Finding]:
    return [f for f in answer if f.kind == kind]


class Trace:
    """Records as torch writes them, for what takes many programs to record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dedicated_log_torch_trace_made.log"
        self.lines: list[str] = []

    def add(self, entry: str, fields: Any, payload: str | None = None, **ids: Any) -> None:
        envelope: dict[str, Any] = {entry: fields, **ids}
        if payload is not None:
            from hashlib import md5

            envelope["has_payload"] = md5(payload.encode()).hexdigest()
        self.lines.append(f"V1129 12:00:00.000000 77 torch/_dynamo/x.py:1] {json.dumps(envelope)}")
        if payload is not None:
            self.lines += [f"\t{line}" for line in payload.split("\n")]

    def start(self, number: int = 0, name: str = "f", frame: int = 0, above: tuple[str, ...] = ()) -> None:
        stack = [{"line": 5, "name": n, "filename": 0} for n in (*above, name)]
        self.add("dynamo_start", {"stack": stack}, frame_id=frame, frame_compile_id=number, attempt=0)

    def end(self, number: int = 0, frame: int = 0, **fields: Any) -> None:
        metrics = {
            "fail_type": None,
            "fail_reason": None,
            "co_name": "f",
            "co_filename": "m.py",
            "co_firstlineno": 5,
        }
        self.add("compilation_metrics", metrics | fields, frame_id=frame, frame_compile_id=number, attempt=0)

    def artifact(self, name: str, payload: str, number: int = 0) -> None:
        fields = {"name": name, "encoding": "string"}
        self.add("artifact", fields, payload, frame_id=0, frame_compile_id=number, attempt=0)

    def explain(self) -> Explanation:
        text = ['V1129 12:00:00.000000 77 torch/_logging/structured.py:28] {"str": ["m.py", 0]}', *self.lines]
        self.path.write_text("\n".join(text) + "\n")
        return aoti_logs.load(self.path).explain()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return Trace(tmp_path)


UNSUPPORTED: dict[str, Any] = {"fail_type": "Unsupported", "fail_reason": "builtin: print [] False"}


def test_what_old_torch_could_not_trace_may_have_run_as_python(trace: Trace):
    """Before 2.13 a trace does not tell fullgraph=True from a function that is given up: no cause."""
    trace.start()
    trace.end(**UNSUPPORTED)
    (finding,) = trace.explain()
    assert (finding.role, finding.severity, str(finding.confidence)) == ("note", "warning", "likely")


def test_what_was_exported_cannot_have_run_as_python(trace: Trace):
    stack = [{"line": 1, "name": "main", "filename": 0}, {"line": 2, "name": "export", "filename": 1}]
    trace.lines.append(
        'V1129 12:00:00.000000 77 torch/x.py:1] {"str": ["/opt/lib/site-packages/torch/export/__init__.py", 1]}'
    )
    trace.add("dynamo_start", {"stack": [*stack, *stack[:1]]}, frame_id=0, frame_compile_id=0, attempt=0)
    trace.end(**UNSUPPORTED)
    (finding,) = trace.explain()
    assert (finding.role, str(finding.confidence)) == ("cause", "proven")


def test_a_graph_break_in_the_same_compile_tells_that_it_was_handled(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_graph_break_reason", "Graph break in user code at m.py:7\nReason: Unsupported: builtin: print"
    )
    trace.end(**UNSUPPORTED)
    assert {(f.kind, f.role, f.severity) for f in trace.explain()} == {
        ("dynamo_unsupported", "note", "note"),
        ("graph_break", "note", "note"),
    }


def test_a_later_compile_under_the_function_tells_that_it_was_handled(trace: Trace):
    trace.start()
    trace.end(**UNSUPPORTED)
    trace.start(frame=1, name="g", above=("main", "f"))
    trace.end(frame=1, co_name="g")
    (finding,) = trace.explain()
    assert (finding.role, str(finding.confidence)) == ("note", "proven")


def test_suppressed_errors_are_no_cause(trace: Trace):
    trace.start()
    trace.end(
        fail_type="BackendCompilerFailed",
        fail_reason="backend='b' raised:\nValueError: boom",
        config_suppress_errors=True,
    )
    (finding,) = trace.explain()
    assert (finding.role, finding.severity) == ("note", "warning")


def test_the_limit_is_a_cause_only_where_it_was_raised(trace: Trace):
    trace.start()
    trace.end()
    trace.artifact("recompile_reasons", "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3", 1)
    trace.end(
        1,
        fail_type="FailOnRecompileLimitHit",
        fail_reason="Hard failure due to fullgraph=True",
        dynamo_config='{"recompile_limit": 1}',
    )
    (limit,) = findings(trace.explain(), "recompile_limit")
    assert (limit.role, limit.facts["limit"], limit.facts["function"]) == ("cause", 1, "f")
    assert limit.facts["last_reason"]["actual"] == 3


def test_a_failure_at_every_call_is_one_finding(trace: Trace):
    for number in range(20):
        trace.start(number)
        trace.end(number, fail_type="TorchRuntimeError", fail_reason="Failed running f(*(), **{}):\nno")
    (finding,) = findings(trace.explain(), "fake_tensor_error")
    assert finding.facts["n_times"] == 20
    assert finding.facts["compile_ids"][:2] == ["0/0", "0/1"]


def test_metrics_and_traceback_of_one_compile_are_one_finding(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_error",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: boom',
    )
    trace.end(fail_type="ValueError", fail_reason="boom")
    assert len(trace.explain().findings) == 1


def test_a_traceback_without_metrics_is_a_failure_of_an_unfinished_trace(trace: Trace):
    trace.start()
    trace.artifact(
        "dynamo_error",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: boom',
    )
    assert {f.kind for f in trace.explain()} == {"compile_failed", "compile_unfinished"}


def test_an_id_that_begins_again_is_another_compile(trace: Trace):
    """After torch._dynamo.reset() ids begin at 0/0."""
    for _ in range(2):
        trace.start()
        trace.end()
    trace.start()
    assert [f.kind for f in trace.explain()] == ["compile_unfinished"]


def test_damaged_metrics_leave_open_whether_a_compile_ended(trace: Trace):
    trace.start()
    trace.lines.append(
        'V1129 12:00:00.000000 77 torch/_dynamo/x.py:1] {"compilation_metrics": {"fail_type": nul'
    )
    assert not trace.explain().findings


def test_a_partial_graph_of_a_compile_that_recovered_is_nothing(trace: Trace):
    trace.start()
    trace.artifact("make_fx_fail_partial", 'def forward(self, x):\n    y: "Sym(u0 > 5)" = x > 5\n')
    trace.end()
    assert not trace.explain().findings


@pytest.mark.parametrize(
    ("caller", "role"), [("/srv/demo/main.py", "cause"), ("/opt/lib/site-packages/torch/onnx/x.py", "note")]
)
def test_a_graph_that_torch_itself_asked_for_may_be_one_of_several_ways(trace: Trace, caller: str, role: str):
    for number, name in ((1, caller), (2, "/opt/lib/site-packages/torch/export/__init__.py")):
        trace.lines.append(f'V1129 12:00:00.000000 77 torch/x.py:1] {{"str": ["{name}", {number}]}}')
    stack = [{"line": 3, "name": "main", "filename": 1}, {"line": 9, "name": "export", "filename": 2}]
    graph = 'def forward(self, x):\n    y: "Sym(u0 > 5)" = x > 5\n'
    trace.add("artifact", {"name": "make_fx_fail_partial", "encoding": "string"}, graph, stack=stack)
    (finding,) = trace.explain()
    assert (finding.role, finding.kind) == (role, "data_dependent")


def test_many_functions_that_were_given_up_are_no_pile(trace: Trace):
    for frame in range(30):
        trace.start(frame=frame, name=f"f{frame}")
        trace.end(frame=frame, co_name=f"f{frame}", **UNSUPPORTED)
    answer = trace.explain()
    assert sum(f.severity == "warning" for f in answer) == 3
    assert len(answer.findings) == 30


@pytest.mark.parametrize("value", [None, 7, [], {}, "x\x00\x1b[31m", True])
def test_fields_that_hold_anything_do_not_raise(trace: Trace, value: Any):
    trace.add("dynamo_start", {"stack": value}, frame_id=0, frame_compile_id=0, attempt=0)
    for entry in ("symbolic_shape_specialization", "propagate_real_tensors_provenance", "guard_on_data_dependent_error",
                  "missing_fake_kernel", "mismatched_fake_kernel", "compilation_metrics", "bwd_compilation_metrics"):  # fmt: skip
        trace.add(entry, value)
        trace.add(entry, dict.fromkeys(("expr", "op", "reason", "stack", "user_stack", "sources", "symbol", "fail_type",
                                        "fail_reason", "dynamo_config", "restart_reasons", "co_name"), value))  # fmt: skip
    trace.artifact("recompile_reasons", str(value))
    trace.artifact("dynamo_graph_break_reason", str(value))
    trace.artifact("make_fx_fail_partial", str(value))
    str(trace.explain())
