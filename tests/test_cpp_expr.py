"""C++ expressions become trees: precedence, casts, templates; what does not fit stays text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.cpp.expr import parse_cpp, strip_casts
from aoti_logs.code.cpp.statement import parse_expression
from aoti_logs.code.expr import Call, Item, Name, Num, Op, Opaque, evaluate, names


def stripped(text: str) -> str:
    return str(strip_casts(parse_cpp(text)))


@pytest.mark.parametrize(
    ("text", "value"),
    [("10L", 10), ("16LL", 16), ("1ULL", 1), ("0x1FL", 31), ("1.5f", 1.5), ("1e-05", 1e-05), ("2.", 2.0), ("-3L", -3),
     ("true", 1), ("false", 0), ("0", 0)],
)  # fmt: skip
def test_literal_loses_its_suffix(text, value):
    assert parse_cpp(text) == Num(value)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "a + (b * c)"),
        ("(a + b) * c", "(a + b) * c"),
        ("a - b - c", "(a - b) - c"),
        ("a < b && c >= d || !e", "((a < b) && (c >= d)) || (!e)"),
        ("a & b < c", "a & (b < c)"),
        ("a << 2L | b", "(a << 2) | b"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("-a % b", "(-a) % b"),
    ],
)
def test_operators_bind_as_in_cpp(text, tree):
    assert str(parse_cpp(text)) == tree


def test_static_cast_is_a_call_with_its_type():
    assert parse_cpp("static_cast<int64_t>(x0)") == Call("static_cast", (Name("x0"),), ("int64_t",))


def test_template_arguments_are_split_at_their_own_level():
    call = parse_cpp("f<std::array<int64_t, 16>, 2>(x)")
    assert call == Call("f", (Name("x"),), ("std::array<int64_t, 16>", "2"))


def test_less_than_is_no_template():
    assert (
        str(parse_cpp("x1<static_cast<int64_t>(ks0) && x2>y"))
        == "(x1 < static_cast<int64_t>(ks0)) && (x2 > y)"
    )


def test_method_has_its_object_as_first_argument():
    assert parse_cpp("tmp7.template cast<int64_t,2>()") == Call(".cast", (Name("tmp7"),), ("int64_t", "2"))


def test_field_is_a_method_without_call():
    assert parse_cpp("tmp_acc0.mean") == Call(".mean", (Name("tmp_acc0"),))


def test_static_method_keeps_the_template_arguments_of_its_type():
    call = parse_cpp("at::vec::VectorizedN<int64_t,2>::loadu(in_ptr0 + 4L, 16)")
    assert isinstance(call, Call)
    assert (call.func, call.types) == ("at::vec::VectorizedN::loadu", ("int64_t", "2"))


def test_type_of_a_variable_is_not_a_use_of_it():
    assert names(parse_cpp("decltype(tmp4)::blendv(a, b, c)")) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "text", ["(int64_t*)x", "(const float*)(x)", "(int64_t)x", "(unsigned char)x", "(const at::Half*) x"]
)
def test_cast_in_parentheses(text):
    call = parse_cpp(text)
    assert isinstance(call, Call)
    assert call.func == "cast"
    assert call.args == (Name("x"),)


def test_parentheses_around_a_name_are_no_cast():
    assert parse_cpp("(x) - 1") == Op("-", (Name("x"), Num(1)))


def test_braces_may_end_with_a_comma():
    assert parse_cpp("{4L, s70, }") == Call("{}", (Num(4), Name("s70")))


def test_item_of_a_call():
    assert parse_cpp("arg0_1.sizes()[1]") == Item(Call(".sizes", (Name("arg0_1"),)), Num(1))


def test_text_in_quotes_is_kept_with_its_quotes():
    assert parse_cpp('"a (b" "c"') == Opaque('"a (b" "c"')


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("static_cast<int64_t>(x1 + 3L*static_cast<int64_t>(tmp5))", "x1 + (3 * tmp5)"),
        ("c10::convert<int64_t>(tmp1)", "tmp1"),
        ("int64_t(tmp0 + tmp2)", "tmp0 + tmp2"),
        ("decltype(tmp0)(tmp0 + tmp2)", "tmp0 + tmp2"),
        ("at::vec::VectorizedN<int64_t,2>(ks1)", "ks1"),
        ("at::vec::VecMask<float,1>::from(tmp2)", "tmp2"),
        ("std::max(static_cast<int64_t>(a), static_cast<int64_t>(b))", "std::max(a, b)"),
        ("c10::bit_cast<int>(x)", "c10::bit_cast<int>(x)"),
    ],
)
def test_casts_come_off_and_nothing_else(text, plain):
    assert stripped(text) == plain


@pytest.mark.parametrize(
    "text", ["", "a +", "f(", "}", "a b", "for (;;)", "\x00", "'", '"', "a ? b", "tmp0 = 1"]
)
def test_text_that_is_no_expression_stays_text(text):
    assert isinstance(parse_cpp(text), Opaque)


def test_names_of_text_that_is_no_expression_are_known():
    assert parse_cpp("int64_t s70 = arg0_1[") == Opaque("int64_t s70 = arg0_1[", ("int64_t", "s70", "arg0_1"))


@pytest.mark.parametrize("text", ["(" * 50_000 + "x" + ")" * 50_000, "-" * 50_000 + "x", "+".join("x" * 20_000),
                                  "f<" * 50_000, "x" * 3_000_000, "a[" * 50_000, "<" * 50_000])  # fmt: skip
def test_hostile_depth_is_text_and_costs_no_time(text):
    begin = time.process_time()
    assert isinstance(parse_cpp(text), Opaque | Name)
    assert time.process_time() - begin < 20


@given(st.text(alphabet="ab0L<>()[]{}:,.*+-&|!?~=\"' \\/#;", max_size=60))
def test_any_text_gives_a_tree(text):
    strip_casts(parse_cpp(text))


NAMES = st.sampled_from(["x0", "ks0", "tmp1"])
LEAVES = st.integers(0, 99).map(lambda n: (f"{n}L", Num(n))) | NAMES.map(lambda n: (n, Name(n)))
Pair = tuple[str, object]


def compound(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def binary(op: str, a: Pair, b: Pair) -> Pair:
        return f"({a[0]}) {op} ({b[0]})", Op(op, (a[1], b[1]))  # type: ignore[arg-type]

    def div(a: Pair, b: Pair) -> Pair:
        text = f"c10::div_floor_integer(static_cast<int64_t>({a[0]}), static_cast<int64_t>({b[0]}))"
        return text, Call("c10::div_floor_integer", (a[1], b[1]))  # type: ignore[arg-type]

    def cast(a: Pair) -> Pair:
        return f"static_cast<int64_t>({a[0]})", a[1]

    return (
        st.builds(binary, st.sampled_from(["+", "-", "*", "%", "<", "==", "&&", "|"]), inner, inner)
        | st.builds(div, inner, inner)
        | st.builds(cast, inner)
    )


@given(st.recursive(LEAVES, compound, max_leaves=12))
def test_printed_tree_is_read_back(pair):
    text, tree = pair
    assert strip_casts(parse_cpp(text)) == tree


@given(
    st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 50)), min_size=1, max_size=8),
    st.integers(0, 50),
)
def test_chain_has_the_value_that_cpp_gives_it(chain, first):
    text = f"{first}L" + "".join(f" {op} {number}L" for op, number in chain)
    assert evaluate(parse_cpp(text), {}) == eval(text.replace("L", ""))  # noqa: S307 numbers made above


@given(st.from_regex(r"[a-z]{1,9}[0-9]{1,9}|[0-9]{1,18}[lL]{0,2}", fullmatch=True))
def test_what_is_read_without_the_grammar_is_what_the_grammar_reads(text):
    assert parse_cpp(text) == parse_expression(text)
