"""A fault of the device that a later call reports: kernels before it, inputs that nothing checked, the same two steps."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.explain import Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"
ABORT = Path("cpu-torch2.13/aoti/printer/abort_mode2")
STEPS = ["AOTI_RUNTIME_CHECK_INPUTS", "CUDA_LAUNCH_BLOCKING"]
CHECK = "#1 c10::detail::torchCheckFail(char const*) + 0xe0 (0x7fa5e96a4842 in /usr/lib/libc10.so)"


def lead(log: Path, *context: Path) -> Finding:
    return next(f for f in aoti_logs.load(log, context=list(context)).explain().findings if f.role == "cause")


def because(found: Finding) -> str:
    return "\n".join(found.verdicts[0].because)


def steps(found: Finding) -> list[str]:
    return [name for e in found.experiments for name, _ in e.env]


def test_a_lost_assertion_of_a_model_asks_for_its_inputs_first():
    folder = FIXTURES / "gpu_assert_text_lost"
    found = lead(folder / "run.log", folder)
    assert found.rule == "AL109"
    assert steps(found) == STEPS
    assert (
        "the inputs were not checked as far as the log shows (AOTI_RUNTIME_CHECK_INPUTS is not set in the shown command)"
        in because(found)
    )
    assert "another dtype" in because(found)
    assert not any("stderr" in m.how_to_record for m in found.missing)


def test_what_was_switched_on_is_not_asked_for_again(tmp_path: Path):
    text = (FIXTURES / "gpu_assert_text_lost" / "run.log").read_text()
    command, _, rest = text.partition("\n")
    log = tmp_path / "run.log"
    log.write_text(
        command.replace("$ ", "$ AOTI_RUNTIME_CHECK_INPUTS=1 CUDA_LAUNCH_BLOCKING=1 ", 1) + "\n" + rest
    )
    found = lead(log, FIXTURES / "gpu_assert_text_lost")
    assert found.rule == "AL109"
    assert not set(STEPS) & set(steps(found))
    assert "the inputs were not checked" not in because(found)


@pytest.mark.parametrize(("tag", "rule"), [("wrong_dtype", "AL109"), ("wrong_device", "AL213")])
def test_victims_of_one_call_get_the_same_two_steps_and_the_same_kernel(
    tag: str, rule: str, corpus_dir: Path
):
    folder = corpus_dir / "gpu-torch2.11" / "recsys_plain"
    found = lead(folder / f"run_{tag}.log", folder)
    assert found.rule == rule
    assert steps(found) == STEPS
    candidates = [k.text for k in found.chain if k.step == "candidate"]
    assert candidates == ["triton_poi_fused_add_embedding_index_mul_remainder_sigmoid_0"]
    assert "the inputs were not checked" in because(found)
    assert all("TMPDIR=" in e.line and f"recsys_plain {tag}" in e.line for e in found.experiments)


def test_the_headline_is_the_fault_and_not_the_library_that_met_it(corpus_dir: Path):
    folder = corpus_dir / "gpu-torch2.11" / "recsys_plain"
    found = lead(folder / "run_wrong_device.log", folder)
    assert found.title.startswith(
        "an illegal memory access was encountered: `mm` is the first call that reports"
    )
    assert "CUBLAS" not in found.title
    assert any(k.step == "fault" and "illegal memory access" in k.text for k in found.chain)
    assert "it names no cause" in because(found)


def test_variables_that_make_the_failure_stay_in_front(corpus_dir: Path):
    folder = corpus_dir / "gpu-torch2.11" / "cpu_pkg_cuda_inputs"
    found = lead(folder / "run_cuda_inputs.log", folder)
    assert found.experiments
    assert all("SCEN_DEVICE=cuda" in e.line for e in found.experiments)


def test_the_compile_of_another_log_of_the_context_is_named(corpus_dir: Path):
    folder = corpus_dir / "gpu-torch2.11" / "recsys_plain"
    found = lead(folder / "run_bad_id.log", folder)
    compiles = [e.line for e in found.experiments if e.takes_effect == "compile"]
    assert compiles
    assert all("python scenarios.py compile recsys" in line for line in compiles)
    assert all("print(ids.shape, ids.dtype" in v.decide[0] for v in found.verdicts)


def test_values_of_the_file_beside_are_joined(corpus_dir: Path):
    folder = corpus_dir / ABORT
    found = lead(folder / "bad.stderr.txt", folder)
    assert (found.rule, str(found.confidence)) == ("AL102", "likely")
    assert "about 1000000" in found.title


def stack(tmp_path: Path, frame: str) -> Path:
    log = tmp_path / "run.log"
    other = (
        "c10d::ProcessGroupNCCL::WorkNCCL::isCompleted() + 0xa8 (0x7fa5984c96c8 in /usr/lib/libtorch_cuda.so)"
    )
    log.write_text(
        f"frame {CHECK}\nframe #2: {frame}\nframe #3: {other}\n".replace("frame #1 ", "frame #1: ")
    )
    return log


def test_a_stack_alone_quotes_the_frame_that_says_it_is_an_error_of_cuda(tmp_path: Path):
    frame = "c10::cuda::c10_cuda_check_implementation(int, char const*, char const*, int, bool) + 0x3c2 (0x7fa5 in /usr/lib/libc10_cuda.so)"
    [found] = aoti_logs.load(stack(tmp_path, frame)).explain().findings
    assert found.rule == "AL316"
    assert found.title.startswith("an error of CUDA is thrown")
    assert "c10_cuda_check_implementation" in found.chain[1].text
    [other] = (
        aoti_logs.load(stack(tmp_path, "c10::Error::what() + 0x3 (0x7fa5 in /usr/lib/libc10.so)"))
        .explain()
        .findings
    )
    assert "CUDA" not in other.title


def test_a_plan_without_a_failure_does_not_say_that_nothing_failed(tmp_path: Path):
    log = stack(tmp_path, "c10d::ProcessGroupNCCL::abort() + 0x3 (0x7fa5 in /usr/lib/libtorch_cuda.so)")
    screen = CliRunner().invoke(app, ["explain", str(log), "--plan"]).output
    assert "nothing failed" not in screen
    assert "warning[AL316]" in screen
    assert "no experiment is known for this warning" in screen
    (tmp_path / "quiet.log").write_text("all is well\n")
    quiet = CliRunner().invoke(app, ["explain", str(tmp_path / "quiet.log"), "--plan"]).output
    assert "no failure was found" in quiet
