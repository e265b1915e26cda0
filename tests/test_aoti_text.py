"""Texts of AOTInductor's runtime and loader, taken apart; which lines of a log are such texts, and which are not."""

import ctypes
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs._grammar import grammar_folder, parser
from aoti_logs.parse.aoti import facts
from aoti_logs.parse.aoti.codes import device_name, dtype_name
from aoti_logs.parse.aoti.load import deprecation
from aoti_logs.parse.aoti.text import CATALOGUE, read_aoti
from aoti_logs.parse.events import ErrorForm
from aoti_logs.parse.shape import tokens
from aoti_logs.parse.stacks.mangled import demangled
from tests.log_text import assert_partition, read
from tests.test_grammar_samples import samples

MISMATCH = [
    (  # torch 2.4 to 2.13
        "input_handles[0]: unmatched dtype, expected: 4(at::kLong), but got: 3",
        ("dtype", None, "int64", "int32"),
    ),
    (
        "input_handles[3]: unmatched dtype, expected: 15(at::kBFloat16), but got: 24",
        ("dtype", None, "bfloat16", "float8_e4m3fn"),
    ),
    (
        "input_handles[2]: unmatched dim value at 1, expected: 64, but got: 65",
        ("size", 1, 64, 65),
    ),
    (
        "input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1",
        ("size", 0, ">= 2", 1),
    ),
    (
        "input_handles[0]: dim value is too large at 0, expected to be <= 65536, but got: 70000",
        ("size", 0, "<= 65536", 70000),
    ),
    (
        "input_handles[0]: unmatched stride value at 0, expected: 8, but got: 16",
        ("stride", 0, 8, 16),
    ),
    (  # the code of the device is printed twice
        "input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0",
        ("device type", None, "cuda", "cpu"),
    ),
    (
        "input_handles[1]: unmatched device type, expected: 00(cpu), but got: 1",
        ("device type", None, "cpu", "cuda"),
    ),
]


@pytest.mark.parametrize(("text", "told"), MISMATCH)
def test_an_input_check_tells_attribute_and_both_values(text, told):
    found = read_aoti(text)
    assert isinstance(found, facts.InputMismatch)
    assert (found.attribute, found.dim, found.expected_value, found.got) == told


def test_an_unknown_code_stays_a_number():
    found = read_aoti("input_handles[0]: unmatched dtype, expected: 4(at::kLong), but got: 99")
    assert isinstance(found, facts.InputMismatch)
    assert found.got == "99"


@pytest.mark.live
def test_codes_of_dtypes_and_devices_are_those_of_the_installed_torch():
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    torch = ctypes.CDLL(str(Path(spec.origin).parent / "lib" / "libtorch_cpu.so"))
    for name in (
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "bool",
        "bfloat16",
    ):
        assert dtype_name(str(getattr(torch, f"aoti_torch_dtype_{name}")())) == name
    for name in ("float8_e5m2", "float8_e4m3fn", "complex64", "uint16", "uint32", "uint64"):
        assert dtype_name(str(getattr(torch, f"aoti_torch_dtype_{name}")())) == name
    for name in ("cpu", "cuda", "xpu", "mps", "meta"):
        assert device_name(str(getattr(torch, f"aoti_torch_device_type_{name}")())) == name


def test_arguments_of_a_call_are_split_outside_of_brackets():
    found = read_aoti(
        'aoti_torch_index_put_out(buf0, f(a, 2), std::array<AtenTensorHandle, 1>{arg1_1}.cbegin(), "a,b", 0L) '
        "API call failed at /srv/demo/c3f2.wrapper.cpp, line 892"
    )
    assert isinstance(found, facts.FailedCall)
    assert found.arguments == (
        "buf0",
        "f(a, 2)",
        "std::array<AtenTensorHandle, 1>{arg1_1}.cbegin()",
        '"a,b"',
        "0L",
    )
    assert (found.file, found.line, found.operator, found.phase) == (
        "/srv/demo/c3f2.wrapper.cpp",
        892,
        "index_put",
        None,
    )


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("create_func_", "load"),
        ("run_func_", "run"),
        ("update_constant_buffer_func_", "update"),
        ("update_user_managed_constant_buffer_func_", "update"),
        ("run_const_fold_func_", "constant_folding"),
        ("swap_constant_buffer_func_", "update"),
        ("get_num_outputs_func_", "query"),
        ("delete_func_", "unload"),
    ],
)
def test_an_entry_point_tells_what_the_runner_did(name, phase):
    found = read_aoti(f"{name}( container_handle_) API call failed at /pytorch/m.cpp, line 1")
    assert isinstance(found, facts.FailedCall)
    assert (found.is_runner, found.phase, found.operator) == (True, phase, None)


@pytest.mark.parametrize(
    ("shim", "operator"),
    [
        ("aoti_torch_cpu__embedding_bag_forward_only", "_embedding_bag_forward_only"),
        ("aoti_torch_cuda_mm_out", "mm"),
        ("aoti_torch_aten_narrow", "narrow"),
        ("aoti_torch_get_sizes", None),
        ("aoti_torch_check_inf_and_nan", None),
        ("run_func_", None),
    ],
)
def test_a_shim_stands_for_an_operator(shim, operator):
    assert facts.operator_of(shim) == operator


def test_a_rank_and_a_layout_that_differ_name_the_operator_below():
    rank = read_aoti("expected ndim 2 but got 3\nError in op: input")
    assert rank == facts.LayoutMismatch(3, 2, (), "input")
    layout = read_aoti(
        "expected size 3==3, stride 4==5 at dim=0; expected size 4==5, stride 1==1 at dim=1\n"
        "Error in op: torch.ops.aten.cumsum.default"
    )
    assert isinstance(layout, facts.LayoutMismatch)
    assert layout.op == "torch.ops.aten.cumsum.default"
    assert layout.dims[1] == facts.DimLayout(dim=1, size=4, expected_size=5, stride=1, expected_stride=1)


def test_a_missing_model_lists_models_and_files():
    text = (
        "Failed to find a generated cpp file or so file for model 'nope' in the zip archive.\n"
        "Available models:\nmodel\nother model\n"
        "To load a specific model, please provide its name using the `model_name` parameter when calling "
        "AOTIModelPackageLoader() or torch._inductor.package.load_package.\n"
        "The following files were found:\na/data/aotinductor/model/c.so\na/archive_format"
    )
    found = read_aoti(text)
    assert isinstance(found, facts.PackageError)
    assert found.available_models == ("model", "other model")
    assert found.files == ("a/data/aotinductor/model/c.so", "a/archive_format")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA error: an illegal memory access was encountered", type(None)),
        ("CUDA driver error: named symbol not found", facts.ImageError),
        ("Expected i < index_size to be true, but got false.", type(None)),
        ("Expected u0 <= s15 but received 9", facts.ScalarAssert),
        ("File not found: /srv/demo/data.csv", type(None)),
        ("File not found: /tmp/x/c_compile_flags.json", facts.PackageError),
        ("'Linear' object has no attribute 'weigth'", facts.VersionMismatch),
        ("", type(None)),
    ],
)
def test_a_text_is_told_by_all_of_its_words(text, kind):
    assert isinstance(read_aoti(text), kind)


def test_a_name_that_triton_lacks_is_told_from_any_other():
    other = read_aoti("'Linear' object has no attribute 'weigth'")
    assert isinstance(other, facts.VersionMismatch)
    assert not other.of_triton


def test_a_banner_names_both_entry_points_and_what_replaces_them():
    found = deprecation(
        "torch._export.aot_compile()/torch._export.aot_load() is being deprecated, please switch to directly calling "
        "torch._inductor.aoti_compile_and_package(torch.export.export())/torch._inductor.aoti_load_package() instead."
    )
    assert found is not None
    assert found["API"] == ["torch._export.aot_compile()", "torch._export.aot_load()"]
    assert found["REPLACEMENT"][1] == "torch._inductor.aoti_load_package()"


def test_a_mangled_name_is_read_without_a_demangler(monkeypatch):
    monkeypatch.setattr("aoti_logs.parse.stacks.mangled._by_library", lambda _: None)
    demangled.cache_clear()
    assert demangled("_ZN3c107WarningC1ESt7variantIJNS0_11UserWarningEEERKNS_14SourceLocationESsb") == (
        "c10::Warning::Warning"
    )
    assert demangled("_ZNK5torch8autograd4Node4nameEv") == "torch::autograd::Node::name"
    assert demangled("_ZTVN2at10TensorImplE") == "vtable for at::TensorImpl"
    assert demangled("aoti_torch_cpu_mm_out") is None
    assert demangled("_ZN99x") is None
    demangled.cache_clear()


LOGGED = [
    "[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: it went wrong\n",
    "[rank3]:[E520 19:20:12.156885067 shim_common.cpp:311] Exception in aoti_torch: it went wrong\n",
    "E0520 19:20:12.156885 41234 shim_common.cpp:311] Exception in aoti_torch: it went wrong\n",
]


@pytest.mark.parametrize("text", LOGGED)
def test_what_a_shim_logs_keeps_its_prefix(text):
    (error,) = read(text).errors
    assert isinstance(error.detail, facts.ShimException)
    assert (error.form, error.message) == (ErrorForm.SHIM, "it went wrong")
    assert (error.detail.month, error.detail.day, error.detail.line) == (5, 20, 311)
    assert_partition(read(text), len(text))


HOST = [
    ("load failed: Error in dlopen: /tmp/m.so: file too short\n", "/tmp/m.so"),
    ("/tmp/m/cqeq.so: undefined symbol: _binary_constants_bin_start\n", "/tmp/m/cqeq.so"),
    ("./run: symbol lookup error: /tmp/m.so: undefined symbol: aoti_torch_dtype_int64\n", "/tmp/m.so"),
]


@pytest.mark.parametrize(("text", "library"), HOST)
def test_a_host_program_may_print_the_loaders_words(text, library):
    (error,) = read(text).errors
    assert isinstance(error.detail, facts.DlopenError)
    assert error.detail.library == library


@pytest.mark.parametrize(
    "text",
    [
        '    throw std::runtime_error("Error in dlopen: " + path);\n',
        'raise RuntimeError("Failed to initialize zip archive: " + reason)\n',
        "note: undefined symbol: see the manual\n",
        "grep 'undefined symbol: x' log.txt\n",
    ],
)
def test_code_that_holds_such_words_is_no_error(text):
    assert read(text).errors == ()


def test_sources_of_a_wrapper_in_a_log_are_no_errors(fixtures_dir: Path):
    """Every wrapper holds `CUDA error: ...`, `Error: ` and the texts of all of its checks."""
    wrappers = sorted(fixtures_dir.rglob("*.wrapper.cpp"))
    assert wrappers
    for path in wrappers[:20]:
        assert read(path.read_bytes()).errors == (), path


SAMPLES = [
    (name, rule, text)
    for name in ("aoti_text", "aoti_call", "aoti_line")
    for rule, text in samples(grammar_folder() / f"{name}.lark")
]


@given(st.sampled_from(SAMPLES), st.lists(st.integers(0, 9), min_size=80, max_size=80))
def test_shapes_and_lark_alone_give_the_same_tokens(sample, digits):
    name, rule, text = sample
    more = iter(digits * 4)
    changed = "".join(str(next(more)) if c.isdigit() and c.isascii() else c for c in text)
    if name == "aoti_text" and changed != text and any(w in text for w in ("PT2", "L0 ", "0x", "V2")):
        changed = text
    try:
        tree = parser(name, rule).parse(changed)
    except Exception:
        assert tokens(name, rule, changed) is None
        return
    alone = [(t.type, t.start_pos, t.end_pos) for t in tree.scan_values(lambda v: v is not None)]
    assert tokens(name, rule, changed) == alone


@given(st.sampled_from(SAMPLES), st.integers(0, 200), st.integers(0, 40), st.text(max_size=12))
def test_a_damaged_text_is_refused_or_read_and_never_raises(sample, at, length, put):
    _, _, text = sample
    damaged = text[:at] + put + text[at + length :]
    read_aoti(damaged)
    deprecation(damaged)
    log = f"Error: {damaged}\nTraceback (most recent call last):\nRuntimeError: {damaged}\n"
    assert_partition(read(log), len(log.encode()))


def test_every_kind_of_text_has_a_sample():
    rules = {rule for _, rule, _ in SAMPLES}
    assert {form.rule for form in CATALOGUE} - rules == {"models"}
