"""Reports of sanitizers: what was accessed, what it missed, which stack is which."""

import pytest

from aoti_logs.parse.errors.memory_report import MemoryReport
from aoti_logs.parse.events import ErrorForm
from tests.log_text import read

FRAMES = "    #0 0x55fc5bc1375e in load /srv/demo/a.cpp:8\n    #1 0x55fc5bc1380e in main /srv/demo/a.cpp:11\n"


def report(text: str | bytes) -> MemoryReport:
    (error,) = read(text).errors
    assert isinstance(error.detail, MemoryReport)
    return error.detail


def test_a_whole_report_is_one_error_with_its_stacks(fixtures_dir):
    data = (fixtures_dir / "cpu_death_asan/run.log").read_bytes()
    events = read(data)
    told = report(data)
    assert (told.tool, told.error, told.access, told.access_size) == (
        "asan",
        "heap-buffer-overflow",
        "READ",
        4,
    )
    assert told.region is not None
    assert (told.region.position, told.region.size) == ("0 bytes to the right of", 16)
    assert [(s.role, s.thread) for s in told.stacks] == [("access", "T0"), ("allocated", "T0")]
    assert not events.unparsed


@pytest.mark.parametrize(
    ("line", "error", "address", "thread"),
    [
        ("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60400000001c at pc 0x5 bp 0x7 sp 0x7", "heap-use-after-free", "0x60400000001c", None),
        ("==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000010 (pc 0x5 bp 0x7 sp 0x7 T3)", "SEGV", "0x000000000010", "T3"),
        ("==1==ERROR: AddressSanitizer: attempting double-free on 0x604000000010 in thread T0:", "attempting double-free", "0x604000000010", "T0"),
        ("==1==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: 0x55bca93855c4 in thread T0", "attempting free", "0x55bca93855c4", "T0"),
        ("==1==ERROR: AddressSanitizer: alloc-dealloc-mismatch (malloc vs operator delete) on 0x604000000010", "alloc-dealloc-mismatch", "0x604000000010", None),
        ("==1==WARNING: MemorySanitizer: use-of-uninitialized-value", "use-of-uninitialized-value", None, None),
    ],
)  # fmt: skip
def test_the_first_line_names_error_address_and_thread(line, error, address, thread):
    told = report(f"{line}\n{FRAMES}")
    assert (told.error, told.access_address, told.thread, told.pid) == (error, address, thread, 1)


@pytest.mark.parametrize(
    ("line", "position", "variable"),
    [
        ("0x6020 is located 4 bytes to the left of 16-byte region [0x6010,0x6020)", "4 bytes to the left of", None),
        ("0x6020 is located 12 bytes inside of 40-byte region [0x6010,0x6038)", "12 bytes inside of", None),
        ("0x6020 is located 0 bytes after 16-byte region [0x6010,0x6020)", "0 bytes after", None),
        ("0x6020 is located 4 bytes to the right of global variable 'table' defined in 'a.cpp:6:5' (0x6010) of size 40", "4 bytes to the right of", "table"),
    ],
)  # fmt: skip
def test_a_region_alone_is_a_report_that_says_what_it_lacks(line, position, variable):
    told = report(f"{line}\n")
    assert told.region is not None
    assert (told.region.position, told.region.variable, told.whole) == (position, variable, False)


def test_who_freed_and_who_allocated_are_told_apart():
    told = report(
        f"==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020 at pc 0x5 bp 0x7 sp 0x7\nREAD of size 4 at 0x6020 thread T0\n{FRAMES}\n"
        f"0x6020 is located 12 bytes inside of 40-byte region [0x6010,0x6038)\nfreed by thread T1 here:\n{FRAMES}\n"
        f"previously allocated by thread T0 here:\n{FRAMES}\nThread T1 created by T0 here:\n{FRAMES}"
    )
    assert [(s.role, s.thread) for s in told.stacks] == [
        ("access", "T0"),
        ("freed", "T1"),
        ("allocated", "T0"),
        ("created", "T1"),
    ]
    assert (told.freed_by, told.allocated_by) == ("T1", "T0")


def test_a_data_race_is_a_warning_for_the_program_goes_on():
    text = (
        "WARNING: ThreadSanitizer: data race (pid=71)\n  Read of size 4 at 0x5648 by main thread:\n    #0 main /a.cpp:22 (tsan+0x16ce)\n\n"
        "  Previous write of size 4 at 0x5648 by thread T1:\n    #0 f /a.cpp:20 (tsan+0x12b9)\n\nSUMMARY: ThreadSanitizer: data race /a.cpp:22 in main\n"
    )
    (error,) = read(text).errors
    assert error.form is ErrorForm.WARNING
    told = report(text)
    assert (told.pid, [(s.role, s.thread) for s in told.stacks]) == (
        71,
        [("access", "main thread"), ("previous", "T1")],
    )


def test_undefined_behaviour_is_a_warning_with_its_words():
    text = "a.cpp:23:36: runtime error: signed integer overflow: 2147483647 + 2 cannot be represented in type 'int'\n"
    (error,) = read(text).errors
    assert (error.form, report(text).tool) == (ErrorForm.WARNING, "ubsan")


def test_leaks_are_summed():
    text = (
        f"==1==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 40 byte(s) in 1 object(s) allocated from:\n{FRAMES}\n"
        f"Indirect leak of 2 byte(s) in 1 object(s) allocated from:\n{FRAMES}\nSUMMARY: AddressSanitizer: 42 byte(s) leaked in 2 allocation(s).\n"
    )
    told = report(text)
    assert (told.tool, told.leaked, len(told.stacks)) == ("lsan", 42, 2)


def test_two_reports_are_two_errors():
    one = f"==1==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000010 (pc 0x5 bp 0x7 sp 0x7 T0)\n{FRAMES}"
    assert len(read(one + one.replace("==1==", "==2==")).errors) == 2
