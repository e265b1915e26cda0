"""What a failing model is advised to run follows the release that compiled it, and inputs that were printed are compared."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.triton.narrow_products import narrow_products
from aoti_logs.code.wrapper_release import Releases
from aoti_logs.explain import Finding
from aoti_logs.rules.device_suspects import custom_operators, suspects
from aoti_logs.rules.given_inputs import given_inputs

FIXTURES = Path(__file__).parent.parent / "fixtures"
CORPUS = Path(os.environ.get("AOTI_LOGS_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
needs_corpus = pytest.mark.skipif(not CORPUS.exists(), reason="no corpus of real runs")
PYTHON = 'File "/opt/torch/torch/export/pt2_archive/_package.py", line 743 in __call__'
DEATH = f"Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f22671bcb80 (most recent call first):\n  {PYTHON}\n"


def cause(log: Path, context: Path) -> Finding:
    return next(f for f in aoti_logs.load(log, context=context).explain() if f.role == "cause")


def of(name: str) -> Finding:
    return cause(FIXTURES / name / "run.log", FIXTURES / name)


def wrapper(end: str = "} // AOTInductorModel::run_impl\n", gate: str = "", weights: str = ", true") -> str:
    """Lines of torch/_inductor/codegen/cpp_wrapper_cpu.py that tell a release; the rest does not matter here."""
    return (
        "#include <torch/csrc/inductor/aoti_runtime/interface.h>\n"
        "AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map)\n"
        f"    : AOTInductorModelBase(1, 1, 0, device_str, cubin_dir{weights}) {{\n"
        '    inputs_info_[0].name = "arg0_1";\n}\n'
        f"{gate}void AOTInductorModel::run_impl(\n    AtenTensorHandle* input_handles\n) {{\n{end}"
    )


def releases(folder: Path, text: str) -> Releases:
    (folder / "model.wrapper.cpp").write_text(text)
    return aoti_logs.load(folder).evidence.releases


def test_the_function_that_reads_the_variable_came_with_2_7(tmp_path):
    assert releases(
        tmp_path, wrapper(gate="static bool _check_aoti_runtime_check_inputs_env() {\n}\n")
    ).since((2, 7))
    assert releases(tmp_path, wrapper()).before((2, 7))


def test_a_wrapper_without_its_end_does_not_show_what_it_lacks(tmp_path):
    assert not releases(tmp_path, wrapper(end="")).before((2, 7))


def test_a_constructor_without_a_word_on_weights_is_older_than_2_6(tmp_path):
    assert releases(tmp_path, wrapper(weights="")).before((2, 6))


def test_code_that_contradicts_itself_tells_no_release(tmp_path):
    told = releases(
        tmp_path, wrapper(weights="", gate="static bool _check_aoti_runtime_check_inputs_env() {\n}\n")
    )
    assert told == Releases()


@pytest.mark.parametrize(
    ("weights", "env"),
    [
        ("", {"AOT_INDUCTOR_DEBUG_COMPILE": "1", "TORCHINDUCTOR_ABI_COMPATIBLE": "1"}),
        (", true", {"AOT_INDUCTOR_DEBUG_COMPILE": "1"}),
    ],
)
def test_a_model_of_2_6_or_older_is_compiled_again_for_its_checks(tmp_path, weights, env):
    (tmp_path / "model.wrapper.cpp").write_text(wrapper(weights=weights))
    (tmp_path / "run.log").write_text(DEATH)
    found = cause(tmp_path / "run.log", tmp_path)
    first = found.experiments[0]
    assert (found.rule, dict(first.env), first.takes_effect) == ("AL310", env, "compile")
    assert "no check of this code tests that" in str(found.verdicts[0].because)
    assert "device" in (first.care or "")


def test_without_code_the_variable_is_named_with_the_releases_that_do_not_read_it(tmp_path):
    (tmp_path / "run.log").write_text(DEATH)
    first = cause(tmp_path / "run.log", tmp_path).experiments[0]
    assert dict(first.env) == {"AOTI_RUNTIME_CHECK_INPUTS": "1"}
    assert "before 2.7" in (first.care or "")


def test_code_of_torch_compile_is_not_asked_to_check_its_inputs(tmp_path):
    file = "/tmp/torchinductor_me/7c/c7c3y4zsxfoctwksbqzxtp3mvtt6nfiyqapgzeyxd4sjzg2iq54k.py"
    (tmp_path / "run.log").write_text(DEATH.replace(PYTHON, f'File "{file}", line 9 in call'))
    found = cause(tmp_path / "run.log", tmp_path)
    assert found.rule == "AL310"
    assert not any("AOTI_RUNTIME_CHECK_INPUTS" in dict(e.env) for e in found.experiments)


def test_weights_that_come_with_the_library_are_no_suspects():
    because = str(of("gpu_ten_user_kernel").verdicts[0].because)
    assert "never loaded" not in because
    assert "never loaded" in str(of("cpu_death_model_call").verdicts[0].because)


def test_an_input_that_was_printed_is_compared_with_the_checks_of_the_code():
    found = of("cpu_aoti_printed_input")
    assert found.rule == "AL213"
    assert found.verdicts[0].because[0] == (
        "likely the cause: `x` was given with size 6 in dimension 1, and the model was compiled for 8"
    )
    assert [k.step for k in found.chain][-1] == "given"
    assert not found.experiments


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cpu_printer_int32_ids", "likely the cause: `ids` was given as int32, and the model reads int64"),
        ("cpu_printer_strided_index", "likely the cause: `idx` was given with stride 2 in dimension 0"),
        ("cpu_printer_empty_table", "possible: `table` was given with size 0 in dimension 0"),
        ("cpu_printer", "what was printed of `ids`"),
        ("gpu_nan_printed", "what was printed of `x`"),
        ("cpu_ok", ""),
    ],
)
def test_printed_inputs_fit_or_not(name, said):
    run = aoti_logs.load(FIXTURES / name / "run.log", context=FIXTURES / name)
    ((_, events),) = [(s, e) for s, e in run.evidence.logs if s.name.endswith("run.log")]
    told = given_inputs(events, run.evidence, 1 << 40).because
    assert (told[0] if told else "").startswith(said)


def test_an_int32_product_of_a_users_kernel_is_named_with_the_program_where_it_overflows():
    (said,) = [b for b in of("gpu_ten_user_kernel").verdicts[0].because if "int32" in b and "`row" in b]
    assert "overflows from program 53,688 on (stride = 40000)" in said


def test_the_block_of_a_sanitizers_report_proves_the_overflow():
    (said,) = [b for b in of("gpu_ten_user_kernel_next").verdicts[0].because if "int32 does not hold" in b]
    assert "53,735 * 40,000 = 2,149,400,000" in said and "wraps to -2,145,567,296" in said


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("tl.load(x + tl.program_id(0) * stride)", ["tl.program_id(0) * stride"]),
        ("row = tl.program_id(axis=1)\n    tl.load(x + stride * row)", ["stride * row"]),
        ("tl.load(x + tl.program_id(0).to(tl.int64) * stride)", []),
        ("row = tl.program_id(0).to(tl.int64)\n    tl.load(x + row * stride)", []),
        ("row = tl.program_id(0)\n    row = tl.load(x)\n    tl.load(x + row * stride)", []),
        ("tl.load(x + tl.program_id(0) * wide)", []),
        ("tl.load(x + columns * stride)", []),
        ("for i in range(9):\n        tl.load(x + tl.program_id(2) * stride)", ["tl.program_id(2) * stride"]),
        ("tl.load(x + (", []),
    ],
)
def test_products_of_a_program_and_an_int32_parameter_are_read(tmp_path, body, found):
    text = f"@triton.jit\ndef scale(x, stride, columns, wide):\n    {body}\n"
    (tmp_path / "output_code.py").write_text(
        f"# AOT ID: ['0_inference']\nimport triton\nscale_0 = async_compile.triton('scale_0', '''\n{text}''', device_str='cuda')\n\n"
        "def call(args):\n    scale_0.run(arg0_1, 40000, 1, 2, stream=stream0)\n"
    )
    types = {"x": "*fp32", "stride": "i32", "columns": "i32", "wide": "i64"}
    kernels = [k for c in aoti_logs.load(tmp_path).evidence.base.wrappers for k in c.kernels]
    assert [p.text for k in kernels for p in narrow_products(k, types)] == found


def test_of_two_launches_with_other_strides_the_report_names_none(tmp_path):
    import shutil

    shutil.copytree(FIXTURES / "gpu_ten_user_kernel_next", tmp_path / "run")
    (wrapper,) = (tmp_path / "run").rglob("*.wrapper.cpp")
    text = wrapper.read_text()
    start = text.index("    call_row_totals_kernel_0(arg0_1, buf0, 40000, 40000,")
    launch = text[start : text.index(";", start) + 1]
    wrapper.write_text(text.replace(launch, f"{launch}\n{launch.replace('40000, 40000', '50000, 50000')}"))
    run = aoti_logs.load(tmp_path / "run" / "run.log", context=tmp_path / "run")
    found = next(f for f in run.explain().findings if f.rule == "AL303" and f.role == "cause")
    said = [b for b in found.verdicts[0].because if "int32 does not hold" in b and "`row" in b]
    assert len(said) == 2
    assert all(b.startswith("possible: in the launch with stride = ") for b in said)


def test_a_product_that_no_grid_makes_overflow_is_no_suspect():
    from aoti_logs.code.triton.narrow_products import NarrowProduct
    from aoti_logs.rules.device_suspects import Product
    from aoti_logs.sources.source import Place

    def product(axis, value):
        told = NarrowProduct(1, "pid * stride", axis, "stride")
        return Product("k_0", "k", told, Place("k.py", 1, 1), value, None, constant=False)

    assert product(0, 128).can_overflow and product(1, 40_000).can_overflow
    assert not product(1, 128).can_overflow  # 65,535 blocks at most along y
    assert not product(0, 1).can_overflow


def test_custom_operators_are_suspects_with_the_word_on_symints():
    evidence = aoti_logs.load(FIXTURES / "cpu_package_operators").evidence
    assert custom_operators(evidence) == ("demo::mix", "demo::shift")
    assert "SymInts" in suspects(evidence)[0]
    assert suspects(aoti_logs.load(FIXTURES / "cpu_printer").evidence) == ()


@given(st.text("tlprogam_id().*xstride=+ \n:for in", max_size=120))
@settings(max_examples=60, deadline=None)
def test_no_text_of_a_kernel_keeps_products_from_being_read(text):
    from aoti_logs.code.model import Backend, Kernel
    from aoti_logs.sources.source import Kind, Source

    code = f"@triton.jit\ndef k(x, stride):\n    {text}\n"
    kernel = Kernel(
        "k", Backend.TRITON, Source("k.py", Kind.TRITON_KERNEL, code.encode), 1, code.count("\n") + 1
    )
    for product in narrow_products(kernel, {"x": "*fp32", "stride": "i32"}):
        assert product.text and 1 <= product.line <= kernel.end_line


@needs_corpus
@pytest.mark.corpus
def test_what_the_last_kernel_was_given_is_judged():
    folder = CORPUS / "gpu-torch2.11" / "ima_custom_op_printer2"
    because = cause(folder / "run_ima.log", folder).verdicts[0].because
    assert any("was given no NaN, no infinity and no empty tensor (`buf1`" in b for b in because)


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize(("release", "compiles"), [("torch24", True), ("torch26", True), ("torch29", False)])
def test_a_death_in_a_real_model_gets_the_check_of_its_release(release, compiles):
    folder = CORPUS / "versions" / release / "fail_load"
    explanation = aoti_logs.load(folder / "run_meta_faulthandler.log", context=folder).explain()
    found = next(f for f in explanation if f.role == "cause")
    assert (found.experiments[0].takes_effect == "compile") is compiles
    steps = [s.name for s in explanation.plan(found).steps]
    assert ("check the inputs" in steps) is not compiles
    assert ("compile with checks of the inputs" in steps) is compiles
