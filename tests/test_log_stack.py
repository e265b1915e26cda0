"""C++ stacks: numbers, symbols, places, libraries as printed."""

from hypothesis import given
from hypothesis import strategies as st

from tests.log_text import CAPTURED, CPU, GDB, read


def test_c10_frames_keep_their_numbers_and_unknown_symbols_are_none():
    stack = read(CPU).stacks[0]
    assert (stack.format, [f.number for f in stack.frames], stack.omitted) == ("c10", [0, 2, 3, 22], True)
    assert [f.symbol for f in stack.frames][1:3] == [None, "cpp_fused_index_0"]
    frame = stack.frames[2]
    assert (frame.offset, frame.address) == (0xE73, 0x7FF39192F9D3)
    assert frame.library == "/tmp/aotinductor_4DED0E/model/cqde.wrapper.so"


def test_captured_traceback_has_lines_only_where_they_are_lines():
    (stack,) = read(CAPTURED).stacks
    assert stack.format == "captured_traceback"
    assert [(f.number, f.file, f.line, f.library, f.offset) for f in stack.frames] == [
        (4, None, None, None, None),
        (5, None, None, None, None),
        (6, None, None, "libc10.so", 222378),
        (8, "/srv/demo/cache/c6qf23hrglc6.kernel.cpp", 208, None, None),
    ]
    assert stack.frames[2].symbol is None


def test_gdb_backtrace_follows_its_signal():
    events = read(GDB)
    (stack,) = events.stacks
    assert [(f.number, f.symbol, f.file, f.line, f.library) for f in stack.frames] == [
        (0, "__pthread_kill_implementation", "./nptl/pthread_kill.c", 44, None),
        (1, None, None, None, "/lib/x86_64-linux-gnu/libstdc++.so.6"),
        (11, "main", "main.cpp", 13, None),
    ]
    assert events.errors[0].signal == "SIGABRT"


def test_gdb_frame_folded_over_two_lines_is_one():
    text = "#0  0x00007fffe309d919 in std::vector<int>::vector (this=0x0)\n    at /usr/include/vector.h:12\n#1  main () at a.cpp:3\n"
    (stack,) = read(text).stacks
    assert [(f.file, f.line) for f in stack.frames] == [("/usr/include/vector.h", 12), ("a.cpp", 3)]


def test_raw_backtrace_symbol_is_a_frame():
    text = CPU.replace("<omitting python frames>", "frame #18: /opt/.venv/bin/python3() [0x58216f]")
    frame = read(text).stacks[0].frames[3]
    assert (frame.number, frame.symbol, frame.library, frame.address) == (
        18,
        None,
        "/opt/.venv/bin/python3",
        0x58216F,
    )


def test_frame_that_cannot_be_read_has_a_row_of_its_own():
    text = CPU.replace("<unknown function> + 0x5cbc874 (0x7ff397cbc874 in", "<unknown (")
    assert "stack frame" in {u.expected for u in read(text).unparsed}


SYMBOLS = st.sampled_from(
    [
        "c10::detail::torchCheckFail(char const*, char const*, unsigned int, char const*)",
        "std::vector<at::Tensor, std::allocator<at::Tensor> >::operator+(int) const",
        "(anonymous namespace)::f(int)::{lambda(long)#1}::operator()(long) const",
        "at::Tensor (at::Tensor const&)",
        "a + 0x12 (b in c)",
        "clone",
    ]
)
PATHS = st.from_regex(r"/[a-z0-9_./ +-]{0,20}[a-z0-9]\.so(\.[0-9])?", fullmatch=True)


@given(SYMBOLS, PATHS, st.integers(0, 999), st.integers(0, 2**32), st.integers(0, 2**47))
def test_c10_frame_gives_back_what_was_printed(symbol, path, number, offset, address):
    text = f"frame #{number}: {symbol} + {offset:#x} ({address:#x} in {path})\n"
    (stack,) = read(text).stacks
    (frame,) = stack.frames
    assert (frame.number, frame.symbol, frame.offset, frame.address, frame.library) == (
        number,
        symbol,
        offset,
        address,
        path,
    )


@given(
    SYMBOLS,
    st.from_regex(r"/[a-z0-9_. -]{0,20}[a-z]\.cpp", fullmatch=True),
    st.integers(0, 999),
    st.integers(1, 99999),
)
def test_captured_frame_gives_back_what_was_printed(symbol, path, number, line):
    (stack,) = read(f"#{number} {symbol} from {path}:{line}\n").stacks
    assert [(f.number, f.symbol, f.file, f.line) for f in stack.frames] == [(number, symbol, path, line)]
