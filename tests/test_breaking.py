"""Elements that break a bounds check, compared with an evaluation of the same index element by element.

Triton kernels are executed lane by lane with stand-ins for `tl`: their text is Python. For the C++ kernels, which torch
2.13 wrote for AVX2, the index stands in the test as Python.
"""

import textwrap
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import FunctionType, SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.code.cpp.statement import parse_expression
from aoti_logs.code.expr import Call, Expr, Name, Num, Op
from aoti_logs.code.kernel.arithmetic import Language, integer, truth
from aoti_logs.code.kernel.breaking import Breaking
from aoti_logs.code.kernel.inside import Inside
from aoti_logs.code.kernel.number_sets import common, interval, of, size, union, without
from aoti_logs.code.kernel.piecewise import Line
from aoti_logs.code.kernel.text import cpp_kernels
from aoti_logs.code.model import Argument, ArgumentKind, Backend, Launch
from aoti_logs.code.triton.expr import parse_python
from aoti_logs.sources.source import Kind, Source
from tests.recorded_kernels import inside_of, recorded, text_of

CPP = Path(__file__).parent / "cpp_kernels"
Element = tuple[int, ...]


def cpp(name: str) -> Inside:
    (kernel,) = cpp_kernels(Source(name, Kind.KERNEL_CPP, (CPP / f"{name}.cpp").read_bytes))
    return Inside(kernel)


def executed(text: str, sizes: dict[str, int], lanes: range) -> list[int]:
    """Execute a one-dimensional Triton kernel for each lane; return the lanes that break a check.

    Memory holds zeros. Python's `//` and `%` stand for Triton's, which differ for operands of unlike sign only.
    """
    broken: list[int] = []
    now = SimpleNamespace(lane=0)

    def check(condition: bool, message: str = "", mask: bool = True) -> None:
        if mask and not condition:
            broken.append(now.lane)

    class Lane(int):
        """An index into a block keeps the lane; `~` of a condition is its negation."""

        def __getitem__(self, _: object) -> "Lane":
            return self

    tl = SimpleNamespace(
        constexpr=int, int1=bool, int32=int, int64=int, float32=float,
        program_id=lambda axis: 0, num_programs=lambda axis: 1,
        arange=lambda low, high: Lane(low + now.lane),
        full=lambda shape, value, dtype: value, where=lambda c, a, b: a if c else b,
        load=lambda *args, **named: 0, store=lambda *args, **named: None, device_assert=check,
        minimum=min, maximum=max, broadcast_to=lambda value, shape: value,
    )  # fmt: skip
    start = text.index("def ", text.rfind("@triton.jit"))
    # `~(xmask)` of Python's True is -2: the negation of a condition is meant.
    body = text[start:].replace("| ~(", "or not (").replace("tl.constexpr", "int")
    namespace: dict[str, object] = {"tl": tl, "triton_helpers": SimpleNamespace(minimum=min, maximum=max)}
    exec(textwrap.dedent(body), namespace)  # noqa: S102 - a kernel from tests/triton_kernels, or made below
    function = next(v for v in namespace.values() if isinstance(v, FunctionType))
    code = function.__code__
    given_ = {p: sizes.get(p, 0) for p in code.co_varnames[: code.co_argcount]}
    for now.lane in lanes:
        function(**given_)
    return broken


def same(found: Breaking, broken: list[int]) -> None:
    """Compare with the lanes that broke; lanes beyond the end are masked, so they never do."""
    assert found.known and found.exact
    assert found.count == len(broken)
    if broken:
        assert (found.first, found.last) == ({"xindex": min(broken)}, {"xindex": max(broken)})
    else:
        assert found.first is None and found.last is None


@settings(max_examples=60)
@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 40))
def test_a_recorded_triton_check_of_computed_indices_breaks_where_it_does_lane_by_lane(ks0, ks1, xnumel):
    """`flat[torch.arange(n) * 5 - 3]`: the index is linear, with negative ones wrapped."""
    sizes = {"ks0": ks0, "ks1": ks1, "xnumel": xnumel, "XBLOCK": 64}
    (check,) = recorded("complex_sizes_2").checks
    broken = executed(text_of("complex_sizes_2"), sizes, range(64))
    same(check.breaking(sizes), broken)


CHECKS = """
@triton.jit
def made(in_ptr0, out_ptr0, ks0, ks1, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 4)
    x1 = xindex // 4
    x2 = xindex
    tmp0 = {index}
    tmp1 = tmp0 + ks1
    tmp2 = tmp0 < 0
    tmp3 = tl.where(tmp2, tmp1, tmp0)
    tmp4 = {condition}
    tl.device_assert(((0 <= tmp3) & (tmp3 < ks1)) | ~({mask}), "index out of bounds: 0 <= tmp3 < ks1")
"""
INDICES = (
    "x2", "x2 - 3", "2*x2 + ks0", "ks0 - x2", "3*x0 + x1", "x0 + ks0*x1", "tl.minimum(x2, ks0)",
    "tl.where(x2 < ks0, x2 + 2, 2*x2)", "x1 - x0", "(x2 // 3) + 1", "((x2 + ks0) % 5)",
)  # fmt: skip
CONDITIONS = ("x2 >= 2", "x2 < ks0", "x0 < 2", "x1 >= 1", "x2 >= 0")


@settings(max_examples=150)
@given(
    st.sampled_from(INDICES),
    st.sampled_from(CONDITIONS),
    st.sampled_from(("xmask", "tmp4 & xmask")),
    st.integers(0, 7),
    st.integers(0, 12),
    st.integers(0, 30),
)
def test_breaking_lanes_of_made_checks_are_those_of_an_execution(index, condition, mask, ks0, ks1, xnumel):
    text = CHECKS.format(index=index, condition=condition, mask=mask)
    sizes = {"ks0": ks0, "ks1": ks1, "xnumel": xnumel, "XBLOCK": 32}
    (check,) = inside_of(text).checks
    broken = executed(text, sizes, range(32))
    same(check.breaking(sizes), broken)


def brute(
    extents: dict[str, range],
    runs: Callable[..., bool],
    index: Callable[..., int],
    passes: Callable[[int], bool],
) -> tuple[list[Element], list[int]]:
    broken = [p for p in product(*extents.values()) if runs(*p) and not passes(index(*p))]
    return broken, [index(*p) for p in broken]


def agrees(found: Breaking, broken: list[Element], indices: list[int]) -> None:
    assert found.known and found.exact
    assert found.count == len(broken)
    if broken:
        assert found.first is not None and found.last is not None
        assert (tuple(found.first.values()), tuple(found.last.values())) == (min(broken), max(broken))
        assert (found.smallest, found.largest) == (min(indices), max(indices))


@given(st.integers(0, 40), st.integers(0, 20))
def test_a_serial_cpp_check_breaks_where_its_index_does(ks0, ks1):
    """`x[torch.arange(n) - 3]`."""
    (check,) = cpp("index_arange").checks
    broken = brute(
        {"x0": range(ks0)}, lambda x: True, lambda x: x - 3 + ks1 if x < 3 else x - 3, lambda i: 0 <= i < ks1
    )
    agrees(check.breaking({"ks0": ks0, "ks1": ks1}), *broken)


@given(st.integers(0, 40), st.integers(0, 20))
def test_main_loop_and_tail_of_a_masked_vector_kernel_break_apart(ks0, ks1):
    """`F.pad(x[torch.arange(n) + 1], (3, 9))`: lanes of the padding are masked."""
    end = (12 + ks0) // 8 * 8
    for check in cpp("index_padded").checks:
        start, stop = (0, end) if check.part == "vector" else (end, 12 + ks0)
        broken = brute(
            {"x0": range(12 + ks0)},
            lambda x, start=start, stop=stop: start <= x < stop and 0 <= x - 3 < ks0,
            lambda x: x - 2 + ks1 if x < 2 else x - 2,
            lambda i: i < ks1,
        )
        agrees(check.breaking({"ks0": ks0, "ks1": ks1}), *broken)


@given(st.integers(0, 12), st.integers(0, 20), st.integers(0, 60))
def test_an_index_of_two_loops_breaks_where_it_does(ks0, ks1, ks2):
    """`x[torch.arange(n)[:, None] * 4 + torch.arange(m)]`."""
    end = ks1 // 8 * 8
    for check in cpp("index_two").checks:
        start, stop = (0, end) if check.part == "vector" else (end, ks1)
        broken = brute(
            {"x0": range(ks0), "x1": range(ks1)},
            lambda x0, x1, start=start, stop=stop: start <= x1 < stop,
            lambda x0, x1: x1 + 4 * x0,
            lambda i: i < ks2,
        )
        agrees(check.breaking({"ks0": ks0, "ks1": ks1, "ks2": ks2}), *broken)


def test_a_linear_index_of_a_billion_elements_needs_no_enumeration():
    (check,) = cpp("index_arange").checks
    found = check.breaking({"ks0": 10**12, "ks1": 10**12 - 10})
    assert (found.exact, found.count, found.first, found.largest) == (
        True, 7, {"x0": 10**12 - 7}, 10**12 - 4,
    )  # fmt: skip


def test_an_index_that_is_read_is_not_known_and_says_from_where():
    (check,) = recorded("gather_reduced").checks
    found = check.breaking({"r0_numel": 5000})
    assert not found.known and found.count is None
    assert "in_ptr0[r0_1]" in found.why


def test_without_the_sizes_nothing_is_claimed():
    (check,) = cpp("index_arange").checks
    found = check.breaking({"ks1": 5})
    assert not found.known and found.why == "how far x0 runs is not known"
    assert found.bound == 5


def test_a_remainder_over_too_many_elements_is_not_known():
    text = CHECKS.format(index="((x2 + ks0) % 5)", condition="x2 >= 0", mask="xmask")
    (check,) = inside_of(text).checks
    assert not check.breaking({"ks0": 1, "ks1": 3, "xnumel": 10**7}).known


def test_a_mask_that_is_read_makes_the_count_an_upper_limit():
    text = CHECKS.format(index="x2", condition="tl.load(in_ptr0 + (x2)) != 0", mask="tmp4 & xmask")
    (check,) = inside_of(text).checks
    found = check.breaking({"ks0": 0, "ks1": 3, "xnumel": 10})
    assert (found.known, found.exact, found.count) == (True, False, 7)
    assert "is not known" in found.why


def test_unmasked_lanes_beyond_the_end_are_said():
    text = CHECKS.format(index="x2", condition="x2 >= 0", mask="tmp4")
    (check,) = inside_of(text).checks
    found = check.breaking({"ks0": 0, "ks1": 3, "xnumel": 10})
    assert not found.exact and "lanes from the end of xindex on" in found.why


def test_the_bound_is_evaluated_with_sizes():
    checks = {str(c.bound): c for c in recorded("complex_sizes_2").checks}
    assert checks["(5 * ks0) + (5 * ks1)"].limit({"ks0": 2, "ks1": 1}) == 15


# ---------------------------------------------------------------- arithmetic


@pytest.mark.parametrize(
    ("text", "python", "cpp_", "triton"),
    [
        ("(-7) / 2", None, -3, None),
        ("(-7) % 2", 1, -1, None),
        ("7 % 2", 1, 1, 1),
        ("(-8) % 2", 0, 0, 0),
        ("c10::div_floor_integer(-7, 2)", None, -4, None),
        ("static_cast<int8_t>(300)", None, None, None),
        ("static_cast<int32_t>(300)", None, 300, None),
        ("static_cast<float>(3)", None, None, None),
        ("5 & 3", 1, 1, 1),
        ("(2 < 3) & (4 < 3)", 0, 0, 0),
        ("1 / 0", None, None, None),
    ],
)
def test_division_follows_the_language(text, python, cpp_, triton):
    """The C++ parser reads all of them; what is no Python is not asked of Python."""
    expr = parse_expression(text)
    assert expr is not None
    assert integer(expr, {}, Language.CPP) == cpp_
    if "::" not in text and "<" not in text.replace("< 3", "") and "/" not in text:
        assert integer(parse_python(text), {}, Language.PYTHON) == python
        assert integer(parse_python(text), {}, Language.TRITON) == triton


@given(st.integers(-50, 50), st.integers(-9, 9))
def test_python_floor_division_and_remainder_are_pythons(a, b):
    for op in ("//", "%"):
        value = integer(Op(op, (Num(a), Num(b))), {}, Language.PYTHON)
        assert value == (None if b == 0 else a // b if op == "//" else a % b)


@given(st.integers(-50, 50), st.integers(-9, 9))
def test_cpp_division_drops_the_fraction(a, b):
    quotient = integer(Op("/", (Num(a), Num(b))), {}, Language.CPP)
    remainder = integer(Op("%", (Num(a), Num(b))), {}, Language.CPP)
    if b == 0:
        assert quotient is None and remainder is None
    else:
        assert quotient == int(a / b)
        assert quotient * b + remainder == a


LEAVES = st.one_of(st.integers(-6, 6).map(Num), st.sampled_from([Name("x"), Name("k")]))


def _larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    comparison = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner, inner)
    conditions = comparison.map(lambda t: Op(t[0], t[1:]))
    joined = st.tuples(st.sampled_from(["&", "|"]), conditions, conditions).map(lambda t: Op(t[0], t[1:]))
    return st.one_of(
        st.tuples(st.sampled_from("+-*"), inner, inner).map(lambda t: Op(t[0], t[1:])),
        st.tuples(st.one_of(conditions, joined), inner, inner).map(lambda t: Op("?:", t)),
        st.tuples(st.sampled_from(["std::min", "tl.maximum"]), inner, inner).map(lambda t: Call(t[0], t[1:])),
        conditions.map(lambda c: Op("~", (c,))),
        joined,
    )


@settings(max_examples=300)
@given(
    st.recursive(LEAVES, _larger, max_leaves=12), st.integers(-5, 5), st.integers(0, 12), st.integers(-4, 4)
)
def test_pieces_have_the_values_of_the_expression(expr, low, width, k):
    line = Line("x", low, low + width, {"k": k}, Language.CPP)
    pieces, holds = line.pieces(expr), line.where(expr)
    if pieces is None:
        return
    values = [integer(expr, {"x": x, "k": k}, Language.CPP) for x in range(low, low + width)]
    got = {x: p.factor * x + p.offset for p in pieces for x in range(p.low, p.high)}
    assert [got.get(x) for x in range(low, low + width)] == values
    assert holds == of(x for x in range(low, low + width) if truth(expr, {"x": x, "k": k}, Language.CPP))


NUMBERS = st.sets(st.integers(-20, 20))


@given(NUMBERS, NUMBERS)
def test_sets_of_numbers_are_sets(a, b):
    assert union(of(a), of(b)) == of(a | b)
    assert common(of(a), of(b)) == of(a & b)
    assert without(of(a), of(b)) == of(a - b)
    assert size(of(a)) == len(a)
    assert interval(3, 3) == ()


def test_a_cpp_check_that_a_bool_excuses_says_that_it_never_fails():
    """`F.pad(x[torch.arange(n) * 2 - 6], (3, 4, 2, 1))`: `~true` is -2 in C++, so the whole condition holds."""
    (main, _) = cpp("padded_rows").checks
    found = main.breaking({"ks0": 20, "ks1": 20})
    assert (found.known, found.exact, found.count) == (True, False, 35)
    assert "never fails" in found.why


TURNED = """
@triton.jit
def made(in_ptr0, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    index = lanes[:, None] * BLOCK + lanes[None, :]
    tl.device_assert(index < n, "index")
"""


def test_a_block_along_two_axes_is_not_taken_for_one_lane():
    (check,) = inside_of(TURNED).checks
    found = check.breaking({"n": 10, "BLOCK": 4})
    assert not found.known and "which axis" in found.why


def test_what_a_wrapper_of_either_language_divides_is_known_only_where_both_agree():
    """`(s0 - 5) // 2` of a Python wrapper rounds down, `(s0 - 5) % 2` has another sign in C++."""
    inside = cpp("index_arange")
    arguments = tuple(
        Argument(n, param, text, ArgumentKind.EXPRESSION, "s0", parse_python(text))
        for n, (param, text) in enumerate({"ks0": "(s0 - 5) // 2", "ks1": "(s0 - 5) % 2"}.items())
    )
    launch = Launch(0, inside.kernel.name, Backend.CPP, 1, "", arguments)
    assert inside.sizes({"s0": 4}, launch) == {"ks0": -1, "s0": 4}
    assert inside.sizes({"s0": 8}, launch) == {"ks0": 1, "ks1": 1, "s0": 8}


LEFT = """
@triton.jit
def made(in_ptr0, ks0, XBLOCK: tl.constexpr):
    at = tl.arange(0, XBLOCK)
    if ks0 < 3:
        return
    for r in range(0, 8):
        if r < 2:
            continue
        tl.device_assert(at + r < ks0, "index")
"""


def test_what_stands_behind_a_return_or_a_continue_runs_only_otherwise():
    (check,) = inside_of(LEFT).checks
    assert check.breaking({"ks0": 2, "XBLOCK": 4}).count == 0
    broken = [(x, r) for x in range(4) for r in range(2, 8) if x + r >= 5]
    found = check.breaking({"ks0": 5, "XBLOCK": 4})
    assert (found.known, found.exact, found.count) == (True, True, len(broken))


def test_a_loop_that_may_break_off_has_no_known_end():
    (check,) = inside_of(LEFT.replace("continue", "break")).checks
    assert not check.breaking({"ks0": 5, "XBLOCK": 4}).known
