"""Logs as people paste them: cut, numbered, indented in a fence; what is lost is said, and never guessed."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.compiler_error import called_process
from aoti_logs.parse.compiles.failure import FailureKind, TritonError
from tests.log_text import read

FAULT = "CUDA error: an illegal memory access was encountered"
TIMEOUT = (
    "[E ProcessGroupNCCL.cpp:458] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, "
    "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800613 milliseconds before timing out."
)
STUCK = (
    "[rank7]:[E626 05:14:36.393067540 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 7] ProcessGroupNCCL's "
    "watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives."
)

NCCL = (
    "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1331, unhandled system error (run with "
    "NCCL_DEBUG=INFO for details), NCCL version 2.18.5"
)
GCC = (
    "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpj/main.c', '-O3', '-shared', '-lcuda', '-o', "
    "'/tmp/tmpj/triton_.cpython-310-x86_64-linux-gnu.so']' returned non-zero exit status 1."
)


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> list[aoti_logs.Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain())

    return run


def causes(findings: list[aoti_logs.Finding]) -> list[str]:
    return [f.rule for f in findings if f.role == "cause"]


def test_an_exception_of_the_plain_class_is_found_where_the_tracebacks_head_is_lost(explain):
    """SGLang raises `Exception("Capture cuda graph failed: ...")`."""
    (finding,) = explain(
        f'  File "/s/cuda_graph_runner.py", line 267, in __init__\n    raise Exception(\n'
        f"Exception: Capture cuda graph failed: RuntimeError: {FAULT}\n"
    )
    assert finding.rule == "AL301"
    assert finding.chain[1].text.startswith("/s/cuda_graph_runner.py:267")


def test_a_blank_line_between_frames_and_exception_loses_neither():
    """loguru (`_better_exceptions.py`) parts frames of the user from a library's, and the exception from both."""
    text = (
        'Traceback (most recent call last):\n\n  File "a.py", line 1, in f\n    g(x)\n    │ └ 3\n    └ <function g at 0x7f26>\n\n'
        '> File "b.py", line 2, in g\n    return h(x)\n\nRuntimeError: x\n'
    ).replace("> File", "  File")
    (error,) = read(text).errors
    assert (error.message, [f.line for f in error.python_frames]) == ("x", [1, 2])


def test_source_that_was_cut_before_its_caret_is_not_what_triton_says():
    text = "at 8:11:\ndef triton_(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n    xnumel = 56623104\n"
    failure = read_failure("triton.compiler.errors.CompilationError", text)
    assert isinstance(failure.detail, TritonError)
    assert (failure.detail.line, failure.detail.said) == (8, "")


def test_what_triton_says_below_source_that_is_not_available_is_kept():
    text = "at 1:0: <source unavailable>\nNameError('w is not defined')"
    failure = read_failure("triton.compiler.errors.CompilationError", text)
    assert isinstance(failure.detail, TritonError)
    assert failure.detail.undefined == "w"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'", "AL612"),
        ("triton.runtime.errors.IntelGPUError: Internal Triton ZEBIN codegen error:Section .ze_info not found in zebin", "AL612"),
        ("triton.code_gen.OutOfResources: out of resource: shared memoryRequired: 110592Hardware limit: 101376", "AL614"),
        ("LLVM ERROR: Failed to translate TritonGPU to LLVM IR.", "AL318"),
        ("Translate to LLVM IR failedLLVM ERROR: Failed to translate TritonGPU to LLVM IR.", "AL318"),
        ("UNREACHABLE executed at /src/lib/Conversion/ElementwiseOpToLLVM.cpp:346!", "AL318"),
        ("/usr/bin/ld: cannot find -lcuda: No such file or directory\ncollect2: error: ld returned 1 exit status", "AL607"),
        (
            GCC,
            "AL607",
        ),
        (
            NCCL,
            "AL321",
        ),
        (STUCK, "AL320"),
    ],
)  # fmt: skip
def test_a_line_that_stands_alone_names_its_rule(explain, text, rule):
    assert causes(explain(f"step 1\n{text}\n")) == [rule]


@pytest.mark.parametrize(
    "text", ['"LLVM ERROR: x" is what it prints', "see `LLVM ERROR: x`", "(LLVM ERROR: x)"]
)
def test_words_about_an_error_of_llvm_are_none(explain, text):
    assert not explain(f"{text}\n")


def test_a_program_that_is_no_compiler_is_not_told_as_one():
    assert called_process("Command '['ninja', '-v']' returned non-zero exit status 1.") is None
    text = "Command '['C:\\\\tcc\\\\tcc.exe', 'main.c', '-o', 'x.pyd']' returned non-zero exit status 1."
    run = called_process(text)
    assert run is not None
    assert (run.compiler, run.source_file, run.output_file) == ("C:\\tcc\\tcc.exe", "main.c", "x.pyd")
    assert read_failure("CalledProcessError", text).kind is FailureKind.CXX_ERROR


def test_mlirs_words_above_a_failed_pass_are_quoted(explain):
    (finding,) = explain(
        "error: 'tt.load' op requires the same shape for all operands and results\n"
        'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    f()\n'
        "RuntimeError: PassManager::run failed\n"
    )
    link = next(k for k in finding.chain if k.step == "mlir")
    assert link.text == "'tt.load' op requires the same shape for all operands and results"
    assert (link.place.line if link.place else 0, str(link.strength)) == (1, "likely")


def test_hints_of_hip_below_cudas_words_tell_an_amd_gpu(explain):
    (finding,) = explain(
        f"terminate called after throwing an instance of 'c10::AcceleratorError'\n  what():  {FAULT}\n"
        "Search for `hipErrorIllegalAddress' in https://rocm.docs.amd.com/ for more information.\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n"
        "For debugging consider passing AMD_SERIALIZE_KERNEL=3\n"
    )
    assert finding.facts["backend"] == "rocm"
    said = str(finding.to_dict())
    assert "AMD_SERIALIZE_KERNEL=3" in said
    assert not any(word in said for word in ("CUDA_LAUNCH_BLOCKING", "compute-sanitizer", "CUDA context"))


def test_a_hint_that_is_missing_is_no_proof_that_launches_were_waited_for(explain):
    (finding,) = explain(f"{FAULT}\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n")
    assert finding.verdicts[0].because[0].startswith("launches were most likely waited for")


def test_a_device_assert_reported_before_its_lines_follows_from_them(explain):
    findings = explain(
        "RuntimeError: Triton Error [CUDA]: device-side assert triggered\n"
        "unknown:0: unknown: block: [0,0,0], thread: [128,0,0] Assertion `index out of bounds: 0 <= tmp4 < 32000` failed.\n"
    )
    assert [f.rule for f in findings] == ["AL100"]


def test_the_beginning_of_a_line_that_was_cut_leads_nothing(explain):
    whole = TIMEOUT.format(rank=0, number=96117)
    (finding,) = explain(f"{whole}\n{whole[:60]}\n")
    assert (finding.rule, finding.facts["sequence_number"]) == ("AL320", 96117)


def test_ranks_that_wait_for_different_collectives_did_not_fail_alike(explain):
    text = "\n".join(TIMEOUT.format(rank=rank, number=number) for rank, number in ((0, 96117), (7, 64088)))
    findings = explain(f"{text}\n")
    assert [f.facts["sequence_number"] for f in findings] == [96117, 64088]
    assert not any("the same failure" in note for f in findings for note in f.notes)


def test_a_watchdog_that_is_stuck_causes_no_timeout_of_another_rank(explain):
    findings = explain(f"{STUCK}\n{TIMEOUT.format(rank=2, number=5)}\n")
    assert {f.rule for f in findings} == {"AL320"}
    assert not any(f.consequences for f in findings)


def test_what_a_watchdog_raises_again_stands_under_the_timeout(explain):
    again = "Exception raised from ncclCommWatchdog at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1521 (most recent call first):"
    (finding,) = explain(f"{again}\n\n{TIMEOUT.format(rank=3, number=9)}\n")
    assert finding.rule == "AL320"


def test_a_fence_that_is_indented_is_read_without_its_indent():
    text = (
        "I ran it:\n```\n  ========= COMPUTE-SANITIZER\n  ========= Invalid __global__ read of size 4 bytes\n"
        "  =========     at kernel+0x40\n  =========     by thread (0,0,0) in block (0,0,0)\n```\nAny idea?\n"
    )
    assert [e.message for e in read(text).errors] == ["Invalid __global__ read of size 4 bytes"]


def test_prose_around_a_fence_does_not_hide_a_services_name():
    text = (
        "It prints\n```\nserve  | Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7fe0.\n"
        "serve  | Aborted\n```\nwhatever I do.\n"
    )
    assert len(read(text).errors) == 2


def test_numbers_of_lines_without_a_colon_are_taken_off():
    lines = ['  File "a.py", line 3, in f', "    g()", "RuntimeError: CUDA error: misaligned address"]
    (error,) = read("".join(f"{number} {line}\n" for number, line in enumerate(lines, 85))).errors
    assert (error.message, len(error.python_frames)) == ("CUDA error: misaligned address", 1)


def test_torchserve_puts_worker_and_logger_before_each_line():
    """frontend/server/src/main/resources/log4j2.xml of TorchServe; the same in MMS."""
    head = "2024-05-07T03:00:25,773 [INFO ] W-9000-resnet_1.0-stdout MODEL_LOG - "
    lines = [
        "Traceback (most recent call last):",
        '  File "/ts/service.py", line 108, in predict',
        "    ret = self._entry_point(input_batch, self.context)",
        "RuntimeError: CUDA error: misaligned address",
    ]
    (error,) = read("".join(f"{head}{line}\n" for line in lines)).errors
    assert (error.message, len(error.python_frames)) == ("CUDA error: misaligned address", 1)
