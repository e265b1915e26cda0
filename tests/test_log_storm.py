"""Storms: counting runs by their ends gives what the grammar gives line by line."""

from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.parse.asserts.assertion import device_line_by_grammar
from aoti_logs.parse.logs.announce import Announcer
from aoti_logs.parse.logs.announce_lines import LineAnnouncer
from aoti_logs.parse.logs.peel import peel
from tests.log_text import read

TRIPLES = st.tuples(st.integers(0, 70000), st.integers(0, 3), st.integers(0, 1))
KINDS = [
    ("/tmp/t/k4/ck46.py:39: unknown: ", "index out of bounds: 0 <= tmp10 < ks0"),
    ("[rank0]:/tmp/t/k4/ck46.py:39: unknown: ", "index out of bounds: 0 <= tmp10 < ks0"),
    ("[rank1]:/tmp/t/k4/ck46.py:39: unknown: ", "index out of bounds: 0 <= tmp10 < ks0"),
    ("unknown:0: unknown: ", "index out of bounds: 0 <= tl.broadcast_to(tmp43, [XBLOCK]) < 8192"),
    ("  /w/IndexKernel.cu:93: operator(): ", 'i >= -s[i] && i < s[i] && "index out of bounds"'),
    ("/w/x.cu:3: ", "a `b` c"),
]
STAMPS = st.sampled_from(["", "", "", "", "2026-11-29 12:00:01,5 ", "2026-11-29T12:00:02.123456Z "])
LINES = st.builds(
    lambda stamp, kind, block, thread, end: (
        f"{stamp}{kind[0]}block: [{block[0]},{block[1]},{block[2]}], thread: [{thread[0]},{thread[1]},{thread[2]}] "
        f"Assertion `{kind[1]}` failed.{end}\n"
    ),
    STAMPS,
    st.sampled_from(KINDS),
    TRIPLES,
    TRIPLES,
    st.sampled_from(["", "", " ", "\r"]),
)


def by_grammar(text):
    """Count with the grammar alone, line by line."""
    rows: dict[tuple[object, ...], list[Any]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        peeled = peel(line.encode())
        bare, rank = peeled.text.decode(), peeled.sender.rank
        found = device_line_by_grammar(bare.strip()) if "block: [" in line else None
        if found:
            printed, block, thread = found
            row = rows.setdefault(
                (printed.file, printed.line, printed.function, printed.message, rank),
                [0, {}, {}, {}, number, 0],
            )
            row[0] += 1
            row[1][block] = None
            row[2][block, thread] = None
            row[3][thread] = None
            row[5] = number
    return {
        key: (n, list(blocks), len(pairs), list(threads), first, last)
        for key, (n, blocks, pairs, threads, first, last) in rows.items()
    }


@given(
    st.lists(st.one_of(LINES, LINES, LINES, st.just("INFO step 3 loss 0.1\n")), max_size=60),
    st.integers(1, 40),
)
@settings(deadline=None, max_examples=80)
def test_fast_way_and_grammar_alone_give_the_same_rows(lines, repeat):
    text = "".join(lines * repeat)
    assert rows(text) == by_grammar(text)


def rows(text):
    return {
        (a.file, a.line, a.function, a.message, a.rank): (
            a.count,
            list(a.blocks),
            a.n_threads,
            list(a.threads),
            a.first.line,
            a.last.line,
        )
        for a in read(text).assertions
    }


BLOCKS = st.tuples(
    st.sampled_from([KINDS[0], *KINDS[3:5]]),
    st.integers(0, 300),
    st.sampled_from([range(32), range(32, 64), range(64), range(5), range(63, -1, -1), (1, 12, 112)]),
    st.one_of(st.none(), st.integers(0, 63)),
    st.one_of(st.none(), st.integers(0, 63)),
)


def printed(blocks):
    """Return what blocks print whose threads follow each other; one thread may be missing, a line may stand between."""
    for kind, block, threads, missing, other in blocks:
        for thread in threads:
            if thread == other:
                yield f"INFO step {block} loss 0.1\n"
            if thread != missing:
                yield f"{kind[0]}block: [{block},0,0], thread: [{thread},0,0] Assertion `{kind[1]}` failed.\n"


@given(st.lists(BLOCKS, max_size=12), st.integers(1, 4), st.integers(0, 40))
@settings(deadline=None, max_examples=60)
def test_blocks_that_print_the_threads_of_others_are_counted_as_the_grammar_does(blocks, repeat, cut):
    text = "".join(printed(blocks * repeat))
    text = text[: len(text) - cut]  # the last line may be torn
    assert rows(text) == by_grammar(text)


def test_counts_of_a_storm_are_exact():
    line = "/tmp/t/k4/ck46.py:39: unknown: block: [{},0,0], thread: [{},0,0] Assertion `index out of bounds: 0 <= tmp10 < ks0` failed.\n"
    text = "".join(line.format(i // 64, i % 64) for i in range(20000)) * 2
    events = read(text)
    (got,) = events.assertions
    assert (got.count, got.n_blocks, got.n_threads) == (40000, 313, 20000)
    assert got.first.line == 1
    assert got.last.line == 40000
    assert [(r.kind, r.span.end) for r in events.records] == [("assertion", len(text))]


def test_storm_of_many_kinds_is_counted():
    lines = [
        f"[rank{i % 50}]:/tmp/t/{i % 7}.py:39: unknown: block: [{i},0,0], thread: [1,0,0] Assertion `index out of bounds: tmp1 < 3` failed.\n"
        for i in range(7000)
    ]
    events = read("".join(lines))
    assert len(events.assertions) == 350
    assert {a.count for a in events.assertions} == {20}


def test_storm_with_a_time_before_every_line_is_one_assertion():
    line = "2026-11-29T12:{:02}:{:02}.{:03}Z unknown:0: unknown: block: [{},0,0], thread: [{},0,0] Assertion `index out of bounds: tmp1 < 3` failed.\n"
    text = "".join(line.format(i // 600 % 60, i // 10 % 60, i % 1000, i // 64, i % 64) for i in range(20000))
    (got,) = read(text).assertions
    assert (got.count, got.n_blocks, got.n_threads, got.last.line) == (20000, 313, 20000, 20000)


def test_a_damaged_line_below_a_glued_one_does_not_read_that_one_again():
    line = "/k/a.py:39: unknown: block: [0,0,0], thread: [1,0,0] Assertion `index out of bounds: tmp1 < 3` failed.\n"
    (got,) = read(f"epoch 1 | {line}epoch 1 | {line[:50]} failed.\n{line}").assertions
    assert got.count == 2


def test_numbers_of_any_length_are_read():
    """A run is counted by its ends only where its numbers are numbers of a GPU."""
    line = "unknown:0: unknown: block: [{},0,0], thread: [1,0,0] Assertion `index out of bounds: tmp1 < 3` failed.\n"
    (got,) = read("".join(line.format(n) for n in (0, 1, 10**30, 2, "9" * 2000, 3))).assertions
    assert got.count == 6
    assert got.blocks[:2] == ((0, 0, 0), (1, 0, 0))


@given(st.lists(st.sampled_from([b"ab", b"abc", b"\nab", b"x", b"\n"]), max_size=40).map(b"".join), st.data())
def test_all_announcers_find_the_same_places(text, data):
    words = (b"ab", b"bc", b"\na", b"xx")
    both = Announcer(text, words), Announcer(text, words, passing=True)
    by_line = LineAnnouncer(text, words)
    at = 0
    while at < len(text):
        stop = data.draw(st.integers(at, len(text)))
        starts = [n for n in range(at, stop) if text[n:].startswith((b"ab", b"bc", b"xx"))]
        starts += [
            n for n in range(at, stop) if text[n : n + 1] == b"a" and (n == 0 or text[n - 1 : n] == b"\n")
        ]
        expected = min(starts, default=None)
        assert [a.next(at, stop) for a in both] == [expected] * 2
        found = by_line.next(at, stop)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert at <= found <= expected
            assert b"\n" not in text[found:expected]
        at = (max(stop, at + 1) if expected is None else expected + 1) + data.draw(st.integers(0, 4))


@given(
    st.lists(
        st.sampled_from([b"Error: ", b"\n[W", b"\xff", b"x" * 50, b"\n", b"\r", b"rror: "]), max_size=60
    ).map(b"".join),
    st.integers(1, 40),
)
def test_blocks_do_not_change_what_a_large_log_announces(text, block):
    words = (b"Error: ", b"\n[W")
    found = []
    with mock.patch("aoti_logs.parse.logs.announce_lines._BLOCK", block):
        announcer = LineAnnouncer(text, words)
        at: int | None = 0
        while at is not None and at < len(text):
            at = announcer.next(at, len(text))
            if at is not None:
                found.append(text.count(b"\n", 0, at))
                at = text.find(b"\n", at) + 1 or len(text)
    lines = enumerate(text.split(b"\n"))
    assert found == [number for number, line in lines if b"Error: " in line or line.startswith(b"[W")]
