"""Constants of wrappers: every field that the constructor writes, over all releases, and what is folded of what."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.packages.folding import foldings
from aoti_logs.code.wrapper_cpp.constants import ModelBase, constants, model_base
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.sources.source import Kind, Source

FIXTURES = Path(__file__).parent.parent / "fixtures"
SIZES = {
    "float32": 4,
    "float64": 8,
    "int64": 8,
    "int32": 4,
    "float16": 2,
    "bfloat16": 2,
    "bool": 1,
    "uint8": 1,
    "int8": 1,
}


def source(text: str) -> Source:
    return Source("x.wrapper.cpp", Kind.WRAPPER_CPP, text.encode)


def read(text: str):
    told = source(text)
    return list(constants(told, 0, told.size))


# torch 2.13, `CppWrapperCpu.codegen_model_constructor`; the others as torch 2.6 and 2.4 printed them.
@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("cached_torch_dtype_float32", "float32"),
        ("static_cast<int32_t>(cached_torch_dtype_float32)", "float32"),
        ("static_cast<int32_t>(at::kFloat)", "float32"),
        ("static_cast<int32_t>(at::kLong)", "int64"),
        ("static_cast<int32_t>(at::kBFloat16)", "bfloat16"),
        ("cached_torch_dtype_float8_e4m3fn", "float8_e4m3fn"),
        ("aoti_torch_dtype_int64()", "int64"),
        ("something_else", None),
    ],
)
def test_a_dtype_has_the_name_that_torch_gives_it(dtype: str, name: str | None):
    (constant,) = read(f"constants_info_[0].dtype = {dtype};")
    assert constant.dtype == name


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("static_cast<int32_t>(cached_torch_layout_strided)", "strided"),
        ("static_cast<int32_t>(at::kStrided)", "strided"),
        ("static_cast<int32_t>(cached_torch_layout__mkldnn)", "_mkldnn"),
        ("static_cast<int32_t>(at::kMkldnn)", "_mkldnn"),
    ],
)
def test_a_layout_has_the_name_that_torch_gives_it(layout: str, name: str):
    (constant,) = read(f"constants_info_[0].layout = {layout};")
    assert constant.layout == name


def test_an_opaque_tensor_has_the_size_of_its_description():
    (constant,) = read("constants_info_[0].opaque_metadata = {1L, 22L, 3L};")
    assert constant.opaque_metadata_size == 3
    (other,) = read('constants_info_[0].name = "w";')
    assert other.opaque_metadata_size is None


@pytest.mark.parametrize(
    ("call", "include"),
    [
        ("AOTInductorModelBase(2, 1, 6, device_str, cubin_dir) {", None),
        ("AOTInductorModelBase(2, 1, 6, device_str, cubin_dir, true) {", True),
        ("AOTInductorModelBase(2,\n 1,\n 6,\n device_str,\n std::move(cubin_dir),\n false) {", False),
    ],
)
def test_the_constructor_says_whether_the_library_brings_its_weights(call: str, include: bool | None):
    told = source(f"    : {call}")
    base = model_base(told, 0, told.size)
    assert isinstance(base, ModelBase)
    assert (base.inputs, base.outputs, base.constants, base.include_weights) == (2, 1, 6, include)
    assert base.include_line == 1 + call.count("\n")


@pytest.mark.parametrize("call", ["AOTInductorModelBase(2, 1", "AOTInductorModelBase(2, 1, n, a, b, true) {", "AOTInductorModelBase(1, 1, 1, a, b, maybe) {"])  # fmt: skip
def test_a_constructor_of_another_form_says_nothing(call: str):
    told = source(call)
    assert model_base(told, 0, told.size) is None


def test_all_types_of_constants_are_told():
    run = aoti_logs.load(FIXTURES / "cpu_package_program" / "model.pt2")
    types = dict(run.constants.select("name", "constant_type").iter_rows())
    assert types == {
        "words_weight": "Parameter",
        "layer_weight": "Parameter",
        "layer_bias": "Parameter",
        "scale": "Buffer",
        "_tensor_constant0": "TensorConstant",
    }
    rows = run.constants.sort("index")
    # All of them lie one behind the other.
    ends = (rows["value_offset"] + rows["data_size"]).to_list()
    assert rows["value_offset"].to_list() == [0, *ends[:-1]]
    assert ends[-1] == run.packages["weights_bytes"].max()


def test_folded_constants_name_what_they_are_computed_of():
    run = aoti_logs.load(FIXTURES / "cpu_package_folded" / "model.pt2")
    folded = run.constants.filter(run.constants["from_folded"])
    (row,) = folded.iter_rows(named=True)
    assert row["constant_type"] == "FoldedConstant" and row["value_in"] == "computed"
    assert sorted(row["folded_of"]) == ["bias", "gain"]
    assert any(call.startswith("cpp_fused") for call in row["folded_by"])
    others = run.constants.filter(~run.constants["from_folded"])
    assert others["folded_of"].null_count() == others.height


def test_objects_of_classes_are_constants_without_an_index():
    run = aoti_logs.load(FIXTURES / "cpu_package_object" / "model.pt2")
    rows = run.constants.filter(run.constants["constant_type"] == "CustomObject")
    (row,) = rows.iter_rows(named=True)
    assert row["index"] is None and row["value_present"] and row["value_file"].endswith("custom_obj_0")


WRAPPER = (
    "std::unordered_map<std::string, AtenTensorHandle> AOTInductorModel::const_run_impl() {\n"
    '    folded_constants_map["f"] = output_handles[0];\n    folded_constants_map["g"] = output_handles[1];\n}\n'
    "void AOTInductorModel::_const_run_impl(\n    std::vector<AtenTensorHandle>& output_handles\n) {\n"
    "    [[maybe_unused]] auto& a = constants_->at(0);\n    [[maybe_unused]] auto& b = constants_->at(1);\n"
    "    static constexpr int64_t int_array_0[] = {4L, };\n    AtenTensorHandle buf0_handle;\n"
    "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_0, int_array_0, x, y, 0, &buf0_handle));\n"
    "    RAIIAtenTensorHandle buf0(buf0_handle);\n"
    "    cpp_fused_exp_0((const float*)(a.data_ptr()), (float*)(buf0.data_ptr()));\n"
    "    output_handles[0] = buf0.release();\n    aoti_torch_clone(b, &output_handles[1]);\n"
    "} // AOTInductorModel::_const_run_impl\n"
)


def test_a_folded_constant_reads_what_its_own_calls_touch():
    """Sizes that two tensors share do not join them."""
    found = foldings(source(WRAPPER))
    assert (found["f"].reads, found["f"].calls) == (("a",), ("cpp_fused_exp_0",))
    assert found["g"].reads == ("b",)


def test_a_folding_that_cannot_be_read_is_not_known():
    found = foldings(source(WRAPPER.split("void AOTInductorModel", maxsplit=1)[0]))
    assert found["f"].reads is None and found["f"].calls is None


@given(st.text(max_size=200), st.integers(0, len(WRAPPER)))
def test_code_that_was_changed_never_raises(text: str, at: int):
    changed = WRAPPER[:at] + text + WRAPPER[at:]
    for told in foldings(source(changed)).values():
        assert told.calls is None or told.reads is not None
    read(changed)
    model_base(source(changed), 0, len(changed))


@pytest.mark.corpus
def test_every_wrapper_of_the_corpus_describes_all_of_its_constants(corpus_dir: Path):
    seen = 0
    for path in sorted(corpus_dir.glob("**/*.cpp")):
        data = path.read_bytes()
        if b"AOTInductorModelBase(" not in data:
            continue
        wrapper = WrapperFile(Source(path.name, Kind.WRAPPER_CPP, path.read_bytes))
        base = wrapper.base
        assert base is not None, path
        assert [c.index for c in wrapper.constants] == list(range(base.constants)), path
        assert len(wrapper.inputs) == base.inputs, path
        old = "torch24" in path.parts
        assert (base.include_weights is None) == old, path
        for c in wrapper.constants:
            assert c.name and c.fqn and c.shape is not None and c.stride is not None, path
            assert len(c.shape) == len(c.stride) and c.layout == "strided" and c.offset == 0
            elements = 1
            for extent in c.shape:
                elements *= extent
            assert c.dtype in SIZES and c.data_size is not None
            assert c.data_size >= elements * SIZES[c.dtype]
            assert (c.constant_type is None) == old, path
            assert (c.device is None) == bool({"torch24", "torch26", "torch29"} & set(path.parts)), path
            seen += 1
    assert seen > 150
