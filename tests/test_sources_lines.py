"""Line numbers are those of the text, and are cheap."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.sources import source as source_module
from aoti_logs.sources.source import Kind, Source

PIECES = st.lists(st.sampled_from([b"\n", b"x" * 50, b"y" * 5000, b"\n" * 3000, b"z\r\n"]), max_size=12)


@given(PIECES, st.data())
def test_numbers_and_texts_of_lines_are_those_of_the_whole_text(pieces, data):
    text = b"".join(pieces)
    source = Source("a.log", Kind.LOG, lambda: text)
    for offset in data.draw(st.lists(st.integers(0, len(text)), max_size=5)):
        assert source.line_at(offset) == text.count(b"\n", 0, offset) + 1
    lines = text.decode().split("\n")
    for number in data.draw(st.lists(st.integers(0, len(lines) + 1), max_size=5)):
        expected = lines[number - 1] if 1 <= number <= len(lines) else ""
        assert source.line_text(number) == expected.removesuffix("\r")


def test_the_text_is_counted_once_and_then_a_small_piece_a_question():
    """A log of many findings asks for thousands of line numbers."""
    taken = []

    class Data(bytes):
        def __getitem__(self, place):
            taken.append(place.stop - place.start)
            return super().__getitem__(place)

    text = Data(b"0123456789abcde\n" * 65_536)
    source = Source("a.log", Kind.LOG, lambda: text)
    source.line_at(len(text))
    assert sum(taken) <= len(text)
    taken.clear()
    assert [source.line_at(n * 1600) for n in range(600)] == [n * 100 + 1 for n in range(600)]
    assert max(taken) <= 1 << 14


@given(
    st.lists(st.sampled_from(["a", "", "b\r", "\xe9", "x" * 300]), max_size=40),
    st.integers(-2, 45),
    st.integers(0, 45),
)
def test_lines_cut_out_of_a_large_source_are_those_of_all_its_lines(lines, first, last):
    text = "\n".join(lines).encode("latin-1")
    small, large = Source("a", Kind.TEXT, lambda: text), Source("a", Kind.TEXT, lambda: text)
    with mock.patch.object(source_module, "_SMALL", 0):
        assert large.lines_from(first, last) == small.lines[max(first, 1) - 1 : last]
