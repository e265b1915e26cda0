"""How a process ended, as shells, launchers, the kernel, debuggers and handlers print it."""

import pytest

from aoti_logs.parse.deaths.child_death import child_death
from aoti_logs.parse.deaths.death import Death
from aoti_logs.parse.events import ErrorForm
from tests.log_text import read


def death(text: str) -> Death:
    (error,) = read(text).errors
    assert isinstance(error.detail, Death)
    assert error.signal == error.detail.signal
    return error.detail


@pytest.mark.parametrize(
    ("line", "printer", "signal", "pid"),
    [
        ("./run.sh: line 34:  1930 Aborted                 (core dumped) cmake-out/aoti_run model.so", "shell", "SIGABRT", 1930),
        ("[1]    2964411 IOT instruction (core dumped)", "shell", "SIGABRT", 2964411),
        ("[1]+  Segmentation fault      (core dumped) python a.py", "shell", "SIGSEGV", None),
        ("zsh: illegal hardware instruction  python a.py", "shell", "SIGILL", None),
        ("make: *** [Makefile:56: test] Segmentation fault (core dumped)", "shell", "SIGSEGV", None),
        ("fish: Job 1, 'python a.py' terminated by signal SIGSEGV (Address boundary error)", "shell", "SIGSEGV", None),
        ("Killed", "shell", "SIGKILL", None),
        ("Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)", "pycharm", "SIGSEGV", None),
        ("srun: error: gpu01: task 3: Segmentation fault (core dumped)", "slurm", "SIGSEGV", None),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.", "slurm", "SIGKILL", None),
        ("mpirun noticed that process rank 3 with PID 71 on node gpu01 exited on signal 11 (Segmentation fault).", "mpi", "SIGSEGV", 71),
        ("[ 12.345678] python[8420]: segfault at 10 ip 00007f2a5c0d8520 sp 00007ffe2e3c5a10 error 4 in libtorch_cpu.so[7f2a58000000+c000000]", "kernel", "SIGSEGV", 8420),
        ("Out of memory: Killed process 8420 (python) total-vm:98213440kB, anon-rss:64123456kB", "kernel", "SIGKILL", 8420),
        ("traps: python[8420] trap divide error ip:7f2a5c0d8520 sp:7ffe2e3c5a10 error:0 in libm.so.6[7f2a58000000+c000]", "kernel", "SIGFPE", 8420),
        ("*** SIGSEGV (@0x7f2a) received by PID 8420 (TID 0x7f53c8042520) from PID 10794; stack trace: ***", "glog", "SIGSEGV", 8420),
        ("[2022-09-27 00:21:27,008 E 73412 73420] logging.cc:361: *** SIGSEGV received at time=1664230887 on cpu 14 ***", "glog", "SIGSEGV", None),
        ("Thread 1 \"python\" received signal SIGBUS, Bus error.", "gdb", "SIGBUS", None),
        ("Program terminated with signal SIGABRT, Aborted.", "gdb", "SIGABRT", None),
        ("* thread #1, name = 'python', stop reason = signal SIGSEGV: invalid address (fault address: 0x60)", "lldb", "SIGSEGV", None),
        ("double free or corruption (!prev)", "glibc", "SIGABRT", None),
        ("*** Error in `python': double free or corruption (out): 0x00007f12 ***", "glibc", "SIGABRT", None),
        ("*** stack smashing detected ***: terminated", "glibc", "SIGABRT", None),
        ("pure virtual method called", "stdlib", "SIGABRT", None),
        ("python: /src/mlir/Op.cpp:12: mlir::Value mlir::get(): Assertion `value' failed.", "assert", "SIGABRT", None),
    ],
)  # fmt: skip
def test_a_line_tells_who_prints_it_the_signal_and_the_process(line, printer, signal, pid):
    told = death(f"{line}\n")
    assert (told.printer, told.signal, told.pid) == (printer, signal, pid)


@pytest.mark.parametrize(
    "line",
    [
        "Killed by the reviewer: the patch was too long",
        "the process was not aborted",
        "* thread #1, name = 'a', stop reason = breakpoint 1.1",
        "assertion failed: x",
        "rank 0: exitcode  : 1 (pid: 6421)",
        "Segmentation fault injection test passed",
        "free(): is a function",
    ],
)
def test_words_about_signals_are_no_deaths(line):
    assert not [e for e in read(f"{line}\n").errors if e.form is ErrorForm.SIGNAL]


def test_an_address_of_the_first_page_is_null_like():
    text = "[a:1:0:1] Caught signal 11 (Segmentation fault: address not mapped to object at address {})\n"
    assert death(text.format("0xc")).null_like
    assert death(text.format("(nil)")).null_like
    assert not death(text.format("0x7f12345678")).null_like


def test_folly_names_the_signal_and_its_code():
    told = death(
        "*** Aborted at 1612434399 (Unix time, try 'date -d @1612434399') ***\n"
        "*** Signal 11 (SIGSEGV) (0x2a) received by PID 71 (pthread TID 0x7f4769aed400) (linux TID 71) "
        "(code: address not mapped to object), stack trace: ***\n    @ 00000000068c69fe foo()\n"
    )
    assert (told.printer, told.address, told.reason) == ("folly", "0x2a", "address not mapped to object")
    assert [f.symbol for f in told.stacks[0].frames] == ["foo()"]


def test_openmpi_tells_signal_code_and_address_in_a_block():
    told = death(
        "[host:06719] *** Process received signal ***\n[host:06719] Signal: Segmentation fault (11)\n"
        "[host:06719] Signal code: Address not mapped (1)\n[host:06719] Failing at address: 0x10\n"
        "[host:06719] [ 0] /lib/libc.so.6(+0x11390)[0x7f9648c95390]\n[host:06719] *** End of error message ***\n"
    )
    assert (told.printer, told.signal, told.address, told.reason) == (
        "mpi",
        "SIGSEGV",
        "0x10",
        "Address not mapped",
    )
    assert len(told.stacks[0].frames) == 1


def test_faulthandler_keeps_threads_apart_and_knows_the_current_one():
    told = death(
        "Fatal Python error: Segmentation fault\n\nThread 0x0000ee9639def180 [loader] (most recent call first):\n"
        '  File "/a.py", line 3 in wait\n\nCurrent thread 0x0000ee9ad22047a0 (most recent call first):\n'
        '  File "/b.py", line 4 in load\n  File "/b.py", line 9 in <module>\n\nExtension modules: a, b (total: 2)\n'
    )
    assert [(t.ident, t.name, t.current, len(t.frames)) for t in told.threads] == [
        ("0x0000ee9639def180", "loader", False, 1),
        ("0x0000ee9ad22047a0", None, True, 2),
    ]
    assert (told.thread, told.n_extension_modules) == ("0x0000ee9ad22047a0", 2)


def test_the_c_stack_of_python_3_14_follows_the_threads():
    """CPython Python/traceback.c, `_Py_DumpStack`."""
    told = death(
        "Fatal Python error: Segmentation fault\n\n<Cannot show all threads while the GIL is disabled>\n"
        'Stack (most recent call first):\n  File "/ctypes/__init__.py", line 590 in string_at\n\n'
        "Current thread's C stack trace (most recent call first):\n"
        '  Binary file "/usr/bin/python3.14t", at _Py_DumpStack+0x30 [0x4b53b0]\n'
        '  Binary file "/lib/libc.so.6", at +0x45330 [0x7f6108645330]\n  <truncated rest of calls>\n'
    )
    assert [f.symbol for f in told.stacks[0].frames] == ["_Py_DumpStack", None]
    assert [len(t.frames) for t in told.threads] == [1]


def test_a_dump_without_its_first_line_is_no_failure():
    (error,) = read(
        'Thread 0x00007fcd7a1e3740 (most recent call first):\n  File "a.py", line 1 in f\n'
    ).errors
    assert (error.form, error.signal) == (ErrorForm.WARNING, None)


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("Command '['python', 'a.py']' died with <Signals.SIGSEGV: 11>.", "SIGSEGV"),
        ("process 0 terminated with signal SIGABRT", "SIGABRT"),
        ("DataLoader worker (pid 123) is killed by signal: Bus error. It is possible", "SIGBUS"),
        ("A process in the process pool was terminated abruptly while the future was running", None),
    ],
)
def test_an_exception_tells_of_a_childs_death(text, signal):
    told = child_death(text)
    assert told is not None
    assert told.signal == signal


def test_an_exit_code_of_one_is_no_death():
    assert child_death("Command 'g++' returned non-zero exit status 1.") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("terminate called after throwing an instance of 'std::runtime_error'\nterminate called recursively\n  what():  index out of range\n",
         [("std::runtime_error", "index out of range"), (None, "terminate called recursively")]),
        ("terminate called after throwing an instance of 'terminate called recursively\nterminate called recursively\n",
         [(None, ""), (None, "terminate called recursively"), (None, "terminate called recursively")]),
        ("terminate called after throwing an instance of 'std::runtime_errorterminate called recursively\n'\n",
         [("std::runtime_error", ""), (None, "terminate called recursively")]),
        ("libc++abi: terminating due to uncaught exception of type c10::Error: no data\n", [("c10::Error", "no data")]),
    ],
)  # fmt: skip
def test_threads_that_terminate_at_once_write_into_each_others_lines(text, said):
    """The lines of runs of fixtures/record/many_threads.cpp."""
    errors = [e for e in read(text).errors if e.form is ErrorForm.TERMINATE]
    assert [(e.exception_type, e.message) for e in errors] == said
