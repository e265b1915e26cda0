"""Printed elements: the quick way and the grammar say the same, and only whole tensors are given back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.printer.elements import element_values, is_element_line, is_row, python_values
from aoti_logs.parse.shape import fields

NUMBERS = st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{0,4})?(e[-+][0-9]{2,3})?|-?inf|-?nan", fullmatch=True)
ROWS = st.lists(NUMBERS, min_size=1, max_size=8).map(" ".join)
LINES = st.one_of(
    ROWS,
    st.lists(st.integers(1, 99), min_size=1, max_size=4).map(lambda n: f"({','.join(map(str, n))},.,.) = "),
    st.sampled_from(["1e-05 *", "1e+06 *", "0.001 *", "100000 *"]),
    st.tuples(st.integers(1, 99), st.integers(1, 99), ROWS).map(lambda t: f"Columns {t[0]} to {t[1]} {t[2]}"),
    st.lists(st.integers(0, 99), max_size=4).map(lambda n: f"[ CPUFloatType{{{','.join(map(str, n))}}} ]"),
)
OTHER = st.one_of(
    st.text(st.characters(codec="ascii", exclude_characters="\n\r"), max_size=30),
    ROWS.map(lambda r: r + " x"),
)


@given(LINES)
def test_a_line_of_elements_is_one_for_both_ways(line):
    assert is_element_line(line)
    assert fields("printer", "elements", line)


@given(LINES, st.data())
def test_damaged_lines_are_rows_for_both_ways_or_for_neither(line, data):
    at = data.draw(st.integers(0, len(line)))
    damaged = line[:at] + data.draw(st.sampled_from(["", "x", " ", "-", ".", "e", "1"])) + line[at + 1 :]
    found = fields("printer", "elements", damaged)
    assert is_row(damaged) == (
        found is not None and set(found) == {"NUMBER"} and not damaged.rstrip().endswith("*")
    )


@given(OTHER)
def test_any_text_is_told_in_time(line):
    is_element_line(line)


def test_a_row_of_many_numbers_that_ends_in_a_word_is_told_at_once():
    """No expression tries every way of taking the digits apart."""
    assert not is_row("111 " * 50_000 + "x")


COLUMNS = [
    "Columns 1 to 3 1.0  2.0  3.0",
    " 6.0  7.0  8.0",
    "",
    "Columns 4 to 5-4.0  5.0",
    " 9.0 10.0",
    "[ CPUFloatType{2,5} ]",
]


def test_columns_are_put_side_by_side():
    assert element_values(COLUMNS, (2, 5), integers=False) == (1, 2, 3, -4, 5, 6, 7, 8, 9, 10)


def test_slices_come_with_the_first_index_fastest():
    lines = [
        "(1,1,.,.) = ",
        " 1",
        "",
        "(2,1,.,.) = ",
        " 3",
        "",
        "(1,2,.,.) = ",
        " 2",
        "",
        "(2,2,.,.) = ",
        " 4",
        "[ T ]",
    ]
    lines[-1] = "[ CPUFloatType{2,2,1,1} ]"
    assert element_values(lines, (2, 2, 1, 1), integers=False) == (1, 2, 3, 4)


def test_a_scale_counts_for_the_rows_below_it():
    lines = [
        "Columns 1 to 21e-06 *",
        " 1.5  2.0",
        "",
        "Columns 3 to 3 0.01 *",
        " 7.0",
        "[ CPUFloatType{1,3} ]",
    ]
    assert element_values(lines, (1, 3), integers=False) == pytest.approx((1.5e-6, 2e-6, 0.07))


@pytest.mark.parametrize("cut", range(len(COLUMNS)))
def test_without_one_of_its_lines_a_tensor_has_no_elements(cut):
    found = element_values(COLUMNS[:cut] + COLUMNS[cut + 1 :], (2, 5), integers=False)
    assert found is None or COLUMNS[cut] == ""


def test_integers_that_lost_digits_are_missing():
    lines = [" 1.0995e+12", " 1.0000e+00", "[ CPULongType{2} ]"]
    assert element_values(lines, (2,), integers=True) is None
    assert element_values(lines, (2,), integers=False) == (1.0995e12, 1.0)


def test_python_prints_words_and_points_without_digits():
    assert python_values(["tensor([[ True, False],", "        [False,  True]])"], 4) == (1, 0, 0, 1)
    assert python_values(["tensor([1., nan, -inf], device='cuda:0')"], 3)[0] == 1.0  # type: ignore[index]
    assert python_values(["Parameter containing:", "tensor([0.5], requires_grad=True)"], 1) == (0.5,)
    assert python_values(["tensor(nan, dtype=torch.float16)"], 1) is not None
    assert python_values(["tensor([1, 2,  ..., 5])"], 5) is None


def test_nan_is_read_with_and_without_sign():
    found = element_values(["-nan", " nan", "[ CPUFloatType{2} ]"], (2,), integers=False)
    assert found is not None
    assert all(math.isnan(v) for v in found)
