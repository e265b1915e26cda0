"""Faults of a device: what an error says of it, whether launches were waited for, and when a kernel is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.errors.device_errors import device_error, device_errors, error_name
from aoti_logs.parse.errors.device_exception import DeviceException
from aoti_logs.parse.errors.device_fault import device_fault, memory_fault, queue_fault
from aoti_logs.rules.aftermath import aftermath, is_sticky, repeats
from tests.log_text import assert_partition, read

LATER = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
)
DSA = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
ILLEGAL = "an illegal memory access was encountered"
LAUNCH = """\
Traceback (most recent call last):
  File "/tmp/torchinductor_demo/iq/ciqrfu3ucgsquenkxp6d3hnf3br5rzxifpxeazprcynhjvbnl2na.py", line 413, in call
    triton_poi_fused_add_0.run(tangents_1, buf0, 4096, grid=grid(4096), stream=stream0)
  File "<string>", line 7, in launcher
"""
QUEUE = (
    ":0:rocdevice.cpp :2984: 3 us: [pid:1 tid:0x7] Callback: Queue 0x7f34 Aborting with error : "
    "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory. code: 0x29"
)
LOADED = """\
  File "/opt/lib/python3.11/site-packages/triton/compiler.py", line 1671, in _init_handles
    mod, func, n_regs, n_spills = cuda_utils.load_binary(self.metadata["name"], self.asm["cubin"], self.shared, device)
"""


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> aoti_logs.Finding:
        (tmp_path / "run.log").write_text(text)
        return aoti_logs.load(tmp_path / "run.log").explain().findings[0]

    return run


def test_every_error_of_the_runtime_is_found_by_its_name_and_most_by_their_text():
    for error in device_errors().values():
        assert device_error(f"CUDA error: x\nSearch for `{error.name}' in https://docs") == error
        assert device_error(f"CUDA driver error: {error.text}").text == error.text  # type: ignore[union-attr]


def test_hip_names_an_error_in_its_own_way():
    assert error_name(
        "HIP error: invalid device function\nSearch for `hipErrorInvalidDeviceFunction' in"
    ) == ("hipErrorInvalidDeviceFunction")


@pytest.mark.parametrize(
    ("hints", "blocking"),
    [
        (LATER + DSA, False),
        (DSA, True),
        ("", None),
        ("For more detailed error information, run with CUDA_LOG_FILE=stderr\n" + DSA, None),
    ],
)
def test_hints_tell_whether_launches_were_waited_for(hints, blocking):
    fault = device_fault(f"CUDA error: {ILLEGAL}\n{hints}")
    assert fault is not None and fault.blocking is blocking


def test_a_status_of_a_library_is_no_error_of_the_runtime():
    fault = device_fault("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, m)`")
    assert fault is not None and (fault.status, fault.error) == ("CUBLAS_STATUS_EXECUTION_FAILED", None)
    assert fault.call == "cublasSgemm( handle, m)"


def test_an_amd_gpu_tells_the_address_and_the_queue():
    fault = memory_fault(
        "Memory access fault by GPU node-2 (Agent handle: 0x8a2c) on address (nil). Reason: Unknown."
    )
    assert fault is not None and (fault.node, fault.null, fault.reason) == (2, True, "Unknown.")
    queue = queue_fault(
        ":0:rocdevice.cpp :2984: 1 us: [pid:1 tid:0x7] Callback: Queue 0x7f34 Aborting with error : "
        "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016"
    )
    assert queue is not None and (queue.status, queue.code) == ("HSA_STATUS_ERROR_EXCEPTION", "0x1016")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (QUEUE, "rocm_memory_fault"),
        (
            "Memory access fault by GPU node-1 (Agent handle: 0x55) on address (nil). Reason: Unknown.",
            "rocm_memory_fault",
        ),
        ("Native API failed. Native API returns: 20 (UR_RESULT_ERROR_DEVICE_LOST)", "device_library_error"),
        ("HIP out of memory. Tried to allocate 2.00 GiB.", "out_of_memory"),
        ("HIP error: an illegal memory access was encountered", "cuda_illegal_memory_access"),
    ],
)
def test_a_line_of_another_runtime_is_an_error_of_its_own(explain, line, kind):
    finding = explain(f"step 0\n{line}\nstep 1\n")
    assert (finding.kind, finding.role) == (kind, "cause")


def test_without_waiting_no_kernel_is_named(explain):
    finding = explain(f"{LAUNCH}RuntimeError: Triton Error [CUDA]: {ILLEGAL}\n")
    assert (finding.rule, finding.kind, finding.confidence) == (
        "AL301",
        "cuda_illegal_memory_access",
        "unknown",
    )
    assert "triton_poi" not in finding.title and "suspect_kernel" not in finding.facts
    assert finding.facts["reported_kernel"] == "triton_poi_fused_add_0"
    assert finding.facts["kernel_args"] == ["tangents_1", "buf0", "4096"]
    assert finding.facts["backward"] and finding.facts["asynchronous"]
    assert finding.experiments[0].env == (("CUDA_LAUNCH_BLOCKING", "1"),)


def test_where_launches_were_waited_for_the_launch_is_likely(explain):
    command = "$ CUDA_LAUNCH_BLOCKING=1 python train.py\n"
    finding = explain(f"{command}{LAUNCH}RuntimeError: Triton Error [CUDA]: {ILLEGAL}\n")
    assert (finding.confidence, finding.facts["suspect_kernel"]) == ("likely", "triton_poi_fused_add_0")


def test_a_kernel_that_was_only_loaded_is_not_the_one_even_so(explain):
    command = "$ CUDA_LAUNCH_BLOCKING=1 python train.py\n"
    finding = explain(f"{command}{LAUNCH}{LOADED}RuntimeError: Triton Error [CUDA]: misaligned address\n")
    assert finding.kind == "cuda_misaligned_address"
    assert finding.confidence == "unknown" and finding.facts["previous_kernel_suspected"]


def test_a_printed_name_without_waiting_is_only_possible(explain):
    names = "[ before_launch: triton_poi_fused_a_0 ]\n[ after_launch: triton_poi_fused_a_0 ]\n[ before_launch: my_kernel_0 ]\n"
    finding = explain(f"{names}Error: CUDA driver error: {ILLEGAL}\n")
    assert (finding.confidence, finding.facts["last_started_kernel"]) == ("possible", "my_kernel_0")
    assert finding.facts["user_kernel"] and " may " in finding.title


def test_errors_that_are_not_sticky_are_of_the_call(explain):
    finding = explain("RuntimeError: CUDA error: invalid configuration argument\n")
    assert (finding.rule, finding.kind, finding.facts["sticky"]) == ("AL305", "cuda_error", False)


def test_a_core_dump_proves_the_kernel(explain):
    dump = (
        "[20:20:25.514567] coredump: Detected an exception of type CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS (6)\n"
        "[20:20:25.514579] coredump:   - Device: 0\n"
        "[20:20:25.514908] coredump:   #0\t0x7fe9117b8250\tstore_at\n"
        "[20:20:25.514908] coredump:   #1\t0x7fe9117b8280\tfar_read_kernel\n"
    )
    finding = explain(dump)
    assert (finding.kind, finding.confidence) == ("cuda_misaligned_address", "proven")
    assert finding.facts["suspect_kernel"] == "far_read_kernel"


def test_cuda_gdb_names_kernel_thread_and_line():
    text = (
        "CUDA Exception: Warp Illegal Address\n"
        "The exception was triggered at PC 0x7fff47a7a1d0 (kernel.py:22)\n"
        'Thread 1 "python" received signal CUDA_EXCEPTION_14, Warp Illegal Address.\n'
        "[Switching focus to CUDA kernel 0, grid 9, block (100,0,0), thread (96,0,0), device 0, sm 0, warp 1, lane 0]\n"
        "#0  0x00007fff47a7a1e0 in runaway_copy_kernel<<<(19532,1,1),(128,1,1)>>> ()\n"
    )
    (found,) = [e.detail for e in read(text).errors if isinstance(e.detail, DeviceException)]
    assert (found.name, found.code, found.kernel) == ("WARP_ILLEGAL_ADDRESS", 14, "runaway_copy_kernel")
    assert (found.file, found.line, found.block, found.thread) == ("kernel.py", 22, (100, 0, 0), (96, 0, 0))


def test_a_blank_line_before_the_signal_does_not_make_two_exceptions_of_one():
    text = (
        "CUDA Exception: Warp Illegal Instruction\n"
        "The exception was triggered at PC 0x628fbe590  gather_kernel  (gather.py:245)\n"
        "\n"
        'Thread 1 "python" received signal CUDA_EXCEPTION_4, Warp Illegal Instruction.\n'
        "[Switching focus to CUDA kernel 0, grid 9, block (0,0,0), thread (96,0,0), device 0, sm 148, warp 0, lane 0]\n"
        "0x0000000628fbe700 in gather_kernel<<<(1,1,1),(128,1,1)>>> () at /srv/demo/gather.py:245\n"
    )
    events = read(text)
    (found,) = [e.detail for e in events.errors if isinstance(e.detail, DeviceException)]
    assert (found.name, found.kernel, found.thread) == (
        "WARP_ILLEGAL_INSTRUCTION",
        "gather_kernel",
        (96, 0, 0),
    )
    assert not events.unparsed


def test_a_device_function_is_named_where_no_frame_shows_a_launch():
    text = (
        "Program received signal CUDA_EXCEPTION_5, Warp Out-of-range Address.\n"
        "[Switching focus to CUDA kernel 1, grid 4, block (0,0,0), thread (32,0,0), device 0, sm 13, warp 15, lane 0]\n"
        "0x00007fffa42afe50 in (anonymous namespace)::Calibrator::operator() (this=0x7ffff2fffb10, index=32) at a.cu:23\n"
    )
    (found,) = [e.detail for e in read(text).errors if isinstance(e.detail, DeviceException)]
    assert (found.error, found.kernel) == (
        "cudaErrorIllegalAddress",
        "(anonymous namespace)::Calibrator::operator()",
    )


def test_a_focus_of_the_debugger_is_no_exception():
    text = (
        "[Current focus set to CUDA kernel 0, grid 53, block (0,0,0), thread (0,0,0), device 0, sm 124, warp 0, lane 0]\n"
        "#0  0x00007f2e6fbff300 in hanging_kernel<<<(1,1,1),(128,1,1)>>> () at hang.py:31\n"
    )
    assert not read(text).errors


def test_an_exception_of_another_kind_does_not_name_the_kernel_of_this_one(explain):
    text = (
        "RuntimeError: CUDA error: misaligned address\n\n"
        "CUDA Exception: Warp Illegal Address\n"
        "0x0000000628fbe700 in gather_kernel<<<(1,1,1),(128,1,1)>>> () at /srv/demo/gather.py:245\n"
    )
    assert "suspect_kernel" not in explain(text).facts


def test_the_drivers_log_is_claimed_and_keeps_only_sticky_errors():
    text = (
        "[20:20:12.722][139773527810368][CUDA][E] Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuCtxGetDevice_v2\n"
        "[20:20:25.508][139773527810368][CUDA][E] Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuCtxSynchronize_v2\n"
    )
    events = read(text)
    assert [dict(n.facts)["api"] for n in events.notes] == ["cuCtxSynchronize_v2"] and not events.unparsed


def test_what_follows_is_told_from_what_is_first():
    events = read(
        f"RuntimeError: CUDA error: {ILLEGAL}\n\nfinished\nFailed to destroy CUDA event in AOTInductor model: {ILLEGAL}\n"
    )
    first, last = events.errors
    assert is_sticky(first) and repeats(last, first) and repeats(first, last) is None
    assert aftermath(first) is None and aftermath(last).who == "destructor"  # type: ignore[union-attr]


@given(
    st.text(max_size=40),
    st.sampled_from(["CUDA error: ", "[20:20:25.5] coredump: ", "CUDA Exception: ", "HSA_STATUS_ERROR"]),
)
def test_anything_behind_the_words_is_read_without_loss(text: str, words: str):
    data = f"{words}{text}\n{text}{words}\n".encode("utf-8", "replace")
    assert_partition(read(data), len(data))
