"""What is named to run next can help: the device, the release, and whether anything is left to decide."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aoti_logs
from aoti_logs.cli import app
from aoti_logs.explain import Finding

FIXTURES = Path(__file__).parent.parent / "fixtures"
CUDA_ONLY = ("CUDA_", "compute-sanitizer", "cuda-gdb")
# What the three runtimes print of a Triton `device_assert`, and c10/xpu, `AssertHandler::printMessage`, of one on XPU.
XPU = "/t/triton_helpers.py:248: unknown: global id: [1,0,0], local id: [2,0,0] Assertion `{}` failed.\n"
CUDA = "/t/triton_helpers.py:248: f: block: [0,0,0], thread: [3,0,0] Assertion `{}` failed.\n"
INDEX = "/t/ccc.py:34: unknown: block: [0,0,0], thread: [1,0,0] Assertion `index out of bounds: 0 <= tmp4 < ks0` failed.\n"
ASAN_PART = (
    "    #45 0x55b8c14f7a2e in pyrun_simple_file /build/Python/pythonrun.c:450\n"
    "    #51 0x7f7771576d8f in __libc_start_call_main csu/../sysdeps/nptl/libc_start_call_main.h:58:16\n\n"
    "0x7f74c2494540 is located 0 bytes to the right of 5832000-byte region [0x7f74c1f04800,0x7f74c2494540)\n"
    "allocated by thread T0 here:\n    #0 0x7f777195b817 in posix_memalign (/usr/lib/asan.so+0xd0817)\n"
)


@pytest.fixture
def cause(tmp_path: Path):
    def run(text: str) -> Finding:
        (tmp_path / "run.log").write_text(text)
        return next(f for f in aoti_logs.load(tmp_path / "run.log").explain() if f.role == "cause")

    return run


def told(finding: Finding) -> str:
    return "\n".join([*(m.how_to_record for m in finding.missing), *(e.line for e in finding.experiments)])


def test_a_file_that_is_no_model_needs_no_check_of_inputs():
    for name in ("cpu_aoti_library_foreign", "cpu_aoti_package_without_library"):
        explanation = aoti_logs.load(FIXTURES / name / "run.log").explain()
        (finding,) = (f for f in explanation if f.role == "cause")
        assert finding.fixes and not finding.experiments
        assert not explanation.plan(finding).steps


def test_nothing_of_cuda_is_advised_for_another_device(cause):
    assert not any(word in told(cause(XPU.format("x > 0"))) for word in CUDA_ONLY)
    assert "CUDA_LAUNCH_BLOCKING=1" in told(cause(CUDA.format("x > 0")))


@pytest.mark.parametrize("text", [XPU, CUDA])
def test_the_assert_of_torchs_own_test_switch_is_named(cause, text):
    finding = cause(text.format("injected assert fail"))
    assert finding.confidence == "likely" and "inject_relu_bug_TESTING_ONLY" in finding.fixes[0]
    assert not finding.experiments and not finding.missing


def test_the_same_text_in_a_kernel_of_the_user_is_not_torchs_switch(cause):
    finding = cause(CUDA.format("injected assert fail").replace("triton_helpers", "mine"))
    assert finding.confidence == "unknown" and not finding.fixes


def test_after_a_sanitizers_report_no_signal_comes_that_python_could_see(cause):
    finding = cause(ASAN_PART)
    assert finding.rule == "AL313" and "PYTHONFAULTHANDLER" not in told(finding)
    assert not any("pyrun_simple_file" in link.text for link in finding.chain)
    assert "its innermost 45 frames" in finding.missing[0].what


def test_a_signal_that_a_sanitizer_reports_may_be_seen_by_python(cause):
    finding = cause(
        "==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x1 bp 0x2 sp 0x3 T0)\n"
    )
    explanation = aoti_logs.load(FIXTURES / "cpu_death_asan" / "run.log").explain()
    from aoti_logs.plan.situation import situation_of

    run = aoti_logs.load(FIXTURES / "cpu_death_asan" / "run.log")
    assert situation_of(finding, run).traits["signalled"] is True
    assert situation_of(explanation.findings[0], run).traits["signalled"] is False


def test_next_says_what_has_to_be_so_and_what_an_older_torch_needs(cause):
    first = cause(INDEX).experiments[0]
    assert dict(first.env) == {"AOTI_RUNTIME_CHECK_INPUTS": "1"}
    assert first.why.startswith("if the code is a model of AOTInductor: ")
    assert first.care is not None and "AOT_INDUCTOR_DEBUG_COMPILE=1" in first.care


class Terms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open, self.terms = False, list[str]()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open = tag == "dt"

    def handle_data(self, data: str) -> None:
        if self.open:
            self.terms.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.open = False


def test_a_page_has_the_letters_that_the_screen_has():
    name = str(FIXTURES / "gpu_size_outside_range")
    screen = CliRunner().invoke(app, ["explain", name]).output
    page = Terms()
    page.feed(CliRunner().invoke(app, ["explain", name, "--format", "html"]).output)
    letters = [t.removeprefix("cause ") for t in page.terms if t.startswith("cause ")]
    assert letters and all(f"\n   {letter}. " in screen for letter in letters)
    decide = [t.removeprefix("to decide ") for t in page.terms if t.startswith("to decide")]
    assert decide and all(f" {letters}: " in screen for letters in decide)
