"""Tracebacks, terminate, CUDA texts, API calls, signals, warnings: what failed, as printed."""

import pytest

from aoti_logs.parse.events import ErrorForm
from tests.log_text import ACCELERATOR, CPU, TERMINATE, assert_partition, read


def test_traceback_has_frames_type_message_and_hints():
    error, after = read(ACCELERATOR).errors
    assert (error.exception_type, error.message) == (
        "torch.AcceleratorError",
        "CUDA error: device-side assert triggered",
    )
    assert error.cuda_error == "cudaErrorAssert"
    assert [(f.line, f.function, f.code) for f in error.python_frames] == [
        (230, "main", "torch.cuda.synchronize()")
    ]
    assert error.text.endswith("to enable device-side assertions.")
    assert (after.form, after.cuda_error) == (ErrorForm.CUDA, "cudaErrorAssert")


def test_marker_lines_are_not_code():
    frames = read(CPU).errors[1].python_frames
    assert [f.code for f in frames] == [
        'print("RESULT", r(ids, off, tab))',
        "flat_outputs = self.loader.boxed_run(flat_inputs)",
    ]


def test_chained_tracebacks_are_two_errors():
    text = (
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nValueError: one\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n  File \"b.py\", line 2, in g\nRuntimeError: two\nmore of two\n"
    )  # fmt: skip
    errors = read(text).errors
    assert [(e.exception_type, e.text) for e in errors] == [
        ("ValueError", "one"),
        ("RuntimeError", "two\nmore of two"),
    ]


def test_exception_without_message():
    text = 'Traceback (most recent call last):\n  File "o.py", line 131, in call\n    assert not var.isnan().any().item()\nAssertionError\n'
    (error,) = read(text).errors
    assert (error.exception_type, error.message) == ("AssertionError", "")
    assert error.python_frames[0].code == "assert not var.isnan().any().item()"


def test_traceback_without_its_first_line():
    text = '  File "<string>", line 7, in launcher\nRuntimeError: Triton Error [CUDA]: misaligned address\n'
    (error,) = read(text).errors
    assert (error.cuda_error, error.python_frames[0].file) == ("cudaErrorMisalignedAddress", "<string>")


def test_tracebacks_of_ranks_that_interleave_are_told_apart():
    a = [f"[rank0]: {line}" for line in ACCELERATOR.splitlines(keepends=True)]
    b = [f"[rank1]: {line}" for line in ACCELERATOR.splitlines(keepends=True)]
    text = "".join(x + y for x, y in zip(a, b, strict=True))
    events = read(text)
    assert sorted(
        (e.rank, e.exception_type, len(e.python_frames)) for e in events.errors if e.python_frames
    ) == [
        (0, "torch.AcceleratorError", 1),
        (1, "torch.AcceleratorError", 1),
    ]
    assert_partition(events, len(text))


def test_terminate_and_what_are_one_error():
    (error,) = read(TERMINATE).errors
    assert (error.form, error.exception_type, error.message) == (
        ErrorForm.TERMINATE,
        "c10::Error",
        "index out of bounds: 0 <= tmp7 < ks1",
    )
    assert error.raised_from is not None
    assert error.raised_from.line == 32
    assert error.stack is not None


def test_terminate_called_recursively():
    text = "terminate called after throwing an instance of 'c10::Error'\nterminate called recursively\n[1]    29644 IOT instruction (core dumped)\n"
    errors = read(text).errors
    assert [e.form for e in errors] == [ErrorForm.TERMINATE, ErrorForm.TERMINATE, ErrorForm.SIGNAL]
    assert errors[1].message == "terminate called recursively"
    assert errors[2].signal == "SIGABRT"


CALL = "run_func_( container_handle_, output_handles.size(), stream(x)) API call failed at /pytorch/runner.cpp, line 145"


@pytest.mark.parametrize(
    ("prefix", "form"),
    [("Error: ", ErrorForm.AOTI_ERROR), ("RuntimeError: ", ErrorForm.PYTHON), ("", ErrorForm.SHIM), ("  what():  ", ErrorForm.TERMINATE)],
)  # fmt: skip
def test_api_call_is_taken_apart_wherever_it_is_printed(prefix, form):
    (error,) = read(prefix + CALL + "\n").errors
    assert error.form is form
    assert error.call == "run_func_( container_handle_, output_handles.size(), stream(x))"
    assert (error.call_file, error.call_line) == ("/pytorch/runner.cpp", 145)


def test_input_check_takes_its_blank_line():
    text = "Error: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1\n\nTraceback (most recent call last):\n"
    events = read(text)
    assert events.errors[0].message.startswith("input_handles[0]: dim value is too small")
    assert not events.unparsed


@pytest.mark.parametrize(
    ("line", "signal"),
    [
        ("Aborted (core dumped)", "SIGABRT"),
        ("./run.sh: line 34:  1930 Aborted                 (core dumped) cmake-out/aoti_run -z x", "SIGABRT"),
        ("Segmentation fault", "SIGSEGV"),
        ('Thread 1 "python" received signal SIGSEGV, Segmentation fault.', "SIGSEGV"),
        ("*** SIGABRT received by PID 12 (TID 12) on cpu 40 from PID 12; stack trace: ***", "SIGABRT"),
        (
            "[host:1:0:1] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x8)",
            "SIGSEGV",
        ),
        ("Fatal Python error: Aborted", "SIGABRT"),
    ],
)
def test_signals(line, signal):
    (error,) = read(line + "\n").errors
    assert (error.form, error.signal) == (ErrorForm.SIGNAL, signal)


def test_faulthandler_frames_are_outermost_first():
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007fd96d43fb80 (most recent call first):\n"
        '  File "ctypes.py", line 519 in string_at\n\n  File "run.py", line 77 in <module>\n\nExtension modules: a, b (total: 2)\n'
    )
    events = read(text)
    assert [f.file for f in events.errors[0].python_frames] == ["run.py", "ctypes.py"]
    assert not events.unparsed


def test_shim_record_of_the_c10_logger():
    text = (
        "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: The specified pointer resides on host memory.\n"
        "Exception raised from getDeviceFromPtr at ../aten/CUDADevice.h:16 (most recent call first):\n"
        "frame #0: f() + 0x57 (0x7f3ddf452017 in /opt/libc10.so)\n"
    )
    (error,) = read(text).errors
    assert (error.form, error.message) == (ErrorForm.SHIM, "The specified pointer resides on host memory.")
    assert error.stack is not None


def test_message_in_the_words_of_a_host_program():
    text = "t.py !!! Uncaught exception: index out of bounds: 0 <= tmp7 < ks1\nException raised from k at /t/a.cpp:1084 (most recent call first):\n"
    (error,) = read(text).errors
    assert (error.form, error.message) == (ErrorForm.CPP, "index out of bounds: 0 <= tmp7 < ks1")


def test_warnings_are_warnings():
    text = "[W1129 12:14:06.626951064 Module.cpp:206] symbolizing C++ stack trace for exception\n[WARNING] Could not dlsym f.\n"
    assert [e.form for e in read(text).errors] == [ErrorForm.WARNING, ErrorForm.WARNING]
