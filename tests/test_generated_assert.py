"""Checks of generated Python code, promises about data, operators that refuse, wrong calls of tools."""

import pytest

import aoti_logs
from aoti_logs.parse.asserts.generated_assert import read_runtime_check, read_tensor_check
from tests.log_text import read


def explained(tmp_path, text: str):
    (tmp_path / "run.log").write_text(text)
    return aoti_logs.load(tmp_path / "run.log").explain().findings


def traceback(code: str, said: str, function: str = "call") -> str:
    return f'Traceback (most recent call last):\n  File "/tmp/t/dd/cdd.py", line 395, in {function}\n    {code}\n{said}\n'


def test_the_first_number_is_the_actual_one():
    """torch 2.0 and later: `expected size A==E, stride A==E at dim=D`."""
    text = traceback(
        "assert_size_stride(buf4, (16, s3), (s3, 1))",
        "AssertionError: expected size 3==16, stride 4==5 at dim=0; expected size 4==5, stride 1==1 at dim=1",
    )
    found = read_tensor_check(read(text).errors[0])
    assert found is not None
    assert [
        (d.dim, d.size_actual, d.size_expected, d.stride_actual, d.stride_expected) for d in found.dims
    ] == [
        (0, 3, 16, 4, 5),
        (1, 4, 5, 1, 1),
    ]
    assert (found.buffer, found.sizes, found.strides) == ("buf4", (16, "s3"), ("s3", 1))


@pytest.mark.parametrize(
    ("name", "kind", "fact"),
    [
        ("cpu_size_stride", "size_stride_assert", ("stride_actual", 1)),
        ("cpu_dimensions", "size_stride_assert", ("ndim_actual", 1)),
        ("cpu_alignment", "alignment_assert", ("storage_offset", 1)),
    ],
)
def test_the_operator_that_made_the_tensor_is_named(fixtures_dir, name, kind, fact):
    (finding,) = aoti_logs.load(fixtures_dir / name / "run.log").explain().findings
    assert (finding.kind, finding.facts["op"], finding.facts["buffer"]) == (
        kind,
        "torch.ops.demo.mix.default",
        "buf2",
    )
    assert finding.facts[fact[0]] == fact[1]


def test_without_the_statement_the_buffer_is_not_known(tmp_path):
    (finding,) = explained(tmp_path, "AssertionError: expected size 64==64, stride 16384==1 at dim=1\n")
    assert finding.kind == "size_stride_assert"
    assert finding.facts["buffer"] is None


def test_another_assertion_is_none_of_these(tmp_path):
    (finding,) = explained(tmp_path, traceback("assert x == y", "AssertionError: expected size of the batch"))
    assert finding.rule != "AL616"


def test_a_bare_condition_is_a_promise_only_in_generated_code():
    said = "RuntimeError: u0 <= 4"
    told = read(traceback("raise RuntimeError('u0 <= 4')", said)).errors[0]
    other = read(traceback("raise RuntimeError('u0 <= 4')", said, function="main")).errors[0]
    assert read_runtime_check(told) is not None
    assert read_runtime_check(other) is None


def test_the_long_form_of_a_promise_is_read_anywhere():
    text = "RuntimeError: Runtime assertion failed for expression Eq(Mod(u0, 8), 0) on node 'eq'\n"
    found = read_runtime_check(read(text).errors[0])
    assert found is not None
    assert (found.expression, found.node) == ("Eq(Mod(u0, 8), 0)", "eq")


def test_the_operator_of_the_innermost_line_refused(fixtures_dir):
    (finding,) = aoti_logs.load(fixtures_dir / "cpu_aten_shapes" / "run.log").explain().findings
    assert (finding.rule, finding.kind, finding.facts["op"]) == ("AL618", "python_traceback", "linear")


@pytest.mark.parametrize(
    "code",
    ["return torch.add(torch.mul(a, b), c)", "return helper(a)", "raise RuntimeError('no')", "x = a @ b"],
)
def test_a_line_that_may_have_called_several_names_none(tmp_path, code):
    (finding,) = explained(tmp_path, traceback(code, "RuntimeError: no", function="f"))
    assert finding.rule != "AL618"


def test_a_wrong_call_of_tlparse_is_no_failure_of_the_run(tmp_path):
    """tlparse 0.4.3; another program may say the same of a file."""
    (finding,) = explained(tmp_path, "Error: /tmp/trace_dir is not a file\n")
    assert (finding.kind, finding.confidence, finding.facts["path"]) == (
        "tool_usage_error",
        "likely",
        "/tmp/trace_dir",
    )
    (sure,) = explained(
        tmp_path, "Error: Directory tl_out already exists; pass --overwrite to replace it or use -o OUTDIR\n"
    )
    assert (sure.kind, sure.confidence) == ("tool_usage_error", "proven")
