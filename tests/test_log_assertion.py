"""Device and CPU assertions in every form that the programs print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.asserts.assertion import condition
from aoti_logs.parse.events import AssertionForm
from tests.log_text import CPU, CUDA, TERMINATE, read


@pytest.mark.parametrize(
    ("text", "operand", "name", "lower", "bound", "kind", "value", "symbols"),
    [
        ("0 <= tmp4 < ks0", "tmp4", "tmp4", "0", "ks0", "symbol", None, ("ks0",)),
        ("0 <= tmp4 < (-1) + ks0", "tmp4", "tmp4", "0", "(-1) + ks0", "symbolic_expr", None, ("ks0",)),
        ("0 <= tmp4 < ks0*ks1", "tmp4", "tmp4", "0", "ks0*ks1", "symbolic_expr", None, ("ks0", "ks1")),
        ("0 <= tmp7 < 1000L", "tmp7", "tmp7", "0", "1000L", "literal", 1000, ()),
        ("0 <= tmp7 < 5LL", "tmp7", "tmp7", "0", "5LL", "literal", 5, ()),
        ("y0 < 256", "y0", "y0", None, "256", "literal", 256, ()),
        ("0 <= tmp4", "tmp4", "tmp4", "0", None, None, None, ()),
        (
            "0 <= tl.broadcast_to(tmp26, [XBLOCK, R0_BLOCK]) < 131072",
            "tl.broadcast_to(tmp26, [XBLOCK, R0_BLOCK])",
            "tmp26",
            "0",
            "131072",
            "literal",
            131072,
            (),
        ),
        (
            "0 <= tmp2 < c10::div_floor_integer(static_cast<int64_t>(ks0), static_cast<int64_t>(2L))",
            "tmp2",
            "tmp2",
            "0",
            "c10::div_floor_integer(static_cast<int64_t>(ks0), static_cast<int64_t>(2L))",
            "symbolic_expr",
            None,
            ("ks0",),
        ),
        ("0 <= tmp2 < std::max<int64_t>({ks0, ks1, 2L})", "tmp2", "tmp2", "0", "std::max<int64_t>({ks0, ks1, 2L})", "symbolic_expr", None, ("ks0", "ks1")),
        ("0 <= x0 + 3*tmp1 < (ks0 // 2)", "x0 + 3*tmp1", "x0", "0", "(ks0 // 2)", "symbolic_expr", None, ("ks0",)),
        ("0 <= tmp1 < ((ks0) * ((ks0) <= (7)) + (7) * ((7) < (ks0)))", "tmp1", "tmp1", "0", "((ks0) * ((ks0) <= (7)) + (7) * ((7) < (ks0)))", "symbolic_expr", None, ("ks0",)),
    ],
)  # fmt: skip
def test_condition_is_taken_apart(text, operand, name, lower, bound, kind, value, symbols):
    got = condition("index out of bounds: " + text)
    assert got is not None
    assert (got.full, got.operand, got.operand_name, got.lower, got.bound) == (
        text,
        operand,
        name,
        lower,
        bound,
    )
    assert (got.bound_kind, got.bound_value, got.bound_symbols) == (kind, value, symbols)


NAMES = st.from_regex(r"(tmp|ks|x|s)[0-9]{1,3}", fullmatch=True)
ATOMS = st.one_of(NAMES, st.integers(0, 10**9).map(str), st.integers(0, 10**9).map("{}L".format))
SIZES = st.recursive(
    ATOMS,
    lambda s: st.one_of(
        st.tuples(s, st.sampled_from([" + ", "*", " // ", " % ", " - "]), s).map("".join),
        s.map("({})".format),
        st.tuples(st.sampled_from(["triton_helpers.div_floor_integer", "tl.minimum", "std::min"]), s, s).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    ),
    max_leaves=6,
)


@given(NAMES, SIZES)
def test_any_size_expression_is_the_bound_as_printed(operand, size):
    got = condition(f"index out of bounds: 0 <= {operand} < {size}")
    assert got is not None
    assert (got.operand, got.lower, got.bound) == (operand, "0", size)


def test_unreadable_condition_keeps_its_text():
    got = condition("index out of bounds: 0 <= ??? < 3")
    assert got is not None
    assert (got.full, got.operand) == ("0 <= ??? < 3", None)


PLACES = [
    ("/tmp/x/ck46.py:30: unknown: ", "/tmp/x/ck46.py", 30, "unknown"),
    ("unknown:0: unknown: ", "unknown", 0, "unknown"),
    ("<frozen importlib._bootstrap_external>:940: _call_with_frames_removed: ", "<frozen importlib._bootstrap_external>", 940, "_call_with_frames_removed"),
    ("<frozen runpy>:198: _run_code: ", "<frozen runpy>", 198, "_run_code"),
    ("../aten/src/ATen/native/cuda/IndexKernel.cu:92: operator(): ", "../aten/src/ATen/native/cuda/IndexKernel.cu", 92, "operator()"),
    ("/w/IndexKernel.cu:60: lambda ->auto::operator()(int)->auto: ", "/w/IndexKernel.cu", 60, "lambda ->auto::operator()(int)->auto"),
    ("C:\\w\\IndexKernel.cu:91: ", "C:\\w\\IndexKernel.cu", 91, None),
    ("/w/THC.cu:378: long f(A, B<C, D>) [with C = unsigned int, D = 2U]: ", "/w/THC.cu", 378, "long f(A, B<C, D>) [with C = unsigned int, D = 2U]"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "file", "line", "function"), PLACES)
@pytest.mark.parametrize("prefix", ["", "[rank3]:", "[rank3]: ", "  ", "\x1b[31m"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_place_variants_with_any_prefix_and_line_end(place, file, line, function, prefix, end):
    text = f"{prefix}{place}block: [1,2,3], thread: [4,5,6] Assertion `index out of bounds: 0 <= tmp3 < 352` failed.{end}"
    (got,) = read(text).assertions
    assert (got.form, got.file, got.line, got.function) == (AssertionForm.CUDA, file, line, function)
    assert got.rank == (3 if "rank" in prefix else None)
    assert (got.blocks, got.threads, got.count) == (((1, 2, 3),), ((4, 5, 6),), 1)
    assert not got.glued


@pytest.mark.parametrize("at", range(60, 150, 7))
def test_line_folded_anywhere_is_one_assertion(at):
    folded = CUDA[:at] + "\n" + CUDA[at:]
    (got,) = read(folded).assertions
    assert (got.message, got.line, got.count) == ("index out of bounds: 0 <= tmp4 < ks0", 33, 1)


def test_assertion_behind_a_progress_bar_is_glued():
    events = read("Epoch 1 - 20%|## | 10/50 [00:01<00:04]" + CUDA)
    (got,) = events.assertions
    assert got.glued
    assert got.file is not None
    assert got.file.startswith("/tmp/demo")
    assert got.first.text == CUDA
    assert events.unparsed[0].span.text == "Epoch 1 - 20%|## | 10/50 [00:01<00:04]"


def test_two_assertions_on_one_line_are_two():
    (got,) = read(CUDA.rstrip("\n") + CUDA.replace("37", "38")).assertions
    assert (got.count, got.n_threads) == (2, 2)


def test_aten_condition_has_no_index_text():
    text = CUDA.replace(
        "index out of bounds: 0 <= tmp4 < ks0", 'i >= -s[i] && i < s[i] && "index out of bounds"'
    )
    (got,) = read(text).assertions
    assert got.text is None
    assert got.message == 'i >= -s[i] && i < s[i] && "index out of bounds"'


def test_eaten_back_ticks_are_not_needed():
    (got,) = read(CUDA.replace("`", "")).assertions
    assert got.message == "index out of bounds: 0 <= tmp4 < ks0"


def test_hip_form_has_neither_block_nor_thread():
    (got,) = read(
        "device assertion failed: 'index out of bounds: 0 <= tmp4 < ks0', in unknown at /tmp/x.py:30\n"
    ).assertions
    assert (got.form, got.file, got.line, got.n_blocks) == (AssertionForm.HIP, "/tmp/x.py", 30, 0)


def test_xpu_form_has_global_and_local_ids():
    text = "/t/helpers.py:248: unknown: global id: [1,0,0], local id: [2,0,0] Assertion `injected assert fail` failed.\n"
    (got,) = read(text).assertions
    assert (got.form, got.blocks, got.threads, got.text) == (
        AssertionForm.XPU,
        ((1, 0, 0),),
        ((2, 0, 0),),
        None,
    )


def test_text_that_announces_an_assertion_and_is_none_has_a_row_of_its_own():
    events = read("ok\nx.py: block: [q,0,0], thread: [0,0,0] Assertion `a` failed.\nok\n")
    assert [u.expected for u in events.unparsed] == ["text", "device assertion", "text"]


def test_source_text_is_no_assertion():
    text = (
        '    tl.device_assert((0 <= tmp18) & (tmp18 < ks0), "index out of bounds: 0 <= tmp18 < ks0")\n'
        '    AOTI_TORCH_CHECK((0 <= tmp7) & (tmp7 < ks0), "index out of bounds: 0 <= tmp7 < ks0");\n'
        '    throw std::runtime_error("CUDA error: an illegal memory access was encountered");\n'
    )
    events = read(text)
    assert not events.assertions
    assert not events.errors


def test_cpu_assertion_printed_twice_is_one_with_its_place():
    events = read(CPU)
    (got,) = events.assertions
    assert (got.form, got.count, got.file, got.line, got.function) == (
        AssertionForm.CPU, 2, "/srv/demo/cache/c6qf23hrglc6.kernel.cpp", 208, "cpp_fused_index_0",
    )  # fmt: skip
    assert [e.form.value for e in events.errors] == ["aoti_error", "python"]
    assert len(events.stacks) == 2


def test_one_line_form_of_torch_compile_has_file_line_and_function():
    (got,) = read(
        "Compiled raised: RuntimeError: kernel, /tmp/t/q5/cq52.main.cpp:13, index out of bounds: tmp1 < 2L\n"
    ).assertions
    assert (got.file, got.line, got.function) == ("/tmp/t/q5/cq52.main.cpp", 13, "kernel")
    assert got.text is not None
    assert got.text.one_sided


def test_terminate_carries_the_assertion():
    events = read(TERMINATE)
    (error,) = events.errors
    assert error.exception_type == "c10::Error"
    assert error.assertion is not None
    assert error.assertion.line == 32
