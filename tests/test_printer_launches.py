"""Which launch a record belongs to, and whether a buffer was written before it."""

from tests.log_text import read

BLOCK = (
    "[  {phase} - {kernel} - {arg}  ]:\n {value}\n[ CPUFloatType{{1}} ]\nNumber of elements: 1\nDtype: float32\n"
    "Mean value: {value}\nMin value: {value}\nMax value: {value}\nDevice: cpu\nSize: [1]\nStride: [1]\nLayout: Strided\n"
    "Is contiguous: 1\nRequires grad: 0\n\n"
)
INPUT = BLOCK.replace("{phase} - {kernel} - {arg}", "aoti_model_inputs - {arg}")


def block(phase: str, kernel: str, arg: str, value: str = "1") -> str:
    return BLOCK.format(phase=f"{phase}_launch", kernel=kernel, arg=arg, value=value)


def around(kernel: str, *args: tuple[str, str, str]) -> str:
    """One launch: (argument, before, after) each."""
    return "".join(
        [block("before", kernel, a, b) for a, b, _ in args]
        + [block("after", kernel, a, c) for a, _, c in args]
    )


def told(text: str) -> list[tuple[str | None, int | None, bool | None]]:
    return [(d.argument, d.launch, d.uninitialised) for d in read(text).dumps]


def test_each_launch_of_a_kernel_has_its_number():
    text = around("k", ("buf0", "9", "1")) + around("k", ("buf1", "8", "2"))
    assert [n for _, n, _ in told(text)] == [1, 1, 2, 2]


def test_an_argument_given_twice_is_one_launch():
    text = around("mm", ("arg0_1", "1", "1"), ("arg0_1", "1", "1"))
    assert {n for _, n, _ in told(text)} == {1}


def test_names_only_count_launches_too():
    names = "[ before_launch: k ]\n[ after_launch: k ]\n"
    assert [d.launch for d in read(names * 3).dumps] == [1, 1, 2, 2, 3, 3]


def test_another_process_counts_anew():
    text = around("k", ("buf0", "9", "1"))
    dumps = read(text + "exit code: 0\n$ python serve.py\n" + text).dumps
    assert [d.launch for d in dumps] == [1, 1, 1, 1]


def test_ranks_count_apart():
    lines = "".join(f"[rank{r}]:[ {p}_launch: k ]\n" for p in ("before", "after") for r in (0, 1))
    assert [(d.rank, d.launch) for d in read(lines).dumps] == [(0, 1), (1, 1), (0, 1), (1, 1)]


def test_an_output_before_the_launch_that_writes_it_is_uninitialised():
    assert told(around("k", ("arg0_1", "3", "3"), ("buf0", "nan", "1")))[:2] == [
        ("arg0_1", 1, False),
        ("buf0", 1, True),
    ]


def test_a_buffer_written_by_an_earlier_launch_is_not():
    text = around("k", ("buf0", "9", "1")) + around("j", ("buf0", "1", "1"))
    assert told(text)[2] == ("buf0", 1, False)


def test_a_buffer_that_no_printed_launch_wrote_and_this_one_only_reads_is_undecided():
    """Calls like `at::_ops::sort_stable::call` print no outputs."""
    assert told(around("k", ("buf4", "5", "5")))[0] == ("buf4", 1, None)


def test_memory_of_an_older_buffer_under_a_new_name_is_undecided():
    text = around("k", ("buf2", "9", "7")) + around("j", ("buf7", "7", "1"))
    assert told(text)[2] == ("buf7", 1, None)


def test_buffers_of_the_next_call_are_uninitialised_again():
    call = INPUT.format(arg="arg0_1", value="3") + around("k", ("arg0_1", "3", "3"), ("buf0", "9", "1"))
    other = call.replace(" 9\n", " 4\n").replace(" 1\n[ C", " 2\n[ C")
    assert [u for a, _, u in told(call + other) if a == "buf0"] == [True, None, True, None]


def test_a_call_that_ended_in_an_exception_leaves_its_launch_unfinished():
    text = INPUT.format(arg="arg0_1", value="3") + block("before", "k", "arg0_1", "3")
    dumps = read(text + text + block("after", "k", "arg0_1", "3")).dumps
    assert [d.launch for d in dumps] == [None, 1, None, 2, 2]


def test_two_processes_that_mix_their_blocks_give_no_numbers():
    """Two headers with nothing between them are never one process's."""
    first, second = (
        block("after", "k", "buf0", "1").splitlines(True),
        block("after", "k", "buf0", "nan").splitlines(True),
    )
    mixed = "".join(line for pair in zip(first, second, strict=True) for line in pair)
    dumps = read(mixed).dumps
    assert [(d.has_nan, d.complete, d.min) for d in dumps] == [(None, False, None)] * 2
