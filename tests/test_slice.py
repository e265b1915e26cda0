"""Slices: where a checked index comes from, and what it selects."""

import pytest

from aoti_logs.code.kernel.interval import lower_limit
from aoti_logs.code.kernel.slice import slice_check, value_loads
from aoti_logs.code.triton.body import parse_python
from tests.test_triton_body import GATHER, body_of


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
        ("max_propagate_nan(a, 0)", 0),
        ("min_propagate_nan(max_propagate_nan(a, 0), 50)", 0),
        ("triton_helpers.minimum(a, 4)", None),
        ("tl.max(a, 0)", None),
    ],
)
def test_arithmetic_bounds_an_index_from_below(text: str, limit: int | None):
    assert lower_limit(parse_python(text), {"ks0"}) == limit


def test_a_loop_variable_is_that_of_its_own_loop():
    """C++ nests call every variable x0; each check asks the loop around it."""
    body = cpp(
        'extern "C"  void  k(const float* in_ptr0, float* out_ptr0, float* out_ptr1, const int64_t ks0, const int64_t ks1)\n'
        "{\n"
        "    {\n"
        "        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))\n"
        "        {\n"
        "            auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];\n"
        "            out_ptr0[static_cast<int64_t>(x0)] = tmp0;\n"
        "        }\n"
        "    }\n"
        "    {\n"
        "        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks1); x0+=static_cast<int64_t>(1L))\n"
        "        {\n"
        "            auto tmp0 = x0;\n"
        "            auto tmp1 = c10::convert<int64_t>(tmp0);\n"
        '            AOTI_TORCH_CHECK(tmp1 < 256L, "index out of bounds: tmp1 < 256L");\n'
        "            auto tmp2 = in_ptr0[static_cast<int64_t>(tmp0)];\n"
        "            out_ptr1[static_cast<int64_t>(x0)] = tmp2;\n"
        "        }\n"
        "    }\n"
        "}\n"
    )
    got = slice_check(body, body.checks[0])
    assert got is not None and str(got.extent) == "ks1"


def cpp(text: str):
    from aoti_logs.code.cpp.body import body_of as read

    return read(text)


def test_a_value_from_both_branches_has_two_origins_and_is_no_plain_copy():
    text = GATHER.replace(
        "    tmp0 = tl.load(in_ptr0 + (y0), ymask, eviction_policy='evict_last')\n",
        "    if ks0 > 5:\n        tmp0 = tl.load(in_ptr0 + (y0), ymask)\n"
        "    else:\n        tmp0 = tl.load(out_ptr0 + (y0), ymask)\n",
    )
    got = sliced(text)
    assert {o.name for o in got.origins if o.kind == "load"} == {"in_ptr0", "out_ptr0"}
    assert got.direct is None


def test_a_value_of_the_round_before_is_not_its_first_value():
    body = body_of(
        "def k(in_ptr0, in_ptr1, r0_numel, R0_BLOCK: tl.constexpr):\n"
        "    tmp2 = 0\n"
        "    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):\n"
        '        tl.device_assert((0 <= tmp2) & (tmp2 < 9), "index out of bounds: 0 <= tmp2 < 9")\n'
        "        tmp3 = tl.load(in_ptr1 + (tmp2))\n"
        "        tmp1 = tl.load(in_ptr0 + (r0_offset))\n"
        "        tmp2 = tmp2 + tmp1\n",
        "k",
    )
    got = slice_check(body, body.checks[0])
    assert got is not None
    assert "in_ptr0" in {o.name for o in got.origins if o.kind == "load"}
    assert str(got.value) == "tmp2"


def test_an_address_of_a_computed_value_is_another_values_access():
    other = GATHER.replace("16*tmp4", "16*(tmp4 // 10)")
    assert sliced(other).accesses == ()


def test_a_value_used_over_and_over_in_an_address_is_looked_at_once():
    """Hash-like arithmetic doubles the paths with every line."""
    chain = "".join(f"    t{n + 1} = t{n} ^ (t{n} >> ks0)\n" for n in range(40))
    text = GATHER.replace("    tmp6 =", f"    t0 = x1\n{chain}    tmp6 =").replace("16*tmp4", "t40 + 16*tmp4")
    assert [a.ptr for a in sliced(text).accesses] == ["in_ptr1"]


def test_the_extent_of_a_quotient_is_a_quotient():
    loop = GATHER.replace("y0 = yindex", "y0 = yindex // ks0").replace(
        "(0 <= tmp4) & (tmp4 < ks0)", "y0 < 256"
    )
    assert str(sliced(loop).extent) == "ynumel // ks0"


def test_only_a_load_of_every_element_reaches_as_far_as_its_loop():
    assert str(sliced(GATHER).reach) == "ynumel"
    assert sliced(GATHER.replace("in_ptr0 + (y0), ymask", "in_ptr0 + (2*y0), ymask")).reach is None
    assert sliced(GATHER.replace("in_ptr0 + (y0), ymask", "in_ptr0 + (y0), ymask & tmp9")).reach is None
