"""Tracebacks of all writers end in the same rows: exceptions in the order in which they were raised, with frames."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.events import ErrorForm
from tests.log_text import assert_partition, read

FOLDER = Path(__file__).parent / "tracebacks"
NAMES = sorted(p.stem for p in FOLDER.glob("*.txt"))
INNER = ("ValueError", "bad value")
OUTER = ("RuntimeError", "outer said no")


def told(name: str):
    return read((FOLDER / f"{name}.txt").read_text()).errors


@pytest.mark.parametrize("name", ["pytest_long", "pytest_short", "rich", "ipython"])
def test_other_writers_tell_the_same_two_exceptions(name):
    first, second = told(name)
    assert [(e.exception_type, e.message) for e in (first, second)] == [INNER, OUTER]
    assert first.text == "bad value\nsecond line"
    assert [(f.file.rpartition("/")[2], f.line, f.code) for f in first.python_frames] == [
        ("calls.py", 6, "inner(n)"),
        ("calls.py", 2, 'raise ValueError("bad value\\nsecond line")'),
    ]
    assert [f.function for f in first.python_frames] == ["outer", "inner"]
    assert second.python_frames[-1].code == 'raise RuntimeError("outer said no") from e'


@pytest.mark.parametrize("name", ["pytest_short", "rich", "ipython"])
def test_an_exception_raised_from_another_says_so(name):
    assert [e.chained for e in told(name)] == [None, "cause"]


def test_a_cell_of_a_notebook_is_a_file_with_lines():
    frame = told("ipython")[1].python_frames[0]
    assert (frame.file, frame.line, frame.code) == ("Cell In[1]", 2, "calls.outer(1)")


def test_a_group_stands_behind_its_members_and_they_say_how_deep_they_are():
    errors = told("group")
    assert [(e.depth, e.exception_type) for e in errors] == [
        (1, "ValueError"),
        (1, "ValueError"),
        (1, "RuntimeError"),
        (2, "OSError"),
        (1, "ExceptionGroup"),
        (0, "ExceptionGroup"),
    ]
    assert errors[0].text == "bad value\nsecond line\na note"
    assert errors[2].chained == "cause"
    assert all(e.within == errors[-1].span for e in errors if e.depth == 1)


def test_escaped_tracebacks_are_read_whatever_string_they_are_in():
    """In JSON, in the repr of a string, in the repr of an exception in JSON."""
    errors = told("escaped")
    assert [(e.exception_type, e.message) for e in errors] == [INNER, OUTER] * 3
    assert [e.span.line for e in errors] == [1, 1, 2, 2, 3, 3]
    assert {e.python_frames[-1].line for e in errors} == {2, 8}


@pytest.mark.parametrize(
    ("name", "outer"),
    [
        ("spawned", "torch.multiprocessing.spawn.ProcessRaisedException"),
        ("loader", "ValueError"),
        ("pool", "concurrent.futures.process._RemoteTraceback"),
    ],
)
def test_the_exception_of_another_process_stands_before_the_one_that_hands_it_on(name, outer):
    inner, handed, *_ = told(name)
    assert (inner.exception_type, inner.message, inner.depth) == (*INNER, 1)
    assert (handed.exception_type, handed.depth) == (outer, 0)
    assert inner.within == handed.span
    assert inner.python_frames[-1].function == "inner"
    assert "ValueError: bad value" in handed.text


def test_what_a_pool_raises_is_chained_to_what_the_worker_raised():
    assert told("pool")[-1].chained == "cause"


def test_an_ignored_exception_is_no_error_of_the_program():
    assert [e.form for e in told("ignored")] == [ErrorForm.WARNING]


def test_repeated_frames_are_counted():
    (error,) = told("deep")
    assert error.exception_type == "RecursionError"
    assert error.python_frames[-1].repeated > 900


def test_a_syntax_error_ends_in_the_line_that_is_wrong():
    (error,) = told("syntax")
    last = error.python_frames[-1]
    assert (last.file, last.line, last.code, last.marked) == (
        "generated.py",
        1,
        "x = compile error!",
        "error",
    )


def test_the_marked_part_of_a_line_is_kept():
    assert told("deep")[0].python_frames[-1].marked == "down(n + 1)"


def test_ray_hands_frames_on_without_a_header():
    """`RayTaskError(X): ray::f() (pid=..)`, ray/exceptions.py."""
    text = (
        "ray.exceptions.RayTaskError(RuntimeError): ray::Worker.run() (pid=77, ip=10.0.0.7)\n"
        '  File "w.py", line 4, in run\n    self.x()\nRuntimeError: CUDA error: device-side assert triggered\n'
    )
    inner, outer = read(text).errors
    assert (inner.exception_type, inner.depth, inner.cuda_error) == ("RuntimeError", 1, "cudaErrorAssert")
    assert outer.exception_type == "ray.exceptions.RayTaskError(RuntimeError)"


def test_frames_that_a_person_left_out_do_not_end_a_traceback():
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x()\n  ...\n'
        '  File "b.py", line 2, in g\nValueError: no\n'
    )
    (error,) = read(text).errors
    assert [f.file for f in error.python_frames] == ["a.py", "b.py"]


def test_a_traceback_behind_other_words_begins_on_that_line():
    text = (
        '  traceback : Traceback (most recent call last):\n    File "a.py", line 1, in f\n  ValueError: no\n'
    )
    (error,) = read(text).errors
    assert (error.exception_type, error.python_frames[0].file) == ("ValueError", "a.py")


def test_frames_are_rows_with_their_exception():
    frames = aoti_logs.load(FOLDER / "spawned.txt").traceback_frames
    first = frames.row(0, named=True)
    assert (first["exception_type"], first["depth"], first["error_line"]) == ("ValueError", 1, 15)
    last = frames.filter(frames["depth"] == 0).row(-1, named=True)
    assert last["exception_type"] == "torch.multiprocessing.spawn.ProcessRaisedException"


def test_a_log_without_tracebacks_has_an_empty_table(tmp_path):
    (tmp_path / "run.log").write_text("epoch 1\n")
    assert aoti_logs.load(tmp_path / "run.log").traceback_frames.height == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_byte_is_one_record_or_unparsed(name):
    text = (FOLDER / f"{name}.txt").read_text()
    assert_partition(read(text), len(text.encode()))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_damage_never_raises_and_never_loses_bytes(name, data):
    """Lines lost, doubled and cut, bytes changed."""
    rows = (FOLDER / f"{name}.txt").read_text().splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, max(len(rows) - 1, 0)))
        what = data.draw(st.sampled_from(["drop", "double", "cut", "noise"]))
        if not rows:
            break
        if what == "drop":
            del rows[at]
        elif what == "double":
            rows.insert(at, rows[at])
        elif what == "cut":
            rows[at] = rows[at][: data.draw(st.integers(0, len(rows[at])))]
        else:
            rows[at] = data.draw(st.text(max_size=8)) + rows[at]
    text = "".join(rows)
    events = read(text)
    assert_partition(events, len(text.encode("utf-8", "surrogatepass")))


def test_a_long_run_of_backslashes_takes_no_longer_than_it_is_long():
    text = "'Traceback (most recent call last):\\n" + "\\" * 300_000 + "\n"
    assert read(text).errors == ()


def test_ten_thousand_groups_within_each_other_end():
    rows = [
        "  + Exception Group Traceback (most recent call last):\n",
        "  | ExceptionGroup: a (1 sub-exception)\n",
    ]
    for depth in range(200):
        rows += [f"{' ' * (2 + 2 * depth)}+-+---------------- 1 ----------------\n"]
        rows += [f"{' ' * (4 + 2 * depth)}| Exception Group Traceback (most recent call last):\n"]
        rows += [f"{' ' * (4 + 2 * depth)}| ExceptionGroup: a (1 sub-exception)\n"]
    text = "".join(rows)
    assert_partition(read(text), len(text))
