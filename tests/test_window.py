"""Long lines of code on a screen: cut around what is pointed at, or without their middle."""

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.explain import Confidence, Finding, Link
from aoti_logs.render.text import finding_lines
from aoti_logs.render.window import around, without_middle

# cpu-torch2.13, kernel.cpp of a masked reduction
_CHECK = (
    "AOTI_TORCH_CHECK((at::vec::VecMask<int64_t,2>::set(at::vec::VecMask<int64_t,2>::from(1), (at::vec::VecMask<int64_t,2>("
    "(at::vec::VectorizedN<int64_t,2>(0) <= tmp10) & (tmp10 < at::vec::VectorizedN<int64_t,2>(ks1)))), static_cast<int64_t>("
    'ks0 + (-16L)*(c10::div_floor_integer(static_cast<int64_t>(ks0), static_cast<int64_t>(16L)))))).all_masked(), "index out of bounds: 0 <= tmp10 < ks1");'
)


def _pointed(text: str, pointer: str) -> str:
    at = len(pointer) - len(pointer.lstrip())
    return text[at : at + pointer.count("^")]


def test_the_caret_stays_under_what_it_points_at():
    text = f"call({'(float*)(buf.data_ptr()), ' * 12}s70, s33)"
    pointer = " " * text.index("s70") + "^^^ ks2 = s70, argument 13"
    shown, below = around(text, pointer, 100)
    assert max(len(shown), len(below)) <= 100
    assert _pointed(shown, below) == "s70"
    assert shown.startswith("... ")


def test_a_line_that_fits_is_not_cut():
    assert around("call(a, s70)", "        ^^^ ks0 = s70, argument 2", 60) == (
        "call(a, s70)",
        "        ^^^ ks0 = s70, argument 2",
    )


def test_a_check_keeps_its_beginning_and_its_message():
    shown = without_middle(_CHECK, 140)
    assert len(shown) <= 140
    assert shown.startswith("AOTI_TORCH_CHECK(")
    assert shown.endswith('... "index out of bounds: 0 <= tmp10 < ks1");')


@given(
    st.text("ab, (", max_size=300),
    st.text("sx_", min_size=1, max_size=30),
    st.text("ab, )", max_size=300),
    st.integers(90, 200),
)
def test_however_long_the_pieces_are_the_caret_points_at_the_same(before, marked, after, width):
    pointer = " " * len(before) + "^" * len(marked) + " ks0 = s70, argument 3"
    shown, below = around(before + marked + after, pointer, width)
    assert _pointed(shown, below) == marked
    assert len(below) <= width or len(below.strip()) + 4 > width
    assert len(shown) <= width


@given(st.text(max_size=400), st.integers(80, 160))
def test_a_line_without_its_middle_is_not_much_longer_than_asked(text, width):
    assert len(without_middle(text, width)) <= width + 60


def _screen(*strengths: Confidence) -> list[str]:
    chain = tuple(Link("kernel", "k", None, strength) for strength in strengths)
    return list(
        finding_lines(Finding("AL103", "k", "cause", "error", Confidence.POSSIBLE, "t", {}, chain=chain))
    )


def test_marks_are_explained_once_where_they_occur():
    lines = _screen(Confidence.LIKELY, Confidence.POSSIBLE, Confidence.LIKELY)
    (told,) = (line for line in lines if "behind a number" in line)
    assert "~ likely" in told
    assert "? possible" in told


def test_a_chain_that_is_proven_explains_no_marks():
    assert not any("behind a number" in line for line in _screen(Confidence.PROVEN))
