"""The commonest forms of a line are read by an expression; the grammar says the same of every text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.parse.asserts.assertion import (
    condition,
    condition_by_grammar,
    device_line,
    device_line_by_grammar,
)
from aoti_logs.parse.stacks.stack import raised_place, raised_place_by_grammar

OPERANDS = [
    "tmp4",
    "tmp12",
    "tl.broadcast_to(tmp26, [XBLOCK, R0_BLOCK])",
    "tl.broadcast_to(tmp1, [XBLOCK])",
    "(tmp1)",
    "and",
]
BOUNDS = ["ks0", "s77", "32000", "1000L", "5LL", "ks0*2", "1 + ks0", "0", "tmp3", ""]
CONDITIONS = st.builds(
    "index out of bounds: {}{}{}{}".format,
    st.sampled_from(["0 <= ", "", " 0 <= ", "1 <= ", "0L <= ", "0  <= "]),
    st.sampled_from(OPERANDS),
    st.sampled_from([" < ", " <= ", "<", " <  "]),
    st.sampled_from(BOUNDS),
)
FILES = [
    "/tmp/t/k4/ck46.py",
    "unknown",
    "C:\\t\\x.cu",
    "/a b/x.py",
    "<frozen importlib._bootstrap>",
    "a[0].py",
    " x.py",
    "x.py ",
]
FUNCTIONS = [
    "unknown: ",
    "operator(): ",
    "lambda ->auto::operator()(int)->auto: ",
    "",
    "block: ",
    "a `b`: ",
    "f [x]: ",
    "f : ",
]
MESSAGES = [
    "index out of bounds: 0 <= tmp4 < ks0", "i >= -s[i] && \"x\"", "a `b` c", " x ", "x` failed. Assertion `y", "", "é", "failed.",
]  # fmt: skip
DEVICE_LINES = st.builds(
    "{}:{}: {}block: [{},0,0], thread: [{},0,0] Assertion `{}` failed{}".format,
    st.sampled_from(FILES),
    st.sampled_from(["39", "0", "9" * 30, "x"]),
    st.sampled_from(FUNCTIONS),
    st.sampled_from(["0", "24127", "9" * 40]),
    st.integers(0, 1023),
    st.sampled_from(MESSAGES),
    st.sampled_from([".", "", ". ", ".."]),
)
RAISED = st.builds(
    "Exception raised from {} at {}:{} (most recent call first):{}".format,
    st.sampled_from(
        ["operator()", "f at g", "f(int) const", " f", "f ", "", "at", "é", "run_impl at x.cpp:3"]
    ),
    st.sampled_from(
        ["/pytorch/c10/cuda/CUDAException.cpp", "../x.cpp", "/a b/x.cpp", "C:\\x.cpp", "x.cpp:3", ""]
    ),
    st.sampled_from(["43", "0", "9" * 30, "-1"]),
    st.sampled_from(["", " ", " x"]),
)
SETTINGS = settings(deadline=None, max_examples=200)


@given(CONDITIONS)
@SETTINGS
def test_a_plain_condition_is_that_of_the_grammar(text):
    assert condition(text) == condition_by_grammar(text)


@given(
    st.one_of(DEVICE_LINES, st.tuples(DEVICE_LINES, st.integers(0, 90)).map(lambda t: t[0][: -t[1] or None]))
)
@SETTINGS
def test_a_plain_device_line_is_that_of_the_grammar(text):
    assert device_line(text) == device_line_by_grammar(text)


@given(RAISED)
@SETTINGS
def test_a_plain_place_of_an_exception_is_that_of_the_grammar(text):
    assert raised_place(text) == raised_place_by_grammar(text)
