"""Statements and arguments of generated C++, and the name behind an argument."""

import time

from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.wrapper.bind import behind
from aoti_logs.code.wrapper_cpp.text import as_call, closing, split_arguments, statements, string_value


@given(st.text(alphabet="ab(){}[],;<>\"'/*\\ \nR_0&=:", max_size=200))
def test_any_text_is_read_without_raising(text):
    list(statements(text))
    split_arguments(text)
    as_call(text)
    closing(text, 0)
    string_value(text)
    behind(text, {})


ARGUMENT = st.sampled_from(
    [
        "buf0",
        "s23",
        "8L",
        "f(a, b)",
        "{s0, 1L}",
        "std::array<int64_t, 2>{s0, s1}",
        "(float*)(x.data_ptr())",
        '"a, b"',
    ]
)


@given(st.lists(ARGUMENT, min_size=1, max_size=8))
def test_arguments_split_where_they_were_joined(parts):
    assert split_arguments(", ".join(parts)) == tuple(parts)


def test_self_naming_variable_ends():
    assert behind("a", {"a": "b", "b": "a"}) in {"a", "b"}


def test_statement_over_several_lines_has_its_first_line():
    body = "int a = 1;\nCHECK(\n    f(x)\n);\n"
    assert [(s.text.split("(")[0], s.line) for s in statements(body, 10)] == [
        ("int a = 1", 10),
        ("CHECK", 11),
    ]


def test_braces_of_a_block_and_of_a_list_are_told_apart():
    body = "if (a) {\n  f({1, 2}); g();\n}\nint x[] = {1, };\n"
    assert [(s.kind, s.text) for s in statements(body)] == [
        ("head", "if (a)"),
        ("statement", "f({1, 2})"),
        ("statement", "g()"),
        ("close", "}"),
        ("statement", "int x[] = {1, }"),
    ]


def test_raw_string_hides_its_semicolons_and_keeps_lines():
    body = 'Guard g("k", R"(\na; b\n)");\nf();\n'
    assert [s.line for s in statements(body)] == [1, 4]


def test_long_hostile_lines_take_linear_time():
    start = time.process_time()
    for text in (
        "a" * 300_000,
        "(" * 300_000,
        "a<" * 100_000,
        "a::" * 100_000,
        '"' * 100_001,
        " " * 300_000 + "x",
    ):
        list(statements(text))
        as_call(text)
        split_arguments(text)
        behind(text, {})
    assert time.process_time() - start < 10
