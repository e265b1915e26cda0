"""Threads that printed nothing between threads that failed: what speaks against an empty tensor."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.kernel.lane_mask import hides_high_only
from aoti_logs.parse.asserts.silent import silent_thread
from tests.log_text import read
from tests.test_triton_body import GATHER, body_of

LINE = (
    "/tmp/c/k4/ck46.py:39: unknown: block: [{0},0,0], thread: [{1},0,0] Assertion "
    "`index out of bounds: 0 <= tmp6 < ks0` failed.\n"
)


def found_in(failed: list[list[int]]):
    text = "start\n" + "".join(LINE.format(b, t) for b, threads in enumerate(failed) for t in threads)
    return read(text.encode()).assertions[0].silent


def test_a_silent_thread_below_one_that_failed_is_found():
    assert found_in([[3], [3, 4, 5], [3]]) == ((1, 0, 0), (0, 4))


def test_threads_of_other_warps_say_nothing():
    assert found_in([[0], list(range(32, 64)), [0]]) is None


def test_the_first_and_the_last_block_may_be_cut_off():
    assert found_in([[3, 4], [0, 1], [2]]) is None


@given(st.integers(1, 32), st.integers(1, 32), st.sampled_from([(1, 8), (8, 1), (4, 4), (1, 1), (2, 16)]))
def test_a_mask_of_high_elements_alone_never_makes_one(rows: int, columns: int, strides: tuple[int, int]):
    """Lane numbers as Triton lays them out over two axes, each with an end of its own."""
    along = 32 // strides[1] if strides[1] > 1 else 32
    lanes = [t for t in range(32) if t // strides[0] % along < rows and t // strides[1] < columns]
    threads = [frozenset(f"{t},0,0".encode() for t in lanes)] * 3
    assert silent_thread(zip([b"0,0,0", b"1,0,0", b"2,0,0"], threads, strict=True)) is None


@given(st.lists(st.tuples(st.binary(max_size=9), st.frozensets(st.binary(max_size=9))), max_size=5))
def test_numbers_of_any_form_never_raise(blocks: list[tuple[bytes, frozenset[bytes]]]):
    assert silent_thread([(b"1,2,3", threads) for _, threads in blocks]) is None or blocks


MASKS = {
    "ymask": True,
    "ymask & xmask": True,
    "tmp3 & ymask": False,
    "y0 >= 3": False,
    "unknown": False,
    "yindex < tmp0": False,
}


@pytest.mark.parametrize("mask", MASKS)
def test_only_a_mask_that_ends_somewhere_hides_high_elements_only(mask: str):
    body = body_of(GATHER.replace("~(ymask)", f"~({mask})"))
    assert hides_high_only(body, body.checks[0]) is MASKS[mask]


def test_without_a_mask_nothing_is_hidden():
    body = body_of(GATHER.replace(" | ~(ymask)", ""))
    assert hides_high_only(body, body.checks[0])


def test_another_way_out_of_the_check_says_nothing():
    body = body_of(GATHER.replace("| ~(ymask)", "| (tmp0 > 3)"))
    assert not hides_high_only(body, body.checks[0])


def test_an_empty_tensor_stands_last_where_a_thread_between_passed(fixtures_dir: Path, tmp_path: Path):
    """The same run, with more blocks, in which two threads of each block printed nothing."""
    folder = fixtures_dir / "gpu_empty_events"
    lines = (folder / "run.log").read_text().splitlines(keepends=True)
    first = next(line for line in lines if "thread: [0,0,0]" in line)
    head, tail = first.split("block: [", 1)[0], first.split("] Assertion", 1)[1]
    storm = [
        f"{head}block: [{b},0,0], thread: [{t},0,0] Assertion{tail}" for b in range(4) for t in range(2, 64)
    ]
    log = tmp_path / "run.log"
    log.write_text("".join([lines[0], *storm, *(line for line in lines[1:] if "Assertion `" not in line)]))
    finding = aoti_logs.load(log, context=folder).explain().findings[0]
    assert finding.rule == "AL102"
    assert [(v.code, v.doubted) for v in finding.verdicts][-1] == ("AL101", True)
    assert "62 of 64 of each" in finding.chain[0].details[0]
