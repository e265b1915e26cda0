"""Indices that ATen refused: the texts of torch 2.13 (eager, recorded by calling each operator), and anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.errors.index_error import RefusedIndex, refused_index

TEXTS = [
    ("index 5 is out of bounds for dimension 0 with size 3", RefusedIndex(5, 3, 0)),
    ("index -5 is out of bounds for dimension 1 with size 3", RefusedIndex(-5, 3, 1)),
    ("index_copy_(): index 9 is out of bounds for dimension 0 with size 3", RefusedIndex(9, 3, 0)),
    ("select(): index 9 out of range for tensor of size [3, 4] at dimension 1", RefusedIndex(9, 4, 1)),
    ("select(): index 9 out of range for tensor of size [3, 4] at dimension 2", None),
    ("out of range: tried to access index 99 on a tensor of 12 elements.", RefusedIndex(99, 12)),
    ("Index 0 of input takes value 9 which is not in the valid range [0, 3)", RefusedIndex(9, 3)),
    ("index out of range in self", None),
    ("Dimension out of range (expected to be in range of [-3, 2], but got 7)", None),
]


@pytest.mark.parametrize(("text", "told"), TEXTS)
def test_the_index_and_the_size_of_the_text_are_read(text, told):
    assert refused_index(text) == told


@given(st.integers(-(10**18), 10**18), st.integers(0, 10**18), st.integers(0, 63))
def test_any_number_is_read_as_it_is_printed(index, size, dimension):
    text = f"index {index} is out of bounds for dimension {dimension} with size {size}"
    assert refused_index(text) == RefusedIndex(index, size, dimension)


@given(st.text())
def test_any_other_text_raises_nothing(text):
    assert refused_index(text) is None or "index" in text or "value" in text
