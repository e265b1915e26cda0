"""Expressions: evaluating sizes, names, depth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.expr import Expr, Num, Op, evaluate, names, walk
from aoti_logs.code.triton.body import parse_python


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ks0*ks1", 6),
        ("(-1) + ks0", 1),
        ("ks1//ks0", 1),
        ("FloorDiv(ks1, 2)", 1),
        ("ModularIndexing(7, 2, 3)", 0),
        ("ks0 // 0", None),
        ("(-7) / ks0", -3),
        ("(-7) // ks0", -4),
        ("(-7) % ks0", None),
        ("(-6) % ks0", 0),
        ("unknown + 1", None),
        ("2**ks1", 8),
        ("max(ks0, ks1)", 3),
    ],
)
def test_sizes_put_in_give_a_number_or_nothing(text: str, value: int | None):
    assert evaluate(parse_python(text), {"ks0": 2, "ks1": 3}) == value


@given(st.recursive(st.integers(-9, 9), lambda s: st.tuples(st.sampled_from("+-*"), s, s), max_leaves=30))
def test_evaluating_agrees_with_python(tree: object):
    def text(node: object) -> str:
        return f"({text(node[1])} {node[0]} {text(node[2])})" if isinstance(node, tuple) else f"({node})"

    assert evaluate(parse_python(text(tree)), {}) == eval(text(tree))  # noqa: S307 - built from integers above


def test_names_are_those_that_are_read():
    assert names(parse_python("ks0 + f(s1, x[s2])")) == {"ks0", "s1", "x", "s2"}


def test_a_deep_tree_is_walked_without_recursion():
    tree: Expr = Num(1)
    for _ in range(50_000):
        tree = Op("+", (tree, Num(1)))
    assert sum(isinstance(n, Num) for n in walk(tree)) == 50_001
