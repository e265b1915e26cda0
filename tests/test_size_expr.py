"""Size expressions: guards, Python wrappers and C++ wrappers that mean the same have the same text."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.sizes.expr import size_expr, size_text
from aoti_logs.code.triton.body import to_expr
from aoti_logs.code.wrapper.bind import cpp_value
from aoti_logs.parse.sizes.shape_canonical import canonical, canonical_text
from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_tree import Number, free_symbols
from aoti_logs.parse.sizes.shape_value import evaluate


def of_cpp(text: str) -> str | None:
    return size_text(cpp_value(text), cpp=True)


def of_python(text: str) -> str | None:
    return size_text(to_expr(ast.parse(text, mode="eval").body), cpp=False)


@pytest.mark.parametrize(
    ("guard", "python", "cpp", "text"),
    [
        (
            "s0//2",
            "(s0 // 2)",
            "c10::div_floor_integer(static_cast<int64_t>(s0), static_cast<int64_t>(2L))",
            "s0 // 2",
        ),
        ("2*s0 - 1", "(-1) + 2*s0", "(-1L) + 2L*s0", "2*s0 - 1"),
        ("s0**2 + s1", "s1 + s0*s0", "s1 + static_cast<int64_t>(s0*s0)", "s0**2 + s1"),
        (
            "Max(1, s0)",
            "max(1, s0)",
            "std::max(static_cast<int64_t>(1L), static_cast<int64_t>(s0))",
            "Max(1, s0)",
        ),
        ("Max(1, s0, s1)", "max(1, max(s0, s1))", "std::max<int64_t>({1L, s0, s1})", "Max(1, s0, s1)"),
        (
            "ModularIndexing(s0, 4, s1)",
            "((s0 // 4) % s1)",
            "(static_cast<int64_t>(c10::div_floor_integer(s0, static_cast<int64_t>(4L))) % static_cast<int64_t>(s1))",
            "(s0 // 4) % s1",
        ),
        (
            "CeilToInt(IntTrueDiv(s0, 3))",
            "math.ceil(s0 / 3)",
            "static_cast<int64_t>(std::ceil(static_cast<double>(s0) / static_cast<double>(3L)))",
            "ceil(s0 / 3)",
        ),
        (
            "Piecewise((s0, s0 > 1), (1, True))",
            "s0 if s0 > 1 else 1",
            "((s0 > 1L) ? s0 : 1L)",
            "Where(s0 > 1, s0, 1)",
        ),
        ("PowByNatural(2, s0)", "2**s0", "(1 << (s0))", "2**s0"),
        ("Eq(Mod(s77, 2), 0)", "s77 % 2 == 0", "(s77 % 2L) == 0L", "s77 % 2 == 0"),
    ],
)
def test_guard_python_and_cpp_of_one_size_print_alike(guard, python, cpp, text):
    assert (canonical_text(guard), of_python(python), of_cpp(cpp)) == (text, text, text)


def test_division_of_integers_in_cpp_cuts_off_the_fraction():
    assert of_cpp("(u0_en_cl - u0_st_cl + 2L - 1) / 2L") == "trunc((u0_en_cl - u0_st_cl + 1) / 2)"


def test_what_is_no_size_has_no_text():
    assert [of_cpp(t) for t in ("f(s0)", '"s0"', "buf0.data_ptr()", "{1L, 2L}", "s0 +", "a.b")] == [None] * 6


def test_numbers_too_large_to_compute_with_are_kept():
    assert canonical_text("(10**70)**70*s0") is not None


def test_whole_and_broken_numbers_of_one_value_are_one():
    assert canonical(Number(2.0)) == canonical(Number(2))
    assert str(canonical(Number(2.0))) == "2"


def test_printers_of_the_installed_torch_agree():
    sympy = pytest.importorskip("sympy")
    functions = pytest.importorskip("torch.utils._sympy.functions")
    printers = pytest.importorskip("torch.utils._sympy.printers")
    s0, s1, u0 = sympy.symbols("s0 s1 u0", integer=True, positive=True)
    f = functions
    for expr in (
        f.FloorDiv(s0 + s1, 3) * 4 - 1, f.Mod(s0, 8), f.PythonMod(s0 - s1, 8), f.ModularIndexing(s0, 4, s1),
        f.Max(1, s0, s1), f.Min(s0, s1), s0**2 + s1, s0 * s1 - u0 - 3, f.CeilToInt(f.IntTrueDiv(s0, 3)),
        f.TruncToInt(f.IntTrueDiv(s0, 3)), f.FloorToInt(f.ToFloat(s0) * 0.5), f.IntTrueDiv(s0, s1),
        f.FloatTrueDiv(f.ToFloat(s0), 2.0), sympy.And(s0 < 5, s1 > 3), sympy.Or(sympy.Eq(s0, 1), sympy.Ne(s1, 2)),
        f.Max(1.0, f.ToFloat(s0)), f.OpaqueUnaryFn_sqrt(f.ToFloat(s0)), f.CleanDiv(s0, 4), sympy.Abs(u0 - s0),
        s0 * s1 * 2 + s0 * s0 * 3, (s0 + s1) * (s0 - 1), s0 - 9223372036854775807,
    ):  # fmt: skip
        cpp, python = printers.CppPrinter().doprint(expr), printers.PythonPrinter().doprint(expr)
        assert of_cpp(cpp) == of_python(python) == canonical_text(python) == canonical_text(str(expr)), expr


LEAVES = st.sampled_from(["s0", "s1", "u0", "1", "2", "3", "-1"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", "*", "//", " % "]), inner).map(
            lambda t: f"({t[0]}){t[1]}({t[2]})"
        ),
        st.tuples(inner, inner).map(lambda t: f"Max({t[0]}, {t[1]})"),
        inner.map(lambda t: f"-({t})"),
        inner.map(lambda t: f"({t})**2"),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_the_canonical_form_has_the_same_value_and_stays(text):
    tree = parse_shape_expr(text)
    assert tree is not None
    one = canonical(tree)
    again = parse_shape_expr(str(one))
    assert again is not None
    assert str(canonical(again)) == str(one)
    assert free_symbols(one) <= free_symbols(tree)
    for sizes in ({"s0": 7, "s1": 3, "u0": 2}, {"s0": 2, "s1": 11, "u0": 5}):
        value = evaluate(tree, sizes)
        assert value is None or evaluate(one, sizes) == value


@given(EXPRESSIONS)
def test_python_and_guard_text_of_one_expression_agree(text):
    python = text.replace("Max", "max")
    assert of_python(python) == canonical_text(text)


@given(st.text(alphabet="s0u1+-*/%()<>,{}?:&|. L", max_size=40))
def test_no_text_raises(text):
    size_text(cpp_value(text), cpp=True)
    canonical_text(text)


def test_depth_is_bounded():
    deep = "(" * 300 + "s0" + ")+1" * 300
    assert size_expr(cpp_value("-" * 90 + "s0"), cpp=True) is None or canonical_text(deep) is None
