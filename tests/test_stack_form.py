"""Native stacks of every printer: one frame of each form, and what stands between frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_text import assert_partition, read

LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


@pytest.mark.parametrize(
    ("text", "form", "symbol", "place", "library", "offset"),
    [
        ("    #0 0x55fc5bc1375e in load /srv/demo/asan.cpp:8:3", "sanitizer", "load", ("/srv/demo/asan.cpp", 8), None, None),
        ("    #1 0x55fc5bc13270 in _start (/srv/demo/asan+0x18270) (BuildId: c3e83b91)", "sanitizer", "_start", (None, None), "/srv/demo/asan", 0x18270),
        (f"    #3 0x7f6030445249  ({LIBC}+0x27249)", "sanitizer", None, (None, None), LIBC, 0x27249),
        ("    #0 main /srv/demo/race.cpp:14 (race+0x16ce)", "sanitizer", "main", ("/srv/demo/race.cpp", 14), "race", 0x16CE),
        ("    #6 <null> <null> (libstdc++.so.6+0xd44a2)", "sanitizer", None, (None, None), "libstdc++.so.6", 0xD44A2),
        ("  * frame #0: 0x00007ffff7e2a5b4 libc10.so`foo(x=1) at a.cpp:12:5 [opt]", "lldb", "foo(x=1)", ("a.cpp", 12), "libc10.so", None),
        ("    frame #1: python`PyModule_AddFunctions + 16", "lldb", "PyModule_AddFunctions", (None, None), "python", 16),
        ("    @     0x7f2a5c0d8520 (unknown)", "glog", None, (None, None), None, None),
        ("    @     0x7f2a5c0d8520       1264  at::native::add()", "absl", "at::native::add()", (None, None), None, None),
        ("    @ 00000000068c69fe folly::symbolizer::f()", "folly", "folly::symbolizer::f()", (None, None), None, None),
        (" 4 0x000000000101252b Loader::loadX4()  /opt/triton/MMAv2.cpp:418", "ucx", "Loader::loadX4()", ("/opt/triton/MMAv2.cpp", 418), None, None),
        (f"[ 1] {LIBC}(pthread_kill+0x11c)[0x7fa24289eb2c]", "symbols", "pthread_kill", (None, None), LIBC, 0x11C),
        ("./lib.so(_ZN3fooEv+0x1f) [0x7f1234567890]", "symbols", "_ZN3fooEv", (None, None), "./lib.so", 0x1F),
        ('  Binary file "/opt/python/python", at _Py_DumpStack+0x42 [0x5b27f7d7147e]', "faulthandler", "_Py_DumpStack", (None, None), "/opt/python/python", 0x42),
        ("0  libtriton.so 0x00007f93e23fc3bf llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) + 63", "llvm", "llvm::sys::PrintStackTrace(llvm::raw_ostream&, int)", (None, None), "libtriton.so", 63),
        (" #0 0x00007f93e23fc3bf mlir::Op::verify() /src/Op.cpp:3:1", "llvm", "mlir::Op::verify()", ("/src/Op.cpp", 3), None, None),
        ("00007FFA22D310D200007FFA22D31040 c10.dll!c10::Error::Error [<unknown file> @ <unknown line number>]", "windows", "c10::Error::Error", (None, None), "c10.dll", None),
        ("#0  0x00007fffc3dd2d00 in triton_poi_fused_0<<<(4,1,1),(128,1,1)>>> ()", "gdb", "triton_poi_fused_0<<<(4,1,1),(128,1,1)>>>", (None, None), None, None),
        ("#1  <signal handler called>", "gdb", "<signal handler called>", (None, None), None, None),
        ("#15 pybind11::cpp_function::dispatcher(_object*) from :0", "captured_traceback", "pybind11::cpp_function::dispatcher(_object*)", (None, None), None, None),
    ],
)  # fmt: skip
def test_a_frame_alone_is_read_as_printed(text, form, symbol, place, library, offset):
    (stack,) = read(f"{text}\n").stacks
    (frame,) = stack.frames
    assert (stack.format, frame.symbol, (frame.file, frame.line)) == (form, symbol, place)
    assert (frame.library, frame.offset) == (library, offset)


def test_frames_that_gdb_folds_over_many_lines_are_one_each():
    text = (
        "#0  0x00007ffff79c2387 in foo (a=1,\n    b=2,\n    c=3)\n    at /src/a.cpp:12\n"
        "#1  0x00007ffff79c3a78 in bar ()\n   from /lib/libb.so\n#2  main () at a.c:3\n"
    )
    (stack,) = read(text).stacks
    assert [(f.symbol, f.file, f.line, f.library) for f in stack.frames] == [
        ("foo", "/src/a.cpp", 12, None),
        ("bar", None, None, "/lib/libb.so"),
        ("main", "a.c", 3, None),
    ]
    assert stack.frames[0].arguments == "a=1, b=2, c=3"


def test_locals_the_pager_and_the_end_stand_between_gdb_frames():
    text = (
        "#0  foo (a=1) at a.c:3\n        x = 5\nNo locals.\n--Type <RET> for more, q to quit, c to continue without paging--\n"
        "#1  main () at a.c:9\nBacktrace stopped: previous frame identical to this frame (corrupt stack?)\nafter\n"
    )
    events = read(text)
    (stack,) = events.stacks
    assert len(stack.frames) == 2
    assert [u.span.text for u in events.unparsed] == ["after\n"]


def test_threads_of_gdb_keep_their_numbers():
    text = (
        'Thread 2 (Thread 0x7ffff74386c0 (LWP 13205) "python"):\n#0  0x00007ffff78e4545 in poll () at poll.c:4\n\n'
        "Thread 1 (LWP 13200):\n#0  main () at a.c:3\n"
    )
    assert [(s.thread, len(s.frames)) for s in read(text).stacks] == [("2", 1), ("1", 1)]


def test_an_inlined_frame_has_no_address_in_gdb_and_its_callers_in_a_sanitizer():
    gdb = "#0  0x00007fffe309d919 in a () at a.c:1\n#1  b () at a.c:2\n#2  0x00007fffe309d920 in c () at a.c:3\n"
    asan = "    #0 0x55fc5bc1375e in a /a.c:1\n    #1 0x55fc5bc1375e in b /a.c:2\n    #2 0x55fc5bc13770 in c /a.c:3\n"
    assert [f.inlined for f in read(gdb).stacks[0].frames] == [False, True, False]
    assert [f.inlined for f in read(asan).stacks[0].frames] == [True, False, False]


def test_folly_prints_the_source_below_the_frame():
    text = (
        "    @ 00000000068c69fe foo()\n                       ./folly/a.cpp:12\n    @ 00000000068c6a00 main\n"
    )
    (stack,) = read(text).stacks
    assert [(f.symbol, f.file, f.line) for f in stack.frames] == [
        ("foo()", "./folly/a.cpp", 12),
        ("main", None, None),
    ]


def test_the_loggers_of_ray_and_openmpi_stand_before_their_frames():
    ray = (
        "[2022-09-27 00:21:27,011 E 73412 73420] logging.cc:361:     @     0x2b1453663630       1264  foo()\n"
    )
    mpi = f"[host:59563] [ 0] {LIBC}(+0x45330)[0x7fa242845330]\n"
    assert [s.format for s in read(ray).stacks] == ["absl"]
    assert [s.format for s in read(mpi).stacks] == ["symbols"]


def test_py_spy_shows_threads_with_their_state():
    text = (
        'Process 71: python serve.py\nPython v3.11.7 (/usr/bin/python3.11)\n\nThread 71 (active+gil): "MainThread"\n'
        "    forward (torch/nn/modules/linear.py:125)\n    at::native::linear (libtorch_cpu.so)\n"
        'Thread 80 (idle): "loader"\n    wait (threading.py:320)\n'
    )
    stacks = read(text).stacks
    assert [(s.format, s.thread, s.role, len(s.frames)) for s in stacks] == [
        ("py_spy", "71", "active+gil", 2),
        ("py_spy", "80", "idle", 1),
    ]


FORMS = [
    "frame #0: foo() + 0x1f (0x7f1234 in /lib/a.so)", "#4 foo() from /srv/a.cpp:12", "#0  0x00007f12 in foo (a=1) at a.c:3",
    "    #0 0x55fc in load /srv/a.cpp:8", "    @     0x7f2a5c0d (unknown)", " 1 0x0000000000042520 foo()  ???:0",
    "./a.so(foo+0x1f) [0x7f12]", "  * frame #0: 0x00007f12 a`foo at a.c:1:2", "terminate called after throwing an instance of 'E'",
    "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1 bp 0x2 sp 0x3 T0)", "Fatal Python error: Aborted",
    "Current thread 0x00007f12 (most recent call first):", '  File "a.py", line 3 in f', "Thread 1 received signal SIGSEGV, x.",
    "0x602000000024 is located 4 bytes after 16-byte region [0x1,0x2)", "READ of size 4 at 0x6020 thread T0",
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(FORMS), st.integers(0, 60), st.text(max_size=4)), max_size=12))
def test_damage_of_every_form_never_raises_and_loses_no_byte(parts):
    text = "\n".join(form[:at] + extra + form[at:] for form, at, extra in parts)
    data = text.encode("utf-8", "surrogatepass")
    assert_partition(read(data), len(data))
