"""AL401 to AL403: where NaN is first, failed checks for NaN, and what the value printer recorded."""

from pathlib import Path

import pytest

import aoti_logs
from tests.log_text import CUDA
from tests.test_printer_launches import INPUT, around, block

CALL = 'Error: aoti_torch_check_inf_and_nan("arg4_1", arg4_1) API call failed at /srv/demo/c/cd4i.wrapper.cpp, line 922\n'
RAISED = (
    "Traceback (most recent call last):\n"
    '  File "/opt/venv/lib/python3.11/site-packages/torch/export/pt2_archive/_package.py", line 743, in __call__\n'
    "    flat_outputs = self.loader.boxed_run(flat_inputs)\n"
    "RuntimeError: At least one {} in arg4_1\n"
)
HASHED = "/tmp/torchinductor_user/cd/ccdq3v5m2kq4dzsk7w6t2ynv2tw2l4m6m3v5w7kq3r2s4u6x7yz3.py"
BARE = (
    "Traceback (most recent call last):\n"
    '  File "{}", line 131, in call\n'
    "    assert not {}.is{}().any().item()\n"
    "AssertionError\n"
)


@pytest.fixture
def findings(tmp_path: Path):
    def explain(text: str) -> list[aoti_logs.Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain().findings)

    return explain


def only(found: list[aoti_logs.Finding], rule: str) -> aoti_logs.Finding:
    (one,) = [f for f in found if f.rule == rule]
    return one


def test_a_launch_that_wrote_nan_is_named(findings):
    text = INPUT.format(arg="arg0_1", value="3") + around("k", ("arg0_1", "3", "3"), ("buf0", "0", "nan"))
    finding = only(findings(text), "AL401")
    assert finding.facts["origin"] == "written"
    assert finding.facts["first_nan"]["tensor"] == "buf0"
    assert finding.facts["inputs_finite"] is True
    assert finding.facts["launch_arguments_finite"] is True


def test_nan_of_an_output_before_its_launch_is_no_evidence(findings):
    found = findings(around("k", ("arg0_1", "3", "3"), ("buf0", "nan", "1")))
    assert [f.rule for f in found] == ["AL403"]
    assert found[0].facts["has_nan"] is False


def test_nan_in_an_input_is_laid_to_the_input(findings):
    text = INPUT.format(arg="arg0_1", value="nan") + around(
        "k", ("arg0_1", "nan", "nan"), ("buf0", "0", "nan")
    )
    finding = only(findings(text), "AL401")
    assert finding.facts["origin"] == "given"
    assert "arg0_1" in finding.title


def test_nan_that_a_kernel_only_read_is_not_laid_to_it(findings):
    """A call that prints no outputs wrote `buf4`; the kernel that is given it spreads it to `buf7`."""
    text = around("k", ("buf7", "0", "nan"), ("buf4", "nan", "nan"))
    finding = only(findings(text), "AL401")
    assert (finding.facts["origin"], finding.facts["first_nan"]["tensor"]) == ("read", "buf4")


def test_nan_between_two_launches_is_laid_to_neither(findings):
    text = around("k", ("buf0", "0", "1")) + around("j", ("buf0", "nan", "nan"))
    finding = only(findings(text), "AL401")
    assert finding.facts["origin"] == "between"


def test_a_tensor_of_an_earlier_call_is_not_what_a_later_call_prints(findings):
    call = INPUT.format(arg="arg0_1", value="3")
    text = call + around("k", ("buf0", "3", "3")) + call + around("j", ("buf0", "nan", "nan"))
    finding = [f for f in findings(text) if f.rule == "AL401"]
    assert all(f.facts["origin"] != "between" for f in finding)


def test_a_mean_that_is_nan_is_no_nan(findings):
    infinite = block("after", "k", "buf8", "1").replace("Mean value: 1", "Mean value: nan")
    infinite = infinite.replace("Min value: 1", "Min value: -inf").replace("Max value: 1", "Max value: inf")
    found = findings(infinite.replace("\n 1\n[ CPUFloatType{1} ]", "", 1))
    assert [f.rule for f in found] == ["AL403"]
    assert found[0].facts["inf_buffers"] == ["buf8"]


def test_infinite_arguments_are_named_beside_a_nan(findings):
    text = around("k", ("buf1", "inf", "inf"), ("buf2", "0", "nan"))
    finding = only(findings(text), "AL401")
    assert any("infinity before the launch" in b for b in finding.verdicts[0].because)
    assert finding.facts["launch_arguments_finite"] is False


def test_a_float16_near_its_largest_value_is_noted(findings):
    text = around("k", ("arg0_1", "65000", "65000"), ("buf2", "0", "nan")).replace("float32", "float16")
    assert any("65504" in n for n in only(findings(text), "AL401").notes)


def test_healthy_dumps_have_no_cause(findings):
    found = findings(
        INPUT.format(arg="arg0_1", value="3") + around("k", ("arg0_1", "3", "3"), ("buf0", "0", "1"))
    )
    assert [(f.rule, f.role) for f in found] == [("AL403", "note")]


def test_two_ranks_have_their_own_first_nan(findings):
    text = around("k", ("buf0", "0", "nan"))
    ranks = "".join(f"[rank{r}]:{line}" for r in (0, 1) for line in text.splitlines(keepends=True))
    assert [f.rank for f in findings(ranks) if f.rule == "AL401"] == [0, 1]


@pytest.mark.parametrize(("said", "check"), [("NaN", "isnan"), ("INF", "isinf")])
def test_a_failed_check_of_cpp_is_taken_apart(findings, said, check):
    (finding,) = findings(CALL + RAISED.format(said))
    assert (finding.rule, finding.kind, finding.role) == ("AL402", "nan_assert", "cause")
    facts = finding.facts
    assert (facts["buffer"], facts["check"], facts["wrapper_line"]) == ("arg4_1", check, 922)
    assert facts["message"] == f"At least one {said} in arg4_1"
    assert finding.confidence == "likely", "that it is an input is told by its name"
    assert finding.missing


def test_the_message_alone_is_enough(findings):
    (finding,) = findings(RAISED.format("NaN"))
    assert (finding.kind, finding.facts["wrapper_line"]) == ("nan_assert", None)


@pytest.mark.parametrize(
    ("variable", "check", "position"),
    [
        ("var", "nan", "return value"),
        ("arg0_1", "inf", "input"),
        ("primals_2", "nan", "input"),
        ("buf3", "nan", "kernel argument"),
    ],
)
def test_a_bare_assert_is_told_by_its_line(findings, variable, check, position):
    (finding,) = findings(BARE.format(HASHED, variable, check))
    facts = finding.facts
    assert (finding.kind, facts["check"], facts["variable"]) == ("nan_assert", f"is{check}", variable)
    assert (facts["position"], facts["file"], facts["line"], facts["exception_message"]) == (
        position,
        HASHED,
        131,
        "",
    )


def test_the_same_assert_in_a_users_program_is_the_users(findings):
    (finding,) = findings(BARE.format("/srv/demo/train.py", "buf", "nan"))
    assert finding.rule != "AL402"


def test_an_assert_with_a_text_is_another(findings):
    (finding,) = findings(
        BARE.format(HASHED, "buf", "nan").replace("AssertionError", "AssertionError: wrong shape")
    )
    assert finding.rule != "AL402"


def test_the_check_inside_of_triton_kernels_is_told(findings):
    line = CUDA.replace("index out of bounds: 0 <= tmp4 < ks0", "NaN or Inf found")
    finding = findings(line)[0]
    assert (finding.rule, finding.kind) == ("AL402", "nan_assert")


def test_an_unfinished_launch_is_not_called_the_failing_one(findings):
    found = findings("[ before_launch: a ]\n[ after_launch: a ]\n[ before_launch: b ]\n")
    finding = only(found, "AL403")
    assert finding.facts["last_started_kernel"] == "b"
    assert finding.facts["last_finished_kernel"] == "a"
    assert finding.facts["unfinished_kernels"] == ["b"]
    assert any("a later launch may have been started" in b for b in finding.verdicts[0].because)


def test_unbuffered_output_is_known_from_the_command(findings):
    finding = only(findings("$ PYTHONUNBUFFERED=1 python serve.py\n[ before_launch: b ]\n"), "AL403")
    assert any("not buffered" in b for b in finding.verdicts[0].because)


def test_an_exception_in_the_middle_of_a_block_is_read_and_the_block_is_cut(findings):
    """The key is printed before its number is computed (torch 2.13, a quantized tensor)."""
    text = (
        "[  after_launch - k - buf0  ]:\nNumber of elements: 3\nDtype: c10::quint8\n"
        "Mean value: terminate called after throwing an instance of 'c10::Error'\n  what():  Creation of quantized tensor\n"
    )
    found = findings(text)
    assert any("Creation of quantized tensor" in f.title for f in found if f.role == "cause")
    assert only(found, "AL403").facts["incomplete_record"]["tensor"] == "buf0"


def test_an_empty_tensor_that_kills_the_python_printer_is_the_printers_fault(findings):
    text = (
        "inductor: before_launch - extern_kernels.mm - arg2_1\ntensor([], size=(0, 4))\nNumber of elements:  0\n"
        "Size:  torch.Size([0, 4])\nDtype:  torch.float32\nTraceback (most recent call last):\n"
        '  File "/opt/venv/lib/python3.11/site-packages/torch/_inductor/codegen/debug_utils.py", line 40, in '
        "_print_debugging_tensor_value_info\n    amin, amax = torch.aminmax(arg_f)\n"
        "RuntimeError: aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.\n"
    )
    cause = next(f for f in findings(text) if f.role == "cause")
    assert (cause.rule, cause.facts["tensor"]) == ("AL403", "arg2_1")


def test_a_folder_that_could_not_be_made_is_the_printers_fault(findings):
    """Torch 2.6 and 2.9 print where it is to be, and then fail."""
    text = (
        "aoti_torch_save_tensor_handle: Path does not exist, creating it.../srv/demo/tmp/aoti_torch/\n"
        "Error: Failed to create directory\n"
    )
    cause = next(f for f in findings(text) if f.role == "cause")
    assert (cause.rule, cause.facts["folder"]) == ("AL403", "/srv/demo/tmp/aoti_torch/")


def test_later_releases_go_on_without_the_folder(findings):
    text = (
        'aoti_torch_save_tensor_handle: Path does not exist, creating it..."/srv/demo/tmp/aoti_torch"\n'
        'aoti_torch_save_tensor_handle: Error creating directory: "/srv/demo/tmp/aoti_torch" error:Permission denied\n'
        "[ before_launch: a ]\n[ after_launch: a ]\n"
    )
    assert "could not be made" in only(findings(text), "AL403").title


@pytest.mark.parametrize("name", ["cpu_nan_printed", "cpu_compile_nan_assert", "cpu_nan_assert_input"])
def test_without_code_the_screen_says_less(name: str, fixtures_dir: Path, tmp_path: Path, golden):
    """The log alone: what needs the wrapper is left out or said to be missing."""
    (tmp_path / "run.log").write_bytes((fixtures_dir / name / "run.log").read_bytes())
    golden(f"screens/{name}.alone.txt", str(aoti_logs.load(tmp_path / "run.log").explain()))


@pytest.mark.parametrize("name", ["cpu_nan_check_float8", "cpu_compile_nan_check_float8"])
def test_a_check_that_cannot_read_the_tensor_says_nothing_about_its_values(name: str, fixtures_dir: Path):
    folder = fixtures_dir / name
    (cause,) = [f for f in aoti_logs.load(folder / "run.log", context=folder).explain() if f.role == "cause"]
    assert (cause.rule, cause.facts["tensor_dtype"]) == ("AL402", "Float8_e4m3fn")
    assert "not the model" in cause.title and "NaN in" not in cause.title


def test_a_call_of_the_check_alone_makes_nan_likely_and_not_proven(findings):
    finding = only(findings(CALL), "AL402")
    assert finding.confidence == "likely"
    assert finding.doubt is not None and "cannot read the tensor" in finding.doubt


def test_a_call_of_the_check_that_ends_in_another_error_is_no_nan(findings):
    raised = RAISED.replace(
        "At least one {} in arg4_1", "CUDA error: an illegal memory access was encountered"
    )
    found = findings(CALL + raised)
    assert all(f.rule != "AL402" for f in found)
    assert any(f.role == "cause" for f in found)


def test_results_that_differ_beside_a_call_whose_error_is_ignored_name_it_as_possible(
    fixtures_dir: Path, tmp_path: Path
):
    """The text is that of torch.testing.assert_close; the wrapper is recorded."""
    (tmp_path / "run.log").write_text(
        'Traceback (most recent call last):\n  File "t.py", line 3, in <module>\n    torch.testing.assert_close(a, b)\n'
        "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n"
    )
    found = (
        aoti_logs.load(tmp_path / "run.log", context=fixtures_dir / "audit" / "scattered").explain().findings
    )
    (cause,) = [f for f in found if f.role == "cause"]
    assert (cause.rule, cause.confidence) == ("AL405", "unknown")
    assert any("ignores its error code" in b for b in cause.verdicts[0].because)
    quoted = [k for k in cause.chain if k.step == "unchecked"]
    assert quoted and all("scatter" in k.text or "index_put" in k.text for k in quoted)
    alone = aoti_logs.load(tmp_path / "run.log").explain().findings[0]
    assert not any("ignores" in b for b in alone.verdicts[0].because)
