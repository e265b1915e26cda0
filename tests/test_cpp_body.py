"""Bodies of C++ kernels: every statement, meant for one element, with its line and block.

The kernels in tests/cpp_kernels were written by torch 2.13 and 2.4; `masked_vector.cpp` is what
`F.pad(w[x], (3, 9)) + 1` becomes with AVX-512, `masked_scalar.cpp` the same without vectors and with dynamic sizes.
"""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.code.body import Assign, Body, Check, Loop, Param, Store
from aoti_logs.code.cpp.body import body_of, cpp_body
from aoti_logs.code.expr import Call, Load, Name, Num, walk
from aoti_logs.sources.source import Kind, Source

KERNELS = Path(__file__).parent / "cpp_kernels"
ALL = sorted(p.stem for p in KERNELS.glob("*.cpp"))
CHECK = re.compile(r'CHECK\(.*"([^"]*)"\);')


def kernel(name: str) -> Body:
    return body_of((KERNELS / f"{name}.cpp").read_text())


def inside(
    statements: str, params: str = "const int64_t* in_ptr0, float* out_ptr0, const int64_t ks0"
) -> Body:
    return body_of(f'extern "C"  void  kernel({params})\n{{\n{statements}\n}}\n')


def assigned(body: Body, target: str) -> list[str]:
    return [str(s.value) for s in body.statements if isinstance(s, Assign) and s.target == target]


def stores(body: Body) -> list[tuple[str, str, str, bool]]:
    return [(s.ptr, str(s.index), str(s.value), s.atomic) for s in body.statements if isinstance(s, Store)]


def loops(body: Body) -> list[tuple[str, str, str]]:
    return [(s.var, str(s.start), str(s.stop)) for s in body.statements if isinstance(s, Loop)]


@pytest.mark.parametrize("name", ALL)
def test_nothing_of_a_real_kernel_is_unread(name):
    assert kernel(name).unread == ()


@pytest.mark.parametrize("name", ALL)
def test_every_check_of_a_real_kernel_is_found_at_its_line(name):
    text = (KERNELS / f"{name}.cpp").read_text()
    wanted = [(n, m[1]) for n, line in enumerate(text.split("\n"), 1) if (m := CHECK.search(line))]
    assert [(c.line, c.message) for c in kernel(name).checks] == wanted


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ('extern "C"  void  cpp_fused_gt_0(const float* in_ptr0, const int64_t ks0)', "cpp_fused_gt_0"),
        ('extern "C" void kernel(const float* in_ptr0,\n                       const long ks0)', "kernel"),
        ('extern "C" __attribute__((visibility("default"))) void kernel(float* in_ptr0, long ks0)', "kernel"),
        ('extern "C" __declspec(dllexport) void  kernel(float* in_ptr0, long ks0)', "kernel"),
        (
            '#include "/tmp/k/x.h"\nextern "C" void C10_ALWAYS_INLINE_ATTRIBUTE f(float* in_ptr0, int ks0)',
            "f",
        ),
    ],
)
def test_heads_of_all_versions(head, name):
    body = body_of(head + "\n{\n    auto tmp0 = in_ptr0[0];\n}\n")
    assert (body.name, [p.name for p in body.params], body.unread) == (name, ["in_ptr0", "ks0"], ())


def test_parameters_have_their_types():
    assert kernel("masked_scalar").params == (
        Param("in_ptr0", "const int64_t*", pointer=True),
        Param("in_ptr1", "const float*", pointer=True),
        Param("out_ptr0", "float*", pointer=True),
        Param("ks0", "const int64_t", pointer=False),
        Param("ks1", "const int64_t", pointer=False),
    )


def test_scalar_load_and_store():
    body = inside(
        "    auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];\n    out_ptr0[static_cast<int64_t>(x0)] = tmp0;"
    )
    assert body.statements == (
        Assign("tmp0", Load("in_ptr0", Name("x0")), 3),
        Store("out_ptr0", Name("x0"), Name("tmp0"), 4),
    )


def test_vector_load_and_store_are_those_of_one_element():
    body = inside(
        "auto tmp0 = at::vec::VectorizedN<int64_t,2>::loadu(in_ptr0 + static_cast<int64_t>(x1), 16);\n"
        "tmp0.store(out_ptr0 + static_cast<int64_t>(x1 + 4L*x0), static_cast<int64_t>(16));"
    )
    assert assigned(body, "tmp0") == ["in_ptr0[x1]"]
    assert stores(body) == [("out_ptr0", "x1 + (4 * x0)", "tmp0", False)]


def test_bool_vector_is_loaded_as_a_mask():
    body = inside("auto tmp0 = at::vec::VecMask<float,1>::from(in_ptr0 + static_cast<int64_t>(x0), 16);")
    assert assigned(body, "tmp0") == ["in_ptr0[x0]"]


def test_broadcast_of_a_scalar_mask_is_no_load():
    body = inside("auto tmp4 = ks0 > 1;\nauto tmp5 = at::vec::VecMask<float,1>::from(tmp4);")
    assert assigned(body, "tmp5") == ["at::vec::VecMask::from<float, 1>(tmp4)"]


def test_lambda_that_spreads_a_vector_is_the_vector():
    assert assigned(kernel("masked_vector"), "tmp18")[0] == "tmp17"


def test_lambda_that_fills_lanes_is_the_value_of_one_lane():
    assert assigned(kernel("masked_vector"), "tmp19")[0] == "static_cast<int64_t>(tmp18)"


def test_gather_in_a_lambda_is_a_load_with_the_index_of_one_lane_and_its_mask():
    (load, *_) = [
        s.value for s in kernel("masked_vector").statements if isinstance(s, Assign) and s.target == "tmp21"
    ]
    assert load == Load("in_ptr1", Name("tmp18"), Name("tmp9"))


def test_masked_vector_load_has_its_mask():
    (load, *_) = [
        s.value for s in kernel("masked_vector").statements if isinstance(s, Assign) and s.target == "tmp11"
    ]
    assert isinstance(load, Load)
    assert (load.ptr, str(load.index), str(load.mask)) == ("in_ptr0", "-3 + x0", "tmp9")


def test_checks_of_vectors_test_one_element():
    checks = kernel("masked_vector").checks
    assert {(c.message, str(c.condition), str(c.mask)) for c in checks} == {
        ("index out of bounds: 0 <= tmp19 < 64L", "(0 <= tmp19) & (tmp19 < 64)", "tmp9")
    }


def test_checks_in_the_tail_of_a_vector_loop_are_found_too():
    assert len({c.scope for c in kernel("masked_vector").checks}) == 2


def test_masked_body_stays_visible_and_its_name_has_its_value():
    body = kernel("masked_scalar")
    assert assigned(body, "tmp9") == ["in_ptr0[-3 + x0]"]
    assert assigned(body, "tmp8") == ["tmp18"]
    assert assigned(body, "tmp19") == ["tmp7 ? tmp8 : static_cast<decltype(tmp8())>(0.0)"]


def test_check_in_a_masked_body_is_excused_by_the_mask_under_which_it_is_called():
    (check,) = kernel("masked_scalar").checks
    assert check.mask == Name("tmp7")


def test_load_in_a_masked_body_has_the_mask_under_which_it_is_called():
    loads = [n for s in kernel("masked_scalar").statements if isinstance(s, Assign) for n in walk(s.value)]
    assert {(n.ptr, str(n.mask)) for n in loads if isinstance(n, Load)} == {
        ("in_ptr0", "tmp7"),
        ("in_ptr1", "tmp7"),
    }


def test_atomic_adds_are_stores():
    assert [s for s in stores(kernel("scatter_atomic")) if s[3]] == [("out_ptr0", "tmp12", "tmp9", True)] * 2
    body = inside("atomic_add(&out_ptr0[static_cast<int64_t>(x1 + 4L*tmp5)], static_cast<float>(tmp6));")
    assert stores(body) == [("out_ptr0", "x1 + (4 * tmp5)", "static_cast<float>(tmp6)", True)]


def test_store_lane_by_lane_is_one_store():
    body = inside(
        "[&]\n{\n__at_align__ std::array<float, 16> tmpbuf;\ntmp3.store(tmpbuf.data(), static_cast<int64_t>(16));\n"
        "#pragma GCC unroll 16\nfor (long x1_inner = 0; x1_inner < static_cast<int64_t>(16); x1_inner++)\n{\n"
        "out_ptr0[static_cast<int64_t>(x0 + 64L*x1 + 64L*x1_inner)] = tmpbuf[x1_inner];\n}\n}\n()\n;"
    )
    assert stores(body) == [("out_ptr0", "x0 + (64 * x1)", "tmp3", False)]
    assert body.unread == ()


def test_transposed_tile_is_a_load():
    body = kernel("transposed_tile")
    assert assigned(body, "tmp0")[0].startswith("in_ptr0[")
    assert assigned(body, "tmp1")[0] == "tmp0[4 * x1_inner]"


def test_loops_have_their_bounds():
    assert ("x0", "0", "12 + ks0") in loops(kernel("masked_scalar"))


def test_loop_variable_is_visible_in_the_loop_only():
    first, second = [s for s in kernel("norm_torch24").statements if isinstance(s, Loop) and s.var == "x1"]
    uses = [
        s.scope for s in kernel("norm_torch24").statements if isinstance(s, Assign) and s.target == "tmp0"
    ]
    assert [u[: len(s.scope)] == s.scope for u, s in zip(uses, (first, second), strict=True)] == [True, True]
    assert first.scope != second.scope


def test_names_of_sister_blocks_have_different_scopes():
    scopes = [
        s.scope for s in kernel("scatter_atomic").statements if isinstance(s, Assign) and s.target == "tmp7"
    ]
    assert len(set(scopes)) == 2


def test_accumulator_keeps_the_scope_of_its_declaration():
    first, update = [
        s for s in kernel("norm_torch24").statements if isinstance(s, Assign) and s.target == "tmp_acc0_vec"
    ]
    assert update.scope == first.scope
    assert update.inside is not None
    assert update.inside[: len(update.scope)] == update.scope


def test_alias_of_a_pointer_is_memory():
    body = inside("auto out_ptr1 = out_ptr0;\nout_ptr1[ks0] = 1;")
    assert assigned(body, "out_ptr1") == ["out_ptr0"]
    assert stores(body) == [("out_ptr1", "ks0", "1", False)]


def test_local_array_is_no_memory():
    body = inside("float tmp_acc0_arr[2];\nfor (int i = 0; i < 2; i++)\n{\ntmp_acc0_arr[i] = 0;\n}\n")
    assert stores(body) == []
    assert assigned(body, "tmp_acc0_arr") == ["0"]


def test_adding_to_memory_reads_it():
    assert stores(inside("out_ptr0[ks0] += tmp1;")) == [("out_ptr0", "ks0", "out_ptr0[ks0] + tmp1", False)]


def test_result_given_through_an_address_is_assigned():
    body = inside("int32_t tmp1;\nauto tmp2 = std::frexp(tmp0, &tmp1);")
    assert assigned(body, "tmp1") == assigned(body, "tmp2") == ["std::frexp(tmp0, &tmp1)"]


def test_assertion_written_as_a_throw_is_a_check():
    body = inside('(tmp3 ? 0 : (throw std::runtime_error("values must be positive"), 0));')
    assert body.checks == (Check("values must be positive", Name("tmp3"), 3),)


def test_returns_of_a_lambda_make_a_conditional():
    body = inside("auto tmp1 =\n[&]()\n{\nif (tmp0 < 0)\n{\nreturn 0L;\n}\nreturn tmp0 << 1;\n}\n()\n;")
    assert assigned(body, "tmp1") == ["(tmp0 < 0) ? 0 : (tmp0 << 1)"]


def test_check_behind_a_label_is_found():
    body = inside(
        'switch (ks0) {\ncase 1: { break; }\ndefault:\nTORCH_CHECK(false, "Unsupported block_m: 4");\n}'
    )
    assert [(c.message, c.line) for c in body.checks] == [("Unsupported block_m: 4", 6)]


def test_loop_without_initial_value_steps_its_variable():
    body = inside("int64_t d = 0;\nfor (; d < ks0; d += 4)\n{\nout_ptr0[d] = 1;\n}")
    assert assigned(body, "d") == ["0", "d + 4"]


def test_loop_over_a_range():
    assert loops(inside("for ([[maybe_unused]] auto z : c10::irange(begin, ks0))\n{\n}")) == [
        ("z", "begin", "ks0")
    ]


def test_call_that_may_write_memory_is_unread():
    body = inside("    micro_gemm(in_ptr0, out_ptr0, ks0);\n    auto tmp0 = ks0;")
    assert body.unread == ((3, "micro_gemm(in_ptr0, out_ptr0, ks0)"),)
    assert assigned(body, "tmp0") == ["ks0"]


def test_reading_goes_on_after_a_statement_that_cannot_be_read():
    body = inside("    auto tmp0 = ks0;\n    this is : not ?? c++;\n    auto tmp1 = tmp0;")
    assert body.unread == ((4, "this is : not ?? c++"),)
    assert assigned(body, "tmp1") == ["tmp0"]


def test_checks_in_a_lambda_with_parameters_are_found():
    body = inside(
        "at::parallel_for(0, ks0, 1, [&](int64_t begin, int64_t end) {\n"
        'TORCH_CHECK((0 <= tmp7) & (tmp7 < ks0), "index out of bounds: 0 <= tmp7 < ks0");\n});'
    )
    assert [c.message for c in body.checks] == ["index out of bounds: 0 <= tmp7 < ks0"]


def test_comments_braces_in_text_and_directives_do_not_confuse_blocks():
    body = inside(
        '// }\n/* { */\n#pragma omp parallel {\nTORCH_CHECK(ks0 > 1, "a } b \\" {");\nauto tmp0 = ks0;'
    )
    assert [c.message for c in body.checks] == ['a } b " {']
    assert assigned(body, "tmp0") == ["ks0"]


def test_lines_are_those_of_the_source():
    text = "import torch\n\nkernel = async_compile.cpp_pybinding(['float*'], r'''\n"
    text += "extern \"C\"  void  kernel(float* in_out_ptr0)\n{\n    in_out_ptr0[0] = 1;\n}\n''')\nx = {}\n"
    source = Source("output_code.py", Kind.OUTPUT_CODE, text.encode)
    body = cpp_body(source, 4, 9)
    assert body.statements == (Store("in_out_ptr0", Num(0), Num(1), 6),)
    assert body.unread == ()


def test_declaration_without_body_has_parameters():
    body = body_of('extern "C"  void  cpp_fused_0(const float* in_ptr0, const int64_t ks0);')
    assert (body.name, len(body.params), body.statements) == ("cpp_fused_0", 2, ())


@pytest.mark.parametrize("name", ALL)
def test_torn_kernel_gives_what_is_there(name):
    text = (KERNELS / f"{name}.cpp").read_text()
    whole = body_of(text)
    for end in range(0, len(text), max(1, len(text) // 40)):
        part = body_of(text[:end])
        lines = text.count("\n", 0, end)
        wanted = [s for s in whole.checks if s.line <= lines]
        assert [(c.line, c.message) for c in part.checks][: len(wanted)] == [
            (c.line, c.message) for c in wanted
        ]


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="abx0=+*<>(){}[];:,.&\"'/#\n \\?-", max_size=200))
def test_any_text_gives_a_body(text):
    body_of("void f(int a) {" + text)
    body_of(text)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_damage_to_one_place_keeps_the_rest(data):
    text = (KERNELS / "masked_scalar.cpp").read_text()
    at = data.draw(st.integers(0, len(text)))
    body_of(text[:at] + data.draw(st.text(max_size=5)) + text[at + data.draw(st.integers(0, 20)) :])


@pytest.mark.parametrize(
    "piece", ["{", "(", "[&]{", "for(;;) ", "if(a){", "}", "a;", '"', "/*", "[&](", "x<", "else "]
)
def test_hostile_repetition_costs_no_depth_and_little_time(piece):
    begin = time.process_time()
    body_of("void f(int a) {" + piece * 4_000)
    assert time.process_time() - begin < 20


@pytest.mark.corpus
def test_every_check_message_of_the_corpus_is_found_at_its_line(corpus_dir):
    seen, kernels, unread, missing = set(), 0, [], []
    for path in sorted([*corpus_dir.rglob("*.cpp"), *corpus_dir.rglob("*output_code*")]):
        lines = path.read_text(errors="replace").split("\n") if path.is_file() else []
        for start in (n for n, line in enumerate(lines) if line.startswith('extern "C"')):
            end = next(
                (n for n in range(start, len(lines)) if lines[n].startswith(("}", "extern")) and n > start), 0
            )
            text = "\n".join(lines[start : end + 1])
            if text in seen or "{" not in text or lines[start].rstrip().endswith(("{", ";")):
                continue
            seen.add(text)
            body = body_of(text)
            kernels += 1
            unread += [(path.name, *u) for u in body.unread]
            found = {(c.line, c.message) for c in body.checks}
            wanted = {(n, m[1]) for n, one in enumerate(text.split("\n"), 1) if (m := CHECK.search(one))}
            missing += [(path.name, start, w) for w in wanted - found]
    assert kernels > 50
    assert missing == []
    assert unread == []


@pytest.mark.parametrize("name", ALL)
def test_nothing_of_a_lambdas_arrays_is_left(name):
    values = [s.value for s in kernel(name).statements if isinstance(s, Assign | Store)]
    for node in (n for v in values for n in walk(v)):
        assert not (isinstance(node, Name) and node.id.startswith("tmpbuf"))
        assert not (isinstance(node, Call) and node.func in {"[&]", "()"})
