"""The same line a thousand times: no reader looks at it again and again."""

import pytest

from aoti_logs.parse.logs.lines import Log
from tests.log_text import CUDA, assert_partition, read

TIMES = 1500
LINES = {
    "a frame that is not complete": "#1  0x0000 in foo\n",
    "a frame of a sanitizer": "    #0 0x4f in f a.c:3:4\n",
    "a leak": "Direct leak of 3 byte(s) in 1 object(s) allocated from:\n    #0 0x4f in f a.c:3:4\n",
    "the place of a failed test": "a/b.py:3: TypeError\n",
    "a box": "╭──── Traceback (most recent call last) ────\n",
    "workers that failed": "ChildFailedError: \n====\nrun.py FAILED\n----\nFailures:\n",
    "an empty table of workers": "ChildFailedError: \n\n\n\n",
    "a group": "  + Exception Group Traceback (most recent call last):\n",
    "a header": "Traceback (most recent call last):\n",
}


@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_a_flood_is_read_in_linear_time(text, monkeypatch):
    looks = 0
    line = Log.line

    def counted(self, at):
        nonlocal looks
        looks += 1
        return line(self, at)

    monkeypatch.setattr(Log, "line", counted)
    data = (text * TIMES).encode()
    assert_partition(read(data), len(data))
    assert looks < 100 * data.count(b"\n")


def test_of_what_stands_behind_a_record_on_its_line_only_a_part_is_read():
    """Thousands of records in one line are not each read with all of the others."""
    data = b"[  before_launch - k - a  ]: " * 5000
    events = read(data)
    assert_partition(events, len(data))
    assert len(events.dumps) == 5000


def test_a_table_of_workers_without_its_end_leaves_the_lines_below_alone():
    """Of a cut table only its indented rows belong to it."""
    table = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n====\nrun.py FAILED\n----\nRoot Cause:\n"
        "[0]:\n  time : 1\n  rank : 0 (local_rank: 0)\n  exitcode : 1 (pid: 5)\n"
    )
    errors = read(f"{table}epoch 1\nValueError: other\n").errors
    assert [e.exception_type for e in errors][-1] == "ValueError"


def test_bytes_that_are_no_text_before_an_assertion_do_not_move_it():
    """A byte that is no UTF-8 counts as one byte, in runs of assertions and in single ones."""
    for data in (b"ab\x80" + CUDA.encode() * 3, b"ab\x80 " + CUDA.encode()[:-1]):
        events = read(data)
        assert_partition(events, len(data))
        assert events.assertions
