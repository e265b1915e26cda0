"""Conservation: whatever a log holds, every byte is in one record or in one unparsed row."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.log_text import PIECES, assert_partition, read

LINES = [line for piece in PIECES for line in piece.encode().splitlines(keepends=True)]


@given(st.binary(max_size=400))
def test_random_bytes_are_partitioned(data):
    assert_partition(read(data), len(data))


@given(st.lists(st.sampled_from(LINES), max_size=30), st.integers(0, 2000), st.integers(0, 2000))
@settings(deadline=None, max_examples=150)
def test_real_lines_in_any_order_cut_anywhere_are_partitioned(lines, start, end):
    data = b"".join(lines)[start : start + end]
    assert_partition(read(data), len(data))


@given(
    st.lists(st.tuples(st.sampled_from(PIECES), st.integers(0, 3)), max_size=6),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=100)
def test_interleaved_ranks_are_partitioned(pieces, random):
    queues = [[f"[rank{rank}]: {line}" for line in text.splitlines(keepends=True)] for text, rank in pieces]
    out = []
    while any(queues):
        out.append(random.choice([q for q in queues if q]).pop(0))
    data = "".join(out).encode()
    assert_partition(read(data), len(data))


@given(st.sampled_from(PIECES), st.sampled_from(PIECES), st.binary(max_size=6))
@settings(deadline=None, max_examples=100)
def test_glued_output_is_partitioned(one, two, between):
    data = one.encode().rstrip(b"\n") + between + two.encode()
    assert_partition(read(data), len(data))


def test_line_of_many_megabytes_is_survived():
    data = b"x" * 3_000_000 + b" Error: index out of bounds: " + b"(" * 3_000_000 + b"\n"
    assert_partition(read(data), len(data))


def test_empty_log_has_no_rows():
    events = read(b"")
    assert not events.records
    assert not events.unparsed


def test_free_text_is_one_row():
    events = read("step 1\nstep 2\nstep 3\n")
    assert [u.expected for u in events.unparsed] == ["text"]


@pytest.mark.parametrize(
    "name",
    ["gpu-torch2.11/recsys_printer2/run_bad_id.log", "reports/R053_nccl_watchdog_dist_backend_error.log"],
)
@given(cut=st.integers(0, 4000), length=st.integers(0, 4000))
@settings(deadline=None, max_examples=30)
def test_corpus_logs_cut_anywhere_are_partitioned(corpus_dir, name, cut, length):
    data = (corpus_dir / name).read_bytes()[cut : cut + length]
    assert_partition(read(data), len(data))
