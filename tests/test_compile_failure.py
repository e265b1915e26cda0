"""An exception of a compile, taken apart: what failed inside of what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.compiles.compile_failure import read_failure
from aoti_logs.parse.compiles.failure import (
    CompilerRun,
    FailureKind,
    Limit,
    Lowered,
    NodeCall,
    Undecided,
    Unsupported,
    Violations,
)

CXX = """CppCompileError: C++ compile error

Command:
/srv/demo/badcxx.sh /tmp/tmppf8c_znb/header.hpp -D STANDALONE -std=c++20 -E -P -o /tmp/tmppf8c_znb/header.i

Output:
fake.cpp:12:3: error: no matching function for call to foo
"""
NODE = "call_function <built-in function matmul>(*(FakeTensor(..., size=(3, 4)), FakeTensor(..., size=(5, 6))), **{})"
RAN = f"Dynamo failed to run FX node with fake tensors: {NODE}"
SAID = "a and b must have same reduction dim, but got [3, 4] X [5, 6]."
NO_COMPILER = "No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, '/bin/false')"
NO_KERNEL = (
    "Operator does not support running with fake tensors\n  Explanation: \n\n"
    "  Developer debug context: unsupported operator: demo.blend.default"
)
LOWERING = """LoweringException: NotImplementedError: this index is not lowered here
  target: aten.index.Tensor
  args[0]: TensorBox(StorageBox(
    InputBuffer(name='arg2_1', layout=FixedLayout('cpu', torch.float32, size=[s0, s1], stride=[s1, 1]))
  ))
  args[1]: True"""


@pytest.mark.parametrize(
    ("exception", "text", "kind", "inner"),
    [
        ("InductorError", CXX, FailureKind.CXX_ERROR, ("CppCompileError",)),
        ("CppCompileError", CXX.removeprefix("CppCompileError: "), FailureKind.CXX_ERROR, ()),
        (
            "torch._dynamo.exc.BackendCompilerFailed",
            f"backend='inductor' raised:\n{CXX}",
            FailureKind.CXX_ERROR,
            ("CppCompileError",),
        ),
        ("InductorError", f"InvalidCxxCompiler: {NO_COMPILER}", FailureKind.INVALID_CXX, ("InvalidCxxCompiler",)),
        (
            "InductorError",
            "InvalidCxxCompiler: Compiler: cl is not found.",
            FailureKind.INVALID_CXX,
            ("InvalidCxxCompiler",),
        ),
        ("InductorError", LOWERING, FailureKind.LOWERING, ("LoweringException", "NotImplementedError")),
        (
            "BackendCompilerFailed",
            "backend='broken' raised:\nRuntimeError: broken backend",
            FailureKind.BACKEND_FAILED,
            ("RuntimeError",),
        ),
        ("Unsupported", "Failed to trace builtin operator", FailureKind.DYNAMO_UNSUPPORTED, ()),
        ("InternalTorchDynamoError", "AttributeError: no size", FailureKind.OTHER, ("AttributeError",)),
        ("X", "", FailureKind.OTHER, ()),
        (
            "UnsupportedOperatorException",
            "demo.blend.default",
            FailureKind.UNSUPPORTED_OPERATOR,
            (),
        ),
        ("FailOnRecompileLimitHit", "Hard failure due to fullgraph=True", FailureKind.RECOMPILE_LIMIT, ()),
        ("RecompileLimitExceeded", "cache_size_limit reached", FailureKind.RECOMPILE_LIMIT, ()),
    ],
)  # fmt: skip
def test_kind_and_inner_types(exception, text, kind, inner):
    failure = read_failure(exception, text)
    assert (failure.kind, failure.inner) == (kind, inner)


def test_the_repr_of_a_class_is_its_name():
    """Torch 2.4 writes `fail_type` so."""
    failure = read_failure("<class 'torch._dynamo.exc.UserError'>", "40 not in range [2, 16]")
    assert (failure.exception_type, failure.class_name) == ("torch._dynamo.exc.UserError", "UserError")
    assert failure.kind is FailureKind.CONSTRAINT


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        (f"Failed running {NODE}:\n{SAID}", ()),
        (
            f"{RAN}: got RuntimeError({SAID!r})",
            ("RuntimeError",),
        ),
        (
            f"RuntimeError when making fake tensor call\n  Explanation: {RAN}: got RuntimeError({SAID!r})\n  Hint: Check it.",
            ("RuntimeError",),
        ),
    ],
    ids=["2.4", "2.9", "2.13"],
)
def test_a_node_that_fake_tensors_refuse(text, inner):
    failure = read_failure("TorchRuntimeError", text)
    assert failure.kind is FailureKind.FAKE_TENSOR
    assert (failure.message, failure.inner) == (SAID, inner)
    assert failure.detail == NodeCall("call_function", "<built-in function matmul>")


def test_a_missing_fake_kernel_is_found_in_every_wording():
    for exception, text in [
        ("Unsupported", "unsupported operator: demo.blend.default (see https://example.org for how to fix)"),
        ("Unsupported", NO_KERNEL),
        ("torch._subclasses.fake_tensor.UnsupportedOperatorException", "demo.blend.default"),
    ]:  # fmt: skip
        failure = read_failure(exception, text)
        assert (failure.kind, failure.operator) == (FailureKind.UNSUPPORTED_OPERATOR, "demo.blend.default")


def test_an_operator_of_custom_op_without_fake_kernel_did_not_refuse_its_inputs():
    text = (
        "RuntimeError when making fake tensor call\n"
        "  Explanation: Dynamo failed to run FX node with fake tensors: call_function mylib.foo.default"
        "(*(FakeTensor(..., size=(3,)),), **{}): got RuntimeError('There was no fake impl registered for "
        "<CustomOpDef(mylib::foo)>. This is necessary for torch.compile/export/fx tracing to work. Please use "
        "`foo.register_fake` to add an fake impl.')\n"
    )
    failure = read_failure("torch._dynamo.exc.TorchRuntimeError", text)
    assert (failure.kind, failure.operator) == (FailureKind.UNSUPPORTED_OPERATOR, "mylib.foo")


def test_a_lowering_has_its_operator_and_arguments():
    detail = read_failure("InductorError", LOWERING).detail
    assert isinstance(detail, Lowered)
    assert detail.target == "aten.index.Tensor"
    assert [n for n, _ in detail.args] == [0, 1]
    assert "size=[s0, s1]" in detail.args[0][1]


def test_a_lowering_that_is_told_twice_has_its_arguments_once():
    one = "NotImplementedError: no sin\n  target: aten.sin.default\n  args[0]: TensorBox(StorageBox(\n    InputBuffer()\n  ))"
    text = f'LoweringException: {one}{one}\nFound from : \n File "a.py", line 5, in forward\n    def forward(self, x): ...'
    detail = read_failure("InductorError", text).detail
    assert detail == Lowered("aten.sin.default", ((0, "TensorBox(StorageBox(\n  InputBuffer()\n))"),))


def test_the_backend_is_named():
    assert read_failure("BackendCompilerFailed", "backend='b' raised:\nValueError: x").backend == "b"
    assert read_failure("InductorError", "ValueError: x").backend == "inductor"


def test_hints_of_dynamo_are_kept_apart():
    text = (
        "Data-dependent branching\n  Explanation: Detected data-dependent branching.\n  Hint: Use `torch.cond`.\n"
        "  Hint: This one\n    has two lines.\n\n  Developer debug context: attempted to jump\n\n"
        " For more details about this graph break, please visit: https://example.org/gb0170.html"
    )
    detail = read_failure("Unsupported", text).detail
    assert detail == Unsupported(
        "Detected data-dependent branching.",
        ("Use `torch.cond`.", "This one has two lines."),
        "attempted to jump",
        "https://example.org/gb0170.html",
    )


def test_the_frames_of_the_user_are_no_part_of_the_message():
    text = 'x cannot be traced\n\nfrom user code:\n   File "a.py", line 99, in forward\n    if x.sum() > 0:\n\nSet TORCH_LOGS="+dynamo"'
    failure = read_failure("Unsupported", text)
    (frame,) = failure.user_frames
    assert (frame.file, frame.line, frame.function, frame.code) == ("a.py", 99, "forward", "if x.sum() > 0:")


def test_a_condition_inside_of_a_wrapper_is_data_dependent():
    text = (
        "Failed running call_module L__self___act(*(Parameter(FakeTensor(..., size=(512,))),), **{}):\n"
        "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)"
    )
    failure = read_failure("RuntimeError", text)
    assert failure.kind is FailureKind.DATA_DEPENDENT
    assert isinstance(failure.detail, Undecided)
    assert (failure.detail.expression, failure.detail.symbols, failure.detail.size_like) == (
        "Eq(u0, 1)",
        ("u0",),
        (),
    )


def test_a_limit_in_the_text_of_unsupported_is_a_limit():
    text = (
        "Dynamo recompile limit exceeded\n  Explanation: Dynamo attempted to recompile the code object too many times, "
        "exceeding the recompile_limit cache size limit (currently set to 2). Excessive recompilations can degrade"
    )
    assert read_failure("Unsupported", text).detail == Limit("recompile_limit", 2)


NAMES = st.sampled_from(
    ["InductorError", "BackendCompilerFailed", "Unsupported", "UserError", "TorchRuntimeError", "LoweringException",
     "ConstraintViolationError", "UnsupportedOperatorException", "<class 'x'>", "", "InternalTorchDynamoError"]
)  # fmt: skip
PIECES = st.sampled_from(
    ["backend='x' raised:", "Command:\n", "\nOutput:\n", "CppCompileError: ", "  - You marked ", " as dynamic but your code",
     "Could not guard on data-dependent expression ", "(unhinted: ", "Failed running call_function f(*(), **{}):", "\n",
     "  target: a\n", "  args[0]: b", "a.cpp:1:2: error: x", " hit config.recompile_limit (2)", "Suggested fixes:\n",
     "unsupported operator: ", "from user code:\n", '  File "a", line 1, in f', "\x00", "\ud800", "é", "((((", "'"]
)  # fmt: skip


@given(NAMES, st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=12).map("".join))
def test_no_text_raises(name, text):
    failure = read_failure(name or None, text)
    assert isinstance(failure.kind, FailureKind)
    assert isinstance(
        failure.detail, CompilerRun | Violations | Undecided | NodeCall | Lowered | Limit | Unsupported | None
    )


@given(st.lists(st.sampled_from(["InductorError", "InternalTorchDynamoError"]), min_size=1, max_size=5))
def test_wrapped_types_come_out_in_order(wrappers):
    outer, *inside = wrappers
    text = "".join(f"{name}: " for name in inside) + "KeyError: 'k'"
    assert read_failure(outer, text).inner == (*inside, "KeyError")


def test_a_long_hostile_text_takes_no_time():
    """Words that begin a form, a hundred thousand times."""
    import time

    for piece in (
        "- Not all values of x are valid because ",
        "Failed running f(*(",
        "Caused by: (a in b) # ",
        "'): ",
    ):
        start = time.perf_counter()
        read_failure("UserError", piece * 50_000)
        read_failure("UserError", "Could not guard on data-dependent expression " + piece * 50_000)
        assert time.perf_counter() - start < 5


def test_the_exception_of_a_worker_process_is_inside():
    text = (
        "backend='inductor' raised:\nSubprocException: An exception occurred in a subprocess:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 1, in job\n    raise ValueError("no: Error")\n'
        "triton.compiler.errors.CompilationError: at 56:48:\n    x = y\n"
    )
    failure = read_failure("BackendCompilerFailed", text)
    assert failure.inner == ("SubprocException", "triton.compiler.errors.CompilationError")
    assert failure.message == "at 56:48:"


def test_an_assertion_without_text_has_no_message():
    assert (
        read_failure(
            "LoweringException", "AssertionError: \n  target: aten.embedding.default\n  args[0]: 1"
        ).message
        == ""
    )
