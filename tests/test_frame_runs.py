"""Runs of c10 frames that are recognised at once are those of the grammar."""

from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.parse.events import Stack
from tests.log_text import assert_partition, read

HEAD = (
    "Exception raised from operator() at /pytorch/c10/cuda/CUDAException.cpp:43 (most recent call first):\n"
)
SYMBOLS = [
    "c10::Error::Error(c10::SourceLocation, std::string)", "<unknown function>", "<unknown function", "PyObject_Call",
    "operator+ + 0x1 (0x2 in a)", "(anonymous namespace)::f(int) const", "at::Tensor (at::Tensor const&)", "f ", "é()",
]  # fmt: skip
LIBRARIES = ["/opt/torch/lib/libc10.so", "./main", "/a b/lib.so", "/x (deleted)", "/y(1)/z.so", ""]
FRAMES = st.one_of(
    st.builds("frame #{}: {} + {:#x} ({:#x} in {})\n".format, st.integers(0, 40), st.sampled_from(SYMBOLS),
              st.integers(0, 2**40), st.integers(0, 2**64), st.sampled_from(LIBRARIES)),
    st.builds("frame #{}: {}() [{:#x}]\n".format, st.integers(0, 40), st.sampled_from(LIBRARIES), st.integers(0, 2**47)),
    st.sampled_from(["<omitting python frames>\n", "frame #7: torn", "\n", "epoch 1\n", HEAD]),
)  # fmt: skip


def _told(stacks: tuple[Stack, ...]) -> list[object]:
    return [
        (s.format, s.omitted, s.span.start, s.span.end, [
            (f.number, f.symbol, f.library, f.offset, f.address, f.inlined, f.span.start, f.span.end) for f in s.frames
        ])
        for s in stacks
    ]  # fmt: skip


@given(st.lists(FRAMES, max_size=40))
@settings(deadline=None, max_examples=60)
def test_a_run_of_frames_is_what_the_grammar_reads_line_by_line(lines):
    for number, line in enumerate(lines):  # mostly counted up, as they are printed
        if number % 7 and line.startswith("frame #"):
            lines[number] = f"frame #{number}:" + line.partition(":")[2]
    text = HEAD + "".join(lines)
    quick = read(text)
    assert_partition(quick, len(text.encode()))
    with mock.patch("aoti_logs.parse.stacks.stack.frame_run", lambda *_: None):
        slow = read(text)
    assert _told(quick.stacks) == _told(slow.stacks)
    assert [(r.kind, r.span.start, r.span.end) for r in quick.records] == [
        (r.kind, r.span.start, r.span.end) for r in slow.records
    ]


def test_every_recorded_stack_is_the_same_both_ways(fixtures_dir: Path):
    for path in sorted(fixtures_dir.glob("*/run.log")):
        data = path.read_bytes()
        if b"frame #" in data:
            with mock.patch("aoti_logs.parse.stacks.stack.frame_run", lambda *_: None):
                slow = read(data)
            assert _told(read(data).stacks) == _told(slow.stacks), path
