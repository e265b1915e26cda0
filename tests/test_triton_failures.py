"""What Triton says of a kernel is found in nested exceptions; what is only printed or left out is no failure."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.failure import FailureKind, Resources, TritonError
from aoti_logs.parse.errors.triton_error import read_choice, read_resources
from aoti_logs.parse.python.repr import Call, plain, read_repr
from aoti_logs.parse.python.worker_text import root_text

WORKER = """An exception occurred in a subprocess:

Name=triton_poi_fused_sin_0
Traceback (most recent call last):
  File "/opt/venv/triton/compiler/compiler.py", line 80, in make_ir
    return ast_to_ttir(self.fn, self, context=context)
KeyError: 'sin'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/venv/triton/backends/nvidia/compiler.py", line 546, in <lambda>
    stages["ttir"] = lambda src, metadata: self.make_ttir(src, metadata, options)
triton.compiler.errors.CompilationError: at 5:8:
def helper(x):

    y = x
    z = y
    q = w
        ^
NameError('w is not defined')

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/venv/triton/compiler/compiler.py", line 80, in make_ir
triton.compiler.errors.CompilationError: at 17:11:
    tmp3 = helper(tmp2)
           ^
"""


def explained(tmp_path: Path, text: str):
    (tmp_path / "run.log").write_text(text)
    return aoti_logs.load(tmp_path / "run.log").explain().findings


def test_the_exception_that_others_were_raised_from_counts():
    """Not the KeyError, which was only being handled; not the line that called the helper."""
    failure = read_failure("torch._inductor.exc.InductorError", f"SubprocException: {WORKER}")
    error = failure.detail
    assert isinstance(error, TritonError)
    assert (error.line, error.column, error.undefined) == (5, 8, "w")
    assert error.excerpt[-1] == "    q = w"
    assert failure.inner == ("SubprocException", "triton.compiler.errors.CompilationError")


def test_a_log_tells_the_same_as_a_trace(tmp_path):
    text = f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g(x)\ntorch._inductor.exc.InductorError: SubprocException: {WORKER}'
    (finding,) = explained(tmp_path, text)
    facts = finding.facts
    assert (finding.kind, facts["kernel"], facts["kernel_line"], facts["inner_error"]) == (
        "triton_compilation_error",
        "triton_poi_fused_sin_0",
        5,
        "NameError('w is not defined')",
    )
    assert (facts["triton_backend"], facts["failed_stage"]) == ("nvidia", "ttir")


@pytest.mark.parametrize(
    ("text", "resource", "kernel"),
    [
        (
            "out of resource: shared memory, Required: 262144, Hardware limit: 232448. Reducing block sizes or `num_stages` may help.",
            "shared memory",
            None,
        ),
        (
            "out of resource: triton_mm Required: 262144 Hardware limit:232448 Reducing block sizes or `num_stages` may help.",
            "shared memory",
            "triton_mm",
        ),
        ("out of resource: shared memoryRequired: 262144Hardware limit: 232448", "shared memory", None),
        (
            "out of resource: threads, Required: 262144, Hardware limit: 232448. Reducing block sizes or `num_stages` may help.",
            "threads",
            None,
        ),
    ],
)
def test_every_wording_of_resources_is_read(text, resource, kernel):
    assert read_resources(text) == Resources(resource, 262144, 232448, kernel)


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (
            "InductorError",
            (
                "RuntimeError: Failed to run autotuning code block: No valid triton configs. PTXASError: PTXAS error: Internal Triton PTX "
                "codegen error\n`ptxas` stderr:\nptxas-blackwell fatal   : Value 'sm_110a' is not defined for option 'gpu-name'\n"
            ),
            "Value 'sm_110a' is not defined for option 'gpu-name'",
        ),
        (
            "RuntimeError",
            "Internal Triton PTX codegen error: \nptxas /tmp/compile-ptx-src, line 57; error   : Feature '.bf16' requires .target sm_80 or higher\n",
            "Feature '.bf16' requires .target sm_80 or higher",
        ),
        ("RuntimeError", "PassManager::run failed", "PassManager::run failed"),
    ],
)
def test_what_other_compilers_say_is_triton_compilation(kind, text, said):
    failure = read_failure(kind, text)
    assert failure.kind is FailureKind.TRITON
    assert isinstance(failure.detail, TritonError)
    assert failure.detail.said == said


def test_other_compilation_errors_are_not_tritons():
    assert read_failure("CompilationError", "cannot find the file").kind is FailureKind.OTHER


def test_settings_of_a_choice_keep_commas_in_quotes():
    told = read_choice("TritonTemplateCaller(/tmp/c.py, A=\"'ie,ee'\", BLOCK_M=128, OK=False)")
    assert told == (
        "TritonTemplateCaller",
        "/tmp/c.py",
        {"A": "\"'ie,ee'\"", "BLOCK_M": "128", "OK": "False"},
    )


CHOICE = (
    "Exception No valid triton configs. OutOfMemoryError: out of resource: triton_mm Required: 294912 Hardware limit:232448 Reducing "
    "block sizes or `num_stages` may help. for benchmark choice TritonTemplateCaller(/tmp/c.py, BLOCK_M=64, num_stages=4)"
)
TRACEBACK = 'Traceback (most recent call last):\n  File "thread.py", line 59, in run\n    result = self.fn()\nRuntimeError: No valid triton configs. OutOfMemoryError: out of resource: triton_mm Required: 294912 Hardware limit:232448 Reducing block sizes or `num_stages` may help.\n'


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "ERROR:torch._inductor.select_algorithm:",
        "E0912 11:54:57.366000 1121181 torch/_inductor/select_algorithm.py:2100] [7/0] ",
    ],
)
def test_a_choice_that_autotuning_leaves_out_is_a_note(tmp_path, prefix):
    """With and without the logger's prefix; its traceback is no failure either."""
    glog = prefix.startswith("E0")
    below = "".join(f"{prefix}{row}\n" for row in TRACEBACK.splitlines()) if glog else TRACEBACK
    findings = explained(tmp_path, f"{prefix}{CHOICE}\n{below}")
    assert [(f.kind, f.role) for f in findings] == [("triton_out_of_resources", "note")]
    assert findings[0].facts["fatal"] is False
    assert findings[0].facts["choice"]["BLOCK_M"] == 64


def test_the_same_exception_that_reaches_the_program_is_the_cause(tmp_path):
    (finding,) = explained(tmp_path, TRACEBACK)
    assert (finding.kind, finding.role, finding.facts["fatal"]) == ("triton_out_of_resources", "cause", True)
    assert "has not run out of memory" in finding.verdicts[0].because[0]


PREFIX = "E0305 20:23:38.866000 747 torch/_inductor/runtime/triton_heuristics.py:533] "
CHECK = (
    '    tl.device_assert(((0 <= tmp3) & (tmp3 < 8192)) | ~(tmp1), "index out of bounds: 0 <= tmp3 < 8192")'
)


def test_a_printed_check_has_not_failed(tmp_path):
    """Lines of a kernel's source, without the exception: likely a failed compile, never a failed check."""
    (finding,) = explained(tmp_path, f"{PREFIX}    tmp3 = tl.load(in_ptr0 + (x0))\n{PREFIX}{CHECK}\n")
    assert (finding.rule, finding.confidence) == ("AL613", "likely")
    (check,) = finding.facts["device_assert_source"]
    assert (check["operand"], check["bound"], check["mask"]) == ("tmp3", "8192", "~(tmp1)")
    assert finding.facts["runtime_assert_failed"] is False


def test_the_same_source_at_another_level_is_no_failure(tmp_path):
    """TORCH_LOGS=output_code prints kernels of healthy compiles."""
    text = f"{PREFIX}{CHECK}\n".replace("E0305", "V0305")
    assert explained(tmp_path, text) == ()


def test_a_printed_kernel_stands_in_the_chain_of_its_exception(fixtures_dir):
    run = aoti_logs.load(fixtures_dir / "gpu_triton_undefined_name_compiled" / "run.log")
    (finding,) = run.explain().findings
    assert finding.facts["triton_meta"]["signature"]["x_ptr"] == "*fp32"
    assert "printed" in [link.step for link in finding.chain]


def test_values_that_are_no_literals_are_read():
    value = read_repr(
        "{'a': FixedLayout('cuda:0', torch.float32, size=[s0, 4*s1]), (0,): [], 'f': <function f at 0x7f>}"
    )
    layout = value["a"]
    assert isinstance(layout, Call)
    assert plain(layout.get("size")) == ["s0", "4*s1"]
    assert plain(value)["f"] == "<function f at 0x7f>"
    assert plain(read_repr("((((")) == "(((("


def test_a_text_of_ten_thousand_brackets_is_no_value():
    text = "[" * 10_000 + "]" * 10_000
    assert plain(read_repr(text)) == text


def test_a_text_without_an_exception_is_its_own_root():
    assert root_text("nothing\nhere") == "nothing\nhere"
