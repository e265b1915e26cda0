"""Slices: where a checked index comes from, and what it selects."""

import pytest
from test_triton_body import GATHER, body_of

from aoti_logs.code.interval import lower_limit
from aoti_logs.code.slice import slice_check, value_loads
from aoti_logs.code.triton_body import parse_python


def sliced(text: str):
    body = body_of(text)
    return slice_check(body, body.checks[0])


def test_the_index_is_a_load_of_the_argument_that_holds_it():
    got = sliced(GATHER)
    assert [(o.kind, o.name) for o in got.origins if o.kind == "load"] == [("load", "in_ptr0")]
    assert got.direct is not None and got.direct.ptr == "in_ptr0"


def test_the_wrap_around_of_negative_indices_is_seen():
    assert str(sliced(GATHER).wraps) == "ks0"


def test_without_a_wrap_around_there_is_none():
    plain = GATHER.replace("tl.where(tmp3, tmp2, tmp0)", "tmp0")
    assert sliced(plain).wraps is None
    assert sliced(plain).direct is not None


def test_the_tensor_selected_from_is_the_access_behind_the_check():
    (access,) = sliced(GATHER).accesses
    assert (access.ptr, access.write, str(access.factor)) == ("in_ptr1", False, "16")


def test_arithmetic_between_load_and_check_is_not_a_plain_copy():
    shifted = GATHER.replace("tl.where(tmp3, tmp2, tmp0)", "tmp0 + 1")
    assert sliced(shifted).direct is None
    assert str(sliced(shifted).value) == "in_ptr0[y0] + 1"


def test_another_index_behind_a_select_is_another_value():
    """`tmp0` unwrapped is checked; an access with the wrapped `tmp4` is not its."""
    other = GATHER.replace("(0 <= tmp4) & (tmp4 < ks0)", "(0 <= tmp0) & (tmp0 < ks0)")
    assert sliced(other).accesses == ()


def test_a_loop_variable_has_an_extent_and_no_load():
    loop = GATHER.replace("(0 <= tmp4) & (tmp4 < ks0)", "y0 < 256").replace("16*tmp4", "16*y0")
    got = sliced(loop)
    assert [o.kind for o in got.origins] == ["loop"]
    assert str(got.extent) == "ynumel"
    assert next(a.ptr for a in got.accesses) == "in_ptr1"


def test_a_static_extent_is_the_number():
    loop = GATHER.replace("(0 <= tmp4) & (tmp4 < ks0)", "x1 < 8")
    assert str(sliced(loop).extent) == "16"


def test_a_statement_that_could_not_be_read_is_told():
    broken = GATHER.replace("    tmp1 = ks0\n", "    tmp1 = ks0\n    del weird[0]\n")
    assert sliced(broken).unread_lines


def test_values_stored_are_traced_to_the_loads_behind_them():
    assert value_loads(body_of(GATHER), "out_ptr0") == {"in_ptr1"}


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("a", None),
        ("ks0 - 1", 0),
        ("(-1) + ks0", 0),
        ("a if a >= 0 else (-1) + ks0", 0),
        ("a if a < 0 else 3", None),
        ("5 if a < 0 else a", 0),
        ("2*ks0", 2),
        ("triton_helpers.maximum(a, 4)", 4),
    ],
)
def test_arithmetic_bounds_an_index_from_below(text: str, limit: int | None):
    assert lower_limit(parse_python(text), {"ks0"}) == limit
