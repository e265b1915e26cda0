"""Shape expressions: sympy's and Python's spellings are one tree, its text is that tree again, its value is theirs."""

import ast
import math
import operator
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aoti_logs.parse.sizes.shape_expr import parse_shape_expr
from aoti_logs.parse.sizes.shape_tree import (
    Call,
    Compare,
    Items,
    Literal,
    Logic,
    Number,
    Op,
    Source,
    Symbol,
    free_symbols,
    sources,
    walk,
)
from aoti_logs.parse.sizes.shape_value import evaluate

S0, S1 = Symbol("s0"), Symbol("s1")
X0 = Source("L['x'].size()[0]")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("Eq(Mod(s0, 2), 0)", Compare(("==",), (Op("%", (S0, Number(2))), Number(0)))),
        ("((s0 % 2) == 0)", Compare(("==",), (Op("%", (S0, Number(2))), Number(0)))),
        ("Ne(s0*((64//s0)), s1)", Compare(("!=",), (Op("*", (S0, Op("//", (Number(64), S0)))), S1))),
        ("FloorDiv(s0, 2)", Op("//", (S0, Number(2)))),
        ("(((-s0)//3)) + 5", Op("+", (Op("//", (Op("-", (S0,)), Number(3))), Number(5)))),
        ("s0 - s1 - 1", Op("+", (S0, Op("-", (S1,)), Number(-1)))),
        ("-s0**2", Op("-", (Op("**", (S0, Number(2))),))),
        ("2*s0*s1//3", Op("//", (Op("*", (Number(2), S0, S1)), Number(3)))),
        ("(s0 >= 0) & (s0 <= 8)", Logic("and", (Compare((">=",), (S0, Number(0))), Compare(("<=",), (S0, Number(8)))))),
        ("~(s0 > 1) | Eq(s1, 2)", Logic("or", (Logic("not", (Compare((">",), (S0, Number(1))),)), Compare(("==",), (S1, Number(2)))))),
        ("2 <= L['x'].size()[0] <= 9", Compare(("<=", "<="), (Number(2), X0, Number(9)))),
        ("Max(1, s0)", Call("Max", (Number(1), S0))),
        ("max(1, s0)", Call("Max", (Number(1), S0))),
        ("CeilToInt(IntTrueDiv(s0, 4))", Call("ceil", (Call("IntTrueDiv", (S0, Number(4))),))),
        ("math.ceil(s0 / 4)", Call("ceil", (Op("/", (S0, Number(4))),))),
        ("torch.sym_float(s0)", Call("float", (S0,))),
        ("ToFloat(s0)", Call("float", (S0,))),
        ("(s0 if s0 > 1 else 1)", Call("Where", (Compare((">",), (S0, Number(1))), S0, Number(1)))),
        ("Piecewise((s0, True))", Call("Piecewise", (Items("()", (S0, Literal("True"))),))),
        ("Identity(s0)", S0),
        ("VR[2, int_oo]", Call("VR", (Number(2), Literal("int_oo")))),
        ("-int_oo", Op("-", (Literal("int_oo"),))),
        ("math.inf", Literal("oo")),
        ("1.5e-3", Number(0.0015)),
        ("2.00000000000000", Number(2.0)),
        ("zuf0", Symbol("zuf0")),
        ("x.size()[0] == 4", Compare(("==",), (Source("x.size()[0]"), Number(4)))),
        ("len(L['d']) == 1", Compare(("==",), (Call("len", (Source("L['d']"),)), Number(1)))),
        ("___as_tensor(L['m'].eps).item()", Source("___as_tensor(L['m'].eps).item()")),
        ("L['x'][(1, 'k')][0:2:None]", Source("L['x'][(1, 'k')][0:2:None]")),
        ("L['mode'] == 'a  # b'", Compare(("==",), (Source("L['mode']"), Literal("'a  # b'")))),
        ("1 << s0", Op("<<", (Number(1), S0))),
    ],
)  # fmt: skip
def test_spellings_of_sympy_and_python_have_their_tree(text, tree):
    assert parse_shape_expr(text) == tree
    assert parse_shape_expr(str(tree)) == tree


@pytest.mark.parametrize(
    "text", ["", " ", "s0 +", "a b", "L['x", "1 = 2", "{0}", "x is None", "lambda: 1", "1e999", "9" * 500, "s0 $ 1", "a\nb"]
)  # fmt: skip
def test_what_is_no_shape_expression_has_none(text):
    assert parse_shape_expr(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "(" * 30_000, "-" * 30_000 + "a", "not " * 10_000 + "a", "a**" * 10_000 + "a", "f(" * 5000 + ")" * 5000,
        "x[-" * 90 + "-" * 3000 + "a" + "]" * 90, "a if b else " * 1500 + "c", "a//" * 5000 + "a",
    ],
)  # fmt: skip
def test_text_that_is_too_deep_is_refused_not_recursed(text):
    assert parse_shape_expr(text) is None


def test_a_sum_and_a_product_of_thousands_are_one_level():
    for sign in "+-*":
        tree = parse_shape_expr(sign.join(f"s{i}" for i in range(1500)))
        assert tree is not None
        assert len(free_symbols(tree)) == 1500
        assert parse_shape_expr(str(tree)) == tree


def test_symbols_and_sources_of_an_expression():
    tree = parse_shape_expr("Max(s0, u1)*L['x'].size()[0] < args[0].stride()[1] + s0")
    assert tree is not None
    assert free_symbols(tree) == {"s0", "u1"}
    assert sources(tree) == {"L['x'].size()[0]", "args[0].stride()[1]"}
    assert [str(node) for node in walk(tree)][-2:] == ["args[0].stride()[1]", "s0"]


# ---------------------------------------------------------------- random trees

NAMES = st.sampled_from(["s0", "s77", "u0", "zf3", "n"])
LEAVES = st.one_of(
    NAMES.map(Symbol),
    st.sampled_from(["L['x'].size()[0]", "args[0].stride()[1]", "self.k", 'L["it\'s"][0:2]']).map(Source),
    st.integers(-5, 10**20).map(Number),
    st.floats(allow_nan=False, allow_infinity=False).map(Number),
    st.sampled_from(["True", "False", "None", "int_oo", "oo", "'a b'"]).map(Literal),
)


def some(children, least, most=3):
    return st.lists(children, min_size=least, max_size=most).map(tuple)


def inner(children):
    negated = children.filter(lambda e: not isinstance(e, Number)).map(lambda e: Op("-", (e,)))
    return st.one_of(
        negated,
        st.builds(lambda e: Op("+", (e,)), children),
        st.builds(Op, st.sampled_from(["+", "*"]), some(children, 2)),
        st.builds(Op, st.sampled_from(["/", "//", "%", "**", "<<", ">>"]), some(children, 2, 2)),
        st.builds(Call, st.sampled_from(["Max", "floor", "IntTrueDiv", "f", "VR"]), some(children, 1)),
        st.builds(Call, st.just("Where"), some(children, 3)),
        st.builds(Call, st.just("f"), st.just(())),
        st.builds(Logic, st.sampled_from(["and", "or"]), some(children, 2)),
        st.builds(lambda e: Logic("not", (e,)), children),
        st.builds(Items, st.sampled_from(["()", "[]"]), some(children, 0)),
        some(children, 2).flatmap(
            lambda several: st.lists(
                st.sampled_from(["<", "<=", "==", "!=", ">", ">="]),
                min_size=len(several) - 1,
                max_size=len(several) - 1,
            ).map(lambda ops: Compare(tuple(ops), several))
        ),
    )


TREES = st.recursive(LEAVES, inner, max_leaves=12)


@given(TREES)
def test_the_text_of_a_tree_is_that_tree_again(tree):
    assert parse_shape_expr(str(tree)) == tree


INTEGER_LEAVES = st.one_of(NAMES.map(Symbol), st.integers(-9, 99).map(Number))


def arithmetic(children):
    return st.one_of(
        st.builds(Op, st.sampled_from(["+", "*"]), some(children, 2)),
        st.builds(Op, st.sampled_from(["//", "%"]), some(children, 2, 2)),
        children.filter(lambda e: not isinstance(e, Number)).map(lambda e: Op("-", (e,))),
        st.builds(Call, st.sampled_from(["max", "min"]), some(children, 2)),
        st.builds(lambda e: Call("abs", (e,)), children),
    )


def truths(children):
    compared = st.builds(
        lambda op, several: Compare((op,) * (len(several) - 1), several),
        st.sampled_from(["<", "<=", "==", "!=", ">", ">="]),
        some(st.recursive(INTEGER_LEAVES, arithmetic, max_leaves=5), 2),
    )
    return (
        st.recursive(
            compared,
            lambda c: st.one_of(
                st.builds(Logic, st.sampled_from(["and", "or"]), some(c, 2)),
                c.map(lambda e: Logic("not", (e,))),
            ),
            max_leaves=4,
        )
        | children
    )


PYTHON: dict[type, Callable] = {ast.Add: operator.add, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
          ast.Sub: operator.sub}  # fmt: skip
COMPARED: dict[type, Callable] = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne,
            ast.Gt: operator.gt, ast.GtE: operator.ge}  # fmt: skip
CALLED: dict[str, Callable] = {"max": max, "min": min, "abs": abs, "Max": max, "Min": min}


def python_value(node, values):
    """Compute a Python expression by Python's own grammar."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.Not(), operand=one):
            return not python_value(one, values)
        case ast.UnaryOp(op=ast.USub(), operand=one):
            return -python_value(one, values)
        case ast.BinOp(op=op, left=left, right=right):
            return PYTHON[type(op)](python_value(left, values), python_value(right, values))
        case ast.BoolOp(op=op, values=several):
            found = [python_value(one, values) for one in several]
            return all(found) if isinstance(op, ast.And) else any(found)
        case ast.Compare(left=left, ops=ops, comparators=others):
            found = [python_value(one, values) for one in (left, *others)]
            return all(COMPARED[type(op)](a, b) for op, a, b in zip(ops, found, found[1:], strict=False))
        case ast.Call(func=ast.Name(id=name), args=several):
            return CALLED[name](*[python_value(one, values) for one in several])
    raise AssertionError(ast.dump(node))


SIZES = st.fixed_dictionaries({name: st.integers(-50, 10**6) for name in ("s0", "s77", "u0", "zf3", "n")})


@given(truths(st.recursive(INTEGER_LEAVES, arithmetic, max_leaves=8)), SIZES)
def test_the_value_is_pythons(tree, values):
    try:
        want = python_value(ast.parse(str(tree), mode="eval").body, values)
    except ZeroDivisionError:
        return
    parsed = parse_shape_expr(str(tree))
    assert parsed is not None
    assert evaluate(parsed, values) == want


@pytest.mark.live
@settings(max_examples=40)
@given(st.recursive(INTEGER_LEAVES, arithmetic, max_leaves=8), SIZES)
def test_the_value_is_that_of_torchs_own_functions(tree, values):
    sympy = pytest.importorskip("sympy")
    functions = pytest.importorskip("torch.utils._sympy.functions")
    positive = {name: abs(value) + 1 for name, value in values.items()}
    names = {
        "FloorDiv": functions.FloorDiv,
        "PythonMod": functions.PythonMod,
        "Max": sympy.Max,
        "Min": sympy.Min,
    }
    symbols = {name: sympy.Symbol(name, integer=True, positive=True) for name in positive}

    def symbolic(node):
        match node:
            case Number(value=value):
                return sympy.Integer(value)
            case Symbol(name=name):
                return symbols[name]
            case Op(op="+" | "*" as op, operands=several):
                return (sympy.Add if op == "+" else sympy.Mul)(*map(symbolic, several))
            case Op(op="-", operands=(one,)):
                return -symbolic(one)
            case Op(op=op, operands=(left, right)):
                return names["FloorDiv" if op == "//" else "PythonMod"](symbolic(left), symbolic(right))
            case Call(name=name, operands=several):
                return (
                    sympy.Abs(symbolic(several[0]))
                    if name == "abs"
                    else names[name.title()](*map(symbolic, several))
                )
        raise AssertionError(node)

    try:
        expression = symbolic(tree)
        want = expression.subs({symbols[name]: value for name, value in positive.items()})
    except (ZeroDivisionError, AssertionError):
        return
    assume(want.is_Integer)
    printed = parse_shape_expr(str(expression))
    assert printed is not None
    assert parse_shape_expr(str(printed)) == printed
    assert evaluate(printed, positive) == int(want)


@pytest.mark.parametrize(
    ("text", "values", "value"),
    [
        ("-7 // 2", {}, -4),
        ("Mod(-7, 4)", {}, 1),
        ("CeilToInt(IntTrueDiv(s0, 4))", {"s0": 9}, 3),
        ("math.floor(s0 / 2)", {"s0": 5}, 2),
        ("s0/2", {"s0": 6}, 3),
        ("s0/2", {"s0": 5}, None),
        ("ToFloat(s0)", {"s0": 5}, None),
        ("Eq(ToFloat(s0), 5.0)", {"s0": 5}, True),
        ("s0 <= int_oo", {"s0": 10**30}, True),
        ("-int_oo < s0", {"s0": -(10**30)}, True),
        ("int_oo - int_oo", {}, None),
        ("s0 // 0", {"s0": 5}, None),
        ("s0 > 1 and u0 > 1", {"s0": 0}, False),
        ("s0 > 1 or u0 > 1", {"s0": 2}, True),
        ("s0 > 1 or u0 > 1", {"s0": 0}, None),
        ("2 <= s0 <= u0", {"s0": 1}, False),
        ("Where(s0 > 1, s0, u0)", {"s0": 4}, 4),
        ("Piecewise((1, s0 > 3), (2, True))", {"s0": 2}, 2),
        ("ModularIndexing(s0, 4, 3)", {"s0": 22}, 2),
        ("RoundToInt(s0 / 2)", {"s0": 5}, 2),
        ("L['x'].size()[0] % 2 == 0", {"L['x'].size()[0]": 8}, True),
        ("2**s0", {"s0": 10}, 1024),
        ("2**s0", {"s0": 10**9}, None),
        ("1 << s0", {"s0": 10**9}, None),
        ("s0**s0**s0", {"s0": 9}, None),
        ("round(s0, -1000000000)", {"s0": 9}, None),
        ("VR[1, 2]", {}, None),
        ("f(1)", {}, None),
        ("Max()", {}, None),
    ],
)
def test_values(text, values, value):
    tree = parse_shape_expr(text)
    assert tree is not None
    assert evaluate(tree, values) == value


@given(TREES, st.dictionaries(NAMES, st.integers()))
def test_evaluating_never_raises(tree, values):
    value = evaluate(tree, values)
    assert value is None or isinstance(value, int)


@given(st.text(max_size=60) | st.text("s0L'[]()*/%<>=!&|~-+., \"xifelsnotad", max_size=60))
def test_no_text_raises_and_what_parses_parses_again(text):
    tree = parse_shape_expr(text)
    if tree is not None:
        assert parse_shape_expr(str(tree)) == tree


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_number_printed(value):
    assert parse_shape_expr(repr(value)) == Number(value)
    assert math.isfinite(value)


@pytest.mark.corpus
def test_every_shape_expression_of_the_corpus_has_a_tree(corpus_dir):
    import re

    found = set()
    for path in sorted((corpus_dir / "versions").rglob("*.log")) + sorted(
        (corpus_dir / "cpu-torch2.13").rglob("*.log")
    ):
        found |= set(re.findall(rb'"guard_added(?:_fast)?": \{"expr": "([^"\\]*)"', path.read_bytes()))
    assert len(found) > 50
    for text in found:
        tree = parse_shape_expr(text.decode())
        assert tree is not None, text
        assert parse_shape_expr(str(tree)) == tree
