"""Constraint violations, conditions on data, limits, reports of draft exports: as torch words them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.compiles.constraint import read_violations
from aoti_logs.parse.compiles.data_dependent import read_evaluation, read_undecided, symbols_in
from aoti_logs.parse.compiles.failure import Limit, SuggestedFix
from aoti_logs.parse.guards.recompile_limit import read_limit
from tests.log_text import read

HEAD = 'Constraints violated (b)! For more information, run with TORCH_LOGS="+dynamic".\n'


@pytest.mark.parametrize(
    ("row", "form", "name", "source", "constant"),
    [
        ("You marked b as dynamic but your code specialized it to be a constant (8). If you're", "specialized", "b", None, 8),
        ("You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (5).", "specialized", None, "L['x'].size()[0]", 5),
        ("Not all values of b = L['x'].size()[0] in the specified range b <= 32 are valid because b was inferred to be a constant (1).", "constant", "b", "L['x'].size()[0]", 1),
        ("Not all values of RelaxedUnspecConstraint(L['x'].size()[0]) are valid because L['x'].size()[0] was inferred to be a constant (256).", "constant", None, "L['x'].size()[0]", 256),
        ("The values of c = L['y'].size()[0] and b = L['x'].size()[0] must always be equal.", "equal", "c", "L['y'].size()[0]", None),
        ("Not all values of k = L['i'].size()[0] in the specified range satisfy the generated guard L['i'].size()[0] != 9.", "guard", "k", "L['i'].size()[0]", None),
    ],
)  # fmt: skip
def test_a_violation_names_the_size(row, form, name, source, constant):
    found = read_violations(f"{HEAD}  - {row}")
    assert found is not None
    (violation,) = found.rows
    assert (violation.form, violation.name, violation.source, violation.constant) == (
        form,
        name,
        source,
        constant,
    )


def test_an_example_outside_of_its_range_is_a_violation():
    found = read_violations("40 not in range [2, 16]")
    assert found is not None
    assert (found.rows[0].constant, found.rows[0].declared) == (40, "[2, 16]")


def test_suggested_fixes_end_with_the_first_other_line():
    text = (
        HEAD
        + "  - x\n\nSuggested fixes:\n  b = 8\n  c = Dim('c', max=16)\n  d = None  # 1\n\nThe error above = 3"
    )
    found = read_violations(text)
    assert found is not None
    assert found.fixes == (
        SuggestedFix("b", "8"),
        SuggestedFix("c", "Dim('c', max=16)"),
        SuggestedFix("d", "None", "1"),
    )


SOURCES = st.from_regex(r"L\['[a-z_]{1,8}'\]\.size\(\)\[[0-9]\]", fullmatch=True)


@given(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), SOURCES, st.integers(0, 10**9))
def test_a_constant_is_read_back(name, source, constant):
    row = f"Not all values of {name} = {source} in the specified range are valid because {name} was inferred to be a constant ({constant})."
    found = read_violations(f"{HEAD}  - {row}")
    assert found is not None
    assert (found.rows[0].name, found.rows[0].source, found.rows[0].constant) == (name, source, constant)


@pytest.mark.parametrize(
    ("head", "expression", "size_like"),
    [
        ("Could not guard on data-dependent expression Eq(u77 - 1, 1) (unhinted: Eq(u77 - 1, 1)).  (Size-like symbols: u77)", "Eq(u77 - 1, 1)", ("u77",)),
        ("Consider annotating your code using torch._check*(). Could not guard on data-dependent expression u0 > 5 (unhinted: u0 > 5).  (Size-like symbols: none)", "u0 > 5", ()),
        ("Could not extract specialized integer from data-dependent expression u0 (unhinted: u0).  (Size-like symbols: none)", "u0", ()),
        ("Could not guard on data-dependent expression Eq(i0, 1)", "Eq(i0, 1)", None),
    ],
)  # fmt: skip
def test_a_condition_on_data(head, expression, size_like):
    found = read_undecided(head)
    assert found is not None
    assert (found.expression, found.size_like) == (expression, size_like)


def test_suggested_checks_and_their_cause_are_kept():
    text = (
        "Could not guard on data-dependent expression u0 > 5 (unhinted: u0 > 5).  (Size-like symbols: none)\n\n"
        "Caused by: (models.py:171 in forward)\nTo fix the error, insert one of the following checks before this call:\n"
        "  1. torch._check(n > 5)\n  2. torch._check(n <= 5)\n"
    )
    found = read_undecided(text)
    assert found is not None
    assert found.checks == ("torch._check(n > 5)", "torch._check(n <= 5)")
    assert found.caused is not None
    assert (found.caused.location, found.caused.function) == ("models.py:171", "forward")


EXPRESSIONS = st.recursive(
    st.one_of(st.integers(0, 99).map(str), st.from_regex(r"[us][0-9]", fullmatch=True)),
    lambda inner: st.tuples(inner, inner).map(lambda pair: f"Eq({pair[0]}, ({pair[1]}))"),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_an_expression_is_read_back(expression):
    head = f"Could not guard on data-dependent expression {expression} (unhinted: {expression}).  (Size-like symbols: none)"
    found = read_undecided(head)
    assert found is not None
    assert (found.expression, found.unhinted) == (expression, expression)
    assert set(found.symbols) == set(symbols_in(expression))


def test_the_message_before_the_exception_has_the_condition():
    assert (
        read_evaluation("failed while running evaluate_expr(*(u0 > 5, None), **{'fx_node': None})")
        == "u0 > 5"
    )
    assert (
        read_evaluation("failed during evaluate_expr(Ne(u0, 9), hint=None, size_oblivious=False")
        == "Ne(u0, 9)"
    )
    assert read_evaluation("failed while attempting to run meta for aten.mm.default") is None


def test_a_limit_with_function_and_reason():
    text = (
        "torch._dynamo hit config.cache_size_limit (8)\n   function: 'forward' (C:\\app\\joint.py:320)\n"
        "   last reason: 1/0: L['n'] == 31868\nTo log all recompilation reasons, use TORCH_LOGS=\"recompiles\"."
    )
    assert read_limit(text) == Limit(
        "cache_size_limit", 8, "forward", "C:\\app\\joint.py", 320, "1/0: L['n'] == 31868"
    )


def test_a_limit_of_the_first_versions():
    text = (
        "cuda eval  t   WARNING:torchdynamo.convert_frame:torchdynamo hit recompilation cache limit (64) for function "
        "'forward' (/srv/model.py:381), due to the following guard failures: [['len(a) == 0'], ['len(a) == 0']]"
    )
    found = read_limit(text)
    assert found is not None
    assert (found.limit, found.function, found.line, found.reasons) == (
        64,
        "forward",
        381,
        ("len(a) == 0",) * 2,
    )


@given(st.text(max_size=300))
def test_no_text_raises(text):
    for words in (
        "",
        "Could not guard on data-dependent expression ",
        " hit config.",
        " not in range [",
        "  - You marked ",
    ):
        read_undecided(words + text)
        read_violations(words + text)
        read_limit(words + text)
        read_evaluation(words + text)


def test_a_draft_export_reports_its_issues(fixtures_dir: Path):
    text = (fixtures_dir / "cpu_trace_draft_export" / "run.log").read_text()
    issues = [dict(n.facts) for n in read(text).notes if n.kind == "draft_export"]
    assert [i["issue"] for i in issues] == ["missing_fake_kernel", "data_dependent"]
    assert issues[0]["op"] == "demo.blend.default"
    assert (issues[1]["expression"], issues[1]["result"]) == ("u1 > 5", "False")
    assert (issues[1]["function"], issues[1]["code"]) == ("forward", "if k.item() > 5:")
    assert issues[1]["file"].endswith("models.py")
