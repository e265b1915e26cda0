"""Rules about AOTInductor's loader and runtime: where they speak, what they leave open, and what is not theirs."""

from pathlib import Path

import pytest

import aoti_logs
from aoti_logs.explain import Confidence, Finding

HEADER = "Traceback (most recent call last):\n"
PACKAGE = "/opt/venv/lib/python3.11/site-packages/torch/export/pt2_archive/_package.py"
LOADER = "/opt/venv/lib/python3.11/site-packages/torch/_inductor/package/package.py"
CALL = (
    f'{HEADER}  File "/srv/demo/serve.py", line 12, in main\n    out = model(ids, table)\n'
    f'  File "{PACKAGE}", line 743, in __call__\n    flat_outputs = self.loader.boxed_run(flat_inputs)\n'
)
LOAD = (
    f'{HEADER}  File "/srv/demo/serve.py", line 9, in main\n    model = load_package(path)\n'
    f'  File "{LOADER}", line 135, in load_package\n    loader = torch._C._aoti.AOTIModelPackageLoader(\n'
)
USER = f'{HEADER}  File "/srv/demo/serve.py", line 12, in main\n    out = other(x)\n'
RUNNER = (
    "run_func_( container_handle_, input_handles.data(), proxy_executor_handle_) API call failed at "
    "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 145"
)
SHIM = "aoti_torch_cpu_addmm_out(buf1, w, arg0_1, 1L, 1L) API call failed at /srv/demo/c3f2.wrapper.cpp, line 892"
SHAPES = "mat1 and mat2 shapes cannot be multiplied (3x1 and 2x1)"
RAISED = (
    "Exception raised from meta at ../aten/src/ATen/native/LinearAlgebra.cpp:189 (most recent call first):\n"
)
FRAME = (
    "frame #0: at::meta::structured_addmm::meta(at::Tensor const&, at::Tensor const&) + 0x460 "
    "(0x71f4cdb875b0 in /opt/lib/libtorch_cpu.so)\n"
)


@pytest.fixture
def explain(tmp_path: Path):
    def run(text: str) -> list[Finding]:
        (tmp_path / "run.log").write_text(text)
        return list(aoti_logs.load(tmp_path / "run.log").explain())

    return run


def cause(findings: list[Finding]) -> Finding:
    (found,) = [f for f in findings if f.role == "cause"]
    return found


SPEAKS = [
    (
        f"Error: input_handles[0]: unmatched dtype, expected: 4(at::kLong), but got: 3\n\n{CALL}RuntimeError: {RUNNER}\n",
        ("AL201", "aoti_input_mismatch"),
        {"expected_value": "int64", "got_value": "int32", "phase": "run", "exception_type": "RuntimeError"},
    ),
    (
        "Error: input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1\n\n",
        ("AL206", "aoti_input_mismatch"),
        {"expected_value": ">= 2", "got_value": 1},
    ),
    (
        "Error: input_handles[0]: dim value is too small at 0, expected it to be >= 16, but got: 1\n\n",
        ("AL201", "aoti_input_mismatch"),
        {"expected_value": ">= 16"},
    ),
    (
        f"{CALL}RuntimeError: expected inputs vector size to be 3, but got 2\n",
        ("AL202", "aoti_input_count_mismatch"),
        {"expected_inputs": 3, "got_inputs": 2},
    ),
    (
        f"{LOAD}RuntimeError: Unsupported device key found: cuda\n",
        ("AL203", "aoti_device_mismatch"),
        {"package_device": "cuda", "phase": "load"},
    ),
    (
        (
            "Error: Mixed-device constants are only supported when the secondary device is CPU. Constant 'w' was compiled for a "
            "non-CPU device. Hint: This can happen if you compiled on GPU.\n"
        ),
        ("AL203", "aoti_device_mismatch"),
        {"constant": "w"},
    ),
    (
        f"Error: Expected u0 <= s15 but received 9\n{CALL}RuntimeError: Expected u0 <= s15 but received 9\n",
        ("AL204", "runtime_assert"),
        {"condition": "u0 <= s15", "received": "9"},
    ),
    (
        f"{LOAD}RuntimeError: Error in dlopen: /tmp/m.so: undefined symbol: aoti_torch_cuda_mm_out\n",
        ("AL210", "aoti_dlopen_error"),
        {"library": "/tmp/m.so", "undefined_symbol": "aoti_torch_cuda_mm_out"},
    ),
    (
        f"{LOAD}RuntimeError: Failed to initialize zip archive: not a ZIP archive\n",
        ("AL211", "aoti_package_error"),
        {"reason": "not a ZIP archive"},
    ),
    (
        f"{LOAD}RuntimeError: Constant not found: nope.weight\n",
        ("AL212", "aoti_constant_error"),
        {"constant": "nope.weight"},
    ),
    (
        f"Error: {SHIM}\n{CALL}RuntimeError: {SHAPES}\n{RAISED}{FRAME}",
        ("AL213", "aoti_shim_exception"),
        {"op": "addmm", "wrapper_line": 892, "message": SHAPES, "inner_error": SHAPES},
    ),
    (
        f"Error: CUDA driver error: file not found\n{CALL}RuntimeError: {RUNNER}\n",
        ("AL214", "aoti_api_call_failed"),
        {"api": "run_func_", "line": 145, "inner_error": "CUDA driver error: file not found"},
    ),
    (
        f"Error: {SHAPES}\n{RAISED}{FRAME}\n{CALL}RuntimeError: {SHAPES}\n{RAISED}{FRAME}\n",
        ("AL215", "aoti_runtime_error"),
        {"op": "addmm"},
    ),
    (
        f"{LOAD}RuntimeError: Could not find schema for demo::mix.default\n",
        ("AL215", "aoti_runtime_error"),
        {"op": "demo::mix.default"},
    ),
    (
        f"Error: CUDA driver error: named symbol not found\n{CALL}RuntimeError: {RUNNER}\n",
        ("AL216", "kernel_image_invalid"),
        {"reason": "named symbol not found", "api": "run_func_"},
    ),
    (
        (
            f'{HEADER}  File "/opt/lib/python3.11/site-packages/torch/_inductor/utils.py", line 3, in f\n    import x\n'
            "ImportError: cannot import name 'AttrsDescriptor' from 'triton.compiler.compiler' (/opt/c.py)\n"
        ),
        ("AL217", "version_mismatch"),
        {"missing_attributes": ["AttrsDescriptor"]},
    ),
]


@pytest.mark.parametrize(("text", "who", "wanted"), SPEAKS)
def test_a_failure_is_told_by_its_rule(explain, text, who, wanted):
    found = cause(explain(text))
    assert (found.rule, found.kind) == who
    assert {k: found.facts.get(k) for k in wanted} == wanted


NOT_OURS = [
    f"Error: cannot read settings.toml\n{USER}RuntimeError: {SHAPES}\n",
    f"{USER}AssertionError: Torch not compiled with CUDA enabled\n",
    f"{USER}ImportError: /opt/lib/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs\n",
    f"{USER}RuntimeError: Failed to create directory /nope: Permission denied\n",
    f"{USER}RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n",
    f"{USER}AttributeError: 'Linear' object has no attribute 'weigth'\n",
    f"{USER}RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n",
    "Error: cannot open display\n",
]


@pytest.mark.parametrize("text", NOT_OURS)
def test_what_only_looks_like_it_is_left_to_others(explain, text):
    assert {f.rule for f in explain(text)} == {"AL001"}


def test_without_stderr_a_runners_call_has_no_cause(explain):
    found = cause(explain(f"{CALL}RuntimeError: {RUNNER}\n"))
    assert (found.rule, found.kind, found.confidence) == ("AL214", "aoti_api_call_failed", Confidence.UNKNOWN)
    assert found.missing[0].what.startswith("the cause")
    assert "inner_error" not in found.facts


def test_an_error_of_the_device_is_not_blamed_on_the_operator_that_reports_it(explain):
    said = "CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasCreate(handle)`"
    found = cause(
        explain(
            f"[E1129 12:35:55.866160286 c_shim_cuda.cpp:1273] Exception in aoti_torch: {said}\n"
            f"Error: {SHIM.replace('_cpu_', '_cuda_')}\n{CALL}RuntimeError: {RUNNER}\n"
        )
    )
    assert (found.rule, found.confidence, found.facts["glog"]["line"]) == ("AL213", Confidence.UNKNOWN, 1273)
    assert "may come from what ran before" in found.title


def test_the_next_failure_is_not_taken_for_a_part_of_the_first(explain):
    """A server prints `Error: ` for each request that fails, and goes on."""
    dim = "input_handles[0]: unmatched dim value at 1, expected: 4, but got: 5"
    found = cause(explain(f"Error: {dim}\n\nError: {SHIM}\n{CALL}RuntimeError: {SHAPES}\n"))
    assert (found.rule, "op" in found.facts, "exception_type" in found.facts) == ("AL201", False, True)
    assert found.facts["exception_type"] is None


def test_the_old_string_in_a_symbol_tells_the_abi_and_the_frames_prove_it(explain):
    text = (
        "terminate called after throwing an instance of 'c10::DynamicLibraryError'\n"
        "  what():  Error in dlopen: /tmp/m.so: undefined symbol: _ZN3c107WarningC1ERKNS_14SourceLocationESsb\n"
        "Exception raised from DynamicLibrary at ../aten/src/ATen/DynamicLibrary.cpp:38 (most recent call first):\n"
    )
    alone = cause(explain(text))
    assert (alone.confidence, alone.facts["terminate"]) == (Confidence.LIKELY, True)
    frame = (
        "frame #0: c10::Error::Error(c10::SourceLocation, std::__cxx11::basic_string<char>) + 0x6c "
        "(0x7f43696d0a0c in /tmp/libtorch/lib/libc10.so)\n"
    )
    assert cause(explain(text + frame)).confidence is Confidence.PROVEN


def test_a_model_that_is_listed_is_not_called_missing(explain):
    text = (
        f"{LOAD}RuntimeError: Failed to find a generated cpp file or so file for model 'model' in the zip archive.\n\n"
        "Available models:\nmodel\n\n\nTo load a specific model, please provide its name using the `model_name` parameter when "
        "calling AOTIModelPackageLoader() or torch._inductor.package.load_package.\n\n"
        "The following files were found:\ndata/aotinductor/model/c.so\narchive_format\n"
    )
    found = cause(explain(text))
    assert found.facts["available_models"] == ["model"]
    assert "lack the folder" in found.title


WARNED = "W1129 12:26:11.342000 20241 torch/_inductor/package/package.py:120] Loading outdated pt2 file. Please regenerate your package.\n"


def test_the_warning_about_an_outdated_file_is_no_cause(explain):
    assert explain(WARNED) == []
    found = cause(
        explain(f"{WARNED}{LOAD}RuntimeError: Failed to initialize zip archive: file open failed\n")
    )
    assert any("does not show that age is the reason" in why for why in found.verdicts[0].because)


def test_a_deprecation_is_a_note_with_the_lines_of_its_banner(explain):
    rows = ["+====+", "|     !!!   WARNING   !!!    |", "+====+"]
    rows.append(
        "torch._export.aot_compile() is being deprecated, please switch to directly calling "
        "torch._inductor.aoti_compile_and_package(torch.export.export()) instead."
    )
    text = "".join(
        f"W1111 10:16:30.37{n}000 37753 torch/_export/__init__.py:{225 + n}] {row}\n"
        for n, row in enumerate(rows)
    )
    (found,) = explain(text)
    assert (found.rule, found.role, found.facts["pid"]) == ("AL218", "note", 37753)
    assert found.facts["log_lines"] == [225, 226, 227, 228]
    assert found.facts["replacement"] == "torch._inductor.aoti_compile_and_package(torch.export.export())"


def test_a_package_of_another_machine_is_a_note(explain):
    (found,) = explain(
        "W1129 12:27:58.908000 22086 torch/export/pt2_archive/_package.py:1059] Device information mismatch for "
        "AOTI_MACHINE: x86_64 vs aarch64. This could cause some issues when loading the AOTInductor compiled artifacts.\n"
    )
    assert (found.rule, found.role) == ("AL219", "note")
    assert found.facts["device_information"] == {
        "key": "AOTI_MACHINE",
        "current": "x86_64",
        "package": "aarch64",
    }


WARNINGS = [
    (
        (
            '[W1129 12:35:55.866160286 c_shim.cpp:1407] Warning: "Input 2 was compiled as 16-bytes aligned, but it is not aligned '
            'at run time. Copying to an aligned tensor to guarantee correctness, but expect a performance hit." (function f)\n'
        ),
        {"input_index": 2, "alignment": 16, "n_lines": 2},
    ),
    (
        '/srv/demo/serve.py:3: UserWarning: "Input 2 was compiled as 16-bytes aligned, but it is not aligned at run time."\n',
        {"input_index": 2, "n_lines": 2},
    ),
    (
        (
            "[WARNING] Found constant or module state buffer or empty module state parameter running_mean in model, but not "
            "provided by user!\n"
        ),
        {"constant": "running_mean"},
    ),
    (
        (
            "[WARNING] Could not dlsym AOTInductorModelContainerGetConstantType. This is okay if you don't need functionality "
            "from AOTInductorModelContainerGetConstantType. Otherwise consider rebuilding your model with the latest AOTInductor.\n"
        ),
        {"undefined_symbol": "AOTInductorModelContainerGetConstantType"},
    ),
]


@pytest.mark.parametrize(("text", "wanted"), WARNINGS)
def test_warnings_of_the_runtime_are_notes_each_once(explain, text, wanted):
    (found,) = explain(text * 2)
    assert (found.rule, found.role) == ("AL220", "note")
    assert {k: found.facts.get(k) for k in wanted} == wanted


RUNTIME_FRAME = (
    "Exception raised from DynamicLibrary at /pytorch/aten/src/ATen/DynamicLibrary.cpp:38 (most recent call first):\n"
    "frame #0: c10::Error::Error(c10::SourceLocation, {string}) + 0x6c (0x7f43696d0a0c in /opt/lib/libc10.so)\n"
    "frame #1: torch::inductor::AOTIModelContainerRunner::run() + 0x8a (0x7f43569c295a in /opt/lib/libtorch_cpu.so)\n"
)


def test_a_new_string_that_the_runtime_has_as_well_tells_no_other_abi(explain):
    symbol = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
    frames = RUNTIME_FRAME.format(string="std::__cxx11::basic_string<char>")
    for stack in ("", frames):
        found = cause(
            explain(f"{LOAD}RuntimeError: Error in dlopen: /tmp/m.so: undefined symbol: {symbol}\n{stack}")
        )
        assert "ABI, and" not in found.title and found.confidence != "proven"


def test_letters_of_an_identifier_are_no_string_of_the_old_abi(explain):
    symbol = "_ZN4grpc14SslCredentialsERKNS_21SslCredentialsOptionsE"
    found = cause(explain(f"{LOAD}RuntimeError: Error in dlopen: /tmp/m.so: undefined symbol: {symbol}\n"))
    assert "ABI" not in found.title and "no name of torch" in found.verdicts[0].because[0]


def test_a_library_without_the_entry_point_may_be_an_old_model(explain):
    found = cause(
        explain(
            f"{LOAD}RuntimeError: Error in dlopen or dlsym: /tmp/m.so: undefined symbol: "
            "AOTInductorModelContainerCreateWithDevice\n"
        )
    )
    assert found.confidence == "likely" and "older model" in found.verdicts[0].because[0]


def test_a_function_of_the_user_called_load_package_loads_no_package(explain):
    text = (
        f'{HEADER}  File "/srv/demo/serve.py", line 4, in load_package\n    m = build().to("cuda")\n'
        '  File "/opt/venv/lib/python3.11/site-packages/torch/cuda/__init__.py", line 310, in _lazy_init\n'
        '    raise AssertionError("Torch not compiled with CUDA enabled")\n'
        "AssertionError: Torch not compiled with CUDA enabled\n"
    )
    assert cause(explain(text)).rule == "AL001"


def test_an_output_of_another_dtype_is_not_mended_at_the_inputs(explain):
    found = cause(explain("Error: output_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 5\n"))
    assert "output 0" in found.title and "input" not in found.fixes[0]


def test_words_that_any_program_may_print_do_not_prove_a_model(explain):
    assert cause(explain("Error: Unknown exception occurred.\n")).confidence == "likely"


def test_a_name_that_the_text_of_a_kernel_uses_proves_no_mismatch_of_versions(fixtures_dir):
    found = aoti_logs.load(fixtures_dir / "gpu_inductor_kernel" / "run.log").explain().findings[0]
    assert "incompatible" not in found.title and not found.fixes


def test_a_cause_that_does_not_stand_right_before_the_exception_is_likely(explain):
    raised = f"{CALL}RuntimeError: {RUNNER}\n"
    near = cause(explain(f"Error: {SHAPES}\n\n{raised}"))
    far = cause(explain(f"Error: {SHAPES}\nretry with padded input\nresult ok\n{raised}"))
    assert [(f.rule, f.confidence) for f in (near, far)] == [("AL214", "proven"), ("AL214", "likely")]


def test_the_library_that_lacks_a_version_is_not_the_one_that_needs_it(explain):
    text = "/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /tmp/x/m.so)"
    found = cause(explain(f"{LOAD}RuntimeError: Error in dlopen: {text}\n"))
    assert found.title == "`m.so` needs GLIBCXX_3.4.32, which `libstdc++.so.6` on this system has not"
    assert (found.facts["library"], found.facts["needed"]) == ("/tmp/x/m.so", "/lib/libstdc++.so.6")


def test_too_much_room_for_outputs_is_not_mended_at_the_inputs(explain):
    found = cause(explain(f"{CALL}RuntimeError: expected outputs vector size to be 2, but got 3\n"))
    assert found.fixes == ("make room for 2 outputs",)
