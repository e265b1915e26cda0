"""Triton bodies: statements, loads, stores and checks in program order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.body import Assign, Check, Loop, Store
from aoti_logs.code.expr import Load
from aoti_logs.code.model import Backend, Kernel
from aoti_logs.code.triton.body import parse_python, triton_body
from aoti_logs.sources.source import Kind, Source

# Cut from fixtures/gpu_empty_events: the kernel that `make demo` explains.
GATHER = """
@triton.jit
def triton_poi_fused_index_0(in_ptr0, in_ptr1, out_ptr0, ks0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    xnumel = 16
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    y0 = yindex
    x1 = xindex
    tmp0 = tl.load(in_ptr0 + (y0), ymask, eviction_policy='evict_last')
    tmp1 = ks0
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    tl.device_assert(((0 <= tmp4) & (tmp4 < ks0)) | ~(ymask), "index out of bounds: 0 <= tmp4 < ks0")
    tmp6 = tl.load(in_ptr1 + (x1 + 16*tmp4), xmask & ymask)
    tl.store(out_ptr0 + (x1 + 16*y0), tmp6, xmask & ymask)
"""


def body_of(text: str, name: str = "triton_poi_fused_index_0"):
    source = Source("k.py", Kind.TRITON_KERNEL, text.encode)
    return triton_body(Kernel(name, Backend.TRITON, source, 1, len(source.lines)))


def test_lines_are_those_of_the_source():
    (check,) = body_of(GATHER).checks
    assert check.line == 18
    assert GATHER.splitlines()[check.line - 1].strip().startswith("tl.device_assert")


def test_the_part_that_excuses_masked_lanes_is_kept_apart():
    (check,) = body_of(GATHER).checks
    assert str(check.condition) == "(0 <= tmp4) & (tmp4 < ks0)"
    assert str(check.mask) == "ymask"


def test_a_load_is_pointer_and_index():
    loads = [
        s.value for s in body_of(GATHER).statements if isinstance(s, Assign) and isinstance(s.value, Load)
    ]
    assert [(load.ptr, str(load.index)) for load in loads] == [
        ("in_ptr0", "y0"),
        ("in_ptr1", "x1 + (16 * tmp4)"),
    ]


def test_a_store_is_pointer_index_and_value():
    (store,) = [s for s in body_of(GATHER).statements if isinstance(s, Store)]
    assert (store.ptr, str(store.value), store.atomic) == ("out_ptr0", "tmp6", False)


def test_loops_tuples_and_atomics_are_read():
    body = body_of(
        "def k(in_ptr0, out_ptr0, r0_numel, R0_BLOCK: tl.constexpr):\n"
        "    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):\n"
        "        tmp4, = tl.associative_scan((tmp2,), 1, add)\n"
        "        a, b = f(tmp4)\n"
        "        tl.atomic_add(out_ptr0 + (tmp4), a, None, sem='relaxed')\n",
        "k",
    )
    assert [type(s) for s in body.statements] == [Loop, Assign, Assign, Assign, Store]
    assert body.statements[-1].atomic and not body.unread


@pytest.mark.parametrize(
    "head",
    ["i in values():", "i in tl.range():", "i in (1, 2):", "i, j in range(4):"],
)
def test_a_loop_that_does_not_count_is_unread_and_its_body_is_read(head):
    """No line is lost, and no range is claimed for its variable."""
    body = body_of(f"def k(in_ptr0, out_ptr0, n):\n    for {head}\n        tmp0 = i + n\n", "k")
    assert [type(s) for s in body.statements] == [Assign]
    assert body.unread == ((2, f"for {head}"),)


def test_a_torn_kernel_gives_what_is_there():
    torn = GATHER[: GATHER.index("tmp6 = ") + 20]
    body = body_of(torn)
    assert len(body.checks) == 1
    assert [n for n, _ in body.unread] == [19]


def test_the_kernel_is_found_among_its_helpers():
    body = body_of("@triton.jit\ndef _helper(a0, a1):\n    return a0 + a1\n\n" + GATHER)
    assert len(body.checks) == 1


def test_a_text_without_a_function_is_reported_not_raised():
    assert body_of("no kernel here").unread


@given(st.text(max_size=60))
def test_any_text_becomes_an_expression(text: str):
    str(parse_python(text))


@given(st.integers(0, len(GATHER)), st.text(max_size=5))
def test_damage_anywhere_never_raises(at: int, junk: str):
    body_of(GATHER[:at] + junk + GATHER[at:])


def test_deep_nesting_is_survived():
    parse_python("(" * 5000 + "1" + ")" * 5000)
    str(parse_python("-" * 3000 + "x"))


def test_check_statements_are_in_order_with_the_rest():
    kinds = [type(s) for s in body_of(GATHER).statements]
    assert kinds.index(Check) > kinds.index(Assign)
