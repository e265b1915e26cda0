"""Tensors that the value printer saved: names, the table, and reading them."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.parse.printer.saved_name import saved_name
from tests.log_text import read

FIXTURE = "cpu_tensors_saved"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (
            "/srv/demo/tmp/aoti_torchbefore_launch_aoti_torch_cpu_mm_out_buf0_cpu.pt",
            ("before_launch", "aoti_torch_cpu_mm_out", "buf0", "cpu"),
        ),
        (
            "/srv/demo/tmp/aoti_torch/after_launch_at::_ops::sort_stable::call_buf2_cpu.pt",
            ("after_launch", "at::_ops::sort_stable::call", "buf2", "cpu"),
        ),
        (
            "/srv/x/tmp/aoti_torch/before_launch_triton_poi_fused_add_0_arg12_1_cuda:0.pt",
            ("before_launch", "triton_poi_fused_add_0", "arg12_1", "cuda:0"),
        ),
        (
            "before_launch_cpp_fused_add_log_mul_sum_0_copy_arrayref_tensor_to_tensor(buf1)_cpu.pt",
            ("before_launch", "cpp_fused_add_log_mul_sum_0", "copy_arrayref_tensor_to_tensor(buf1)", "cpu"),
        ),
        (
            "before_launch_triton_per_fused_mean_3_emb_weight_cuda:1.pt",
            ("before_launch", "triton_per_fused_mean_3", "emb_weight", "cuda:1"),
        ),
        (
            "/srv/demo/tmp/jit_inductor/before_launch_extern_kernels.addmm_arg5_1.pt",
            ("before_launch", "extern_kernels.addmm", "arg5_1", None),
        ),
        (
            "C:\\run\\tmp\\aoti_torch\\after_launch_k_0_buf3_xpu:0.pt",
            ("after_launch", "k_0", "buf3", "xpu:0"),
        ),
        ("model.pt", None),
        ("before_launch_.pt", None),
    ],
)
def test_a_name_is_taken_apart(path, parts):
    assert saved_name(path) == parts


def test_a_known_kernel_decides():
    """A weight's name holds the same separator as the kernel's."""
    name = "before_launch_my_kernel_lin_weight_cuda:0.pt"
    assert saved_name(name, {"my_kernel", "my"}) == ("before_launch", "my_kernel", "lin_weight", "cuda:0")


@given(st.text(max_size=60))
def test_any_name_is_told(text):
    saved_name(f"before_launch_{text}.pt")


def test_saved_lines_give_the_parts():
    text = (
        "aoti_torch_save_tensor_handle: Saved tensor to "
        "/srv/tmp/aoti_torchbefore_launch_at::_ops::sort_stable::call_buf2_cuda:0.pt\n"
    )
    (dump,) = read(text).dumps
    assert (dump.format, dump.kernel, dump.argument, dump.device) == (
        "save", "at::_ops::sort_stable::call", "buf2", "cuda:0",
    )  # fmt: skip


def test_files_at_hand_are_joined_with_their_lines(fixtures_dir: Path):
    table = aoti_logs.load(fixtures_dir / FIXTURE).saved_tensors
    assert table.height == 10
    assert set(table["log"]) == {"run.log"}
    assert set(table["times"]) == {1}
    assert set(table["device"]) == {"cpu"}
    assert {"aoti_torch_cpu_addmm_out", "cpp_fused_0"} < set(table["kernel"])


def test_files_without_a_log_are_listed_too(fixtures_dir: Path):
    table = aoti_logs.load(
        fixtures_dir / FIXTURE / "sources", context=fixtures_dir / FIXTURE / "tmp"
    ).saved_tensors
    assert table.height == 10
    assert table["log"].null_count() == 10


def test_a_folder_without_any_has_an_empty_table(fixtures_dir: Path):
    assert aoti_logs.load(fixtures_dir / "cpu_ok").saved_tensors.is_empty()


@pytest.mark.live
def test_a_saved_tensor_is_read(fixtures_dir: Path):
    run = aoti_logs.load(fixtures_dir / FIXTURE)
    import polars as pl

    (file,) = run.saved_tensors.filter(pl.col("tensor").eq("arg2_1") & pl.col("phase").eq("before_launch"))[
        "file"
    ]
    path = fixtures_dir / FIXTURE / file
    tensor = aoti_logs.saved_tensor(path)
    assert tuple(tensor.shape) == (6, 4)
    assert aoti_logs.saved_tensor(path.read_bytes()).equal(tensor)


@pytest.mark.live
def test_a_file_that_would_run_code_is_refused(tmp_path: Path):
    """`weights_only`: a pickle that calls a function is not loaded."""
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"cos\nsystem\n(S'touch pwned'\ntR.")
        archive.writestr("archive/version", b"3\n")
    with pytest.raises(aoti_logs.LoadError, match="cannot be read as a saved tensor"):
        aoti_logs.saved_tensor(tmp_path / "bad.pt")
    assert not (tmp_path / "pwned").exists()


@pytest.mark.live
@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_no_tensor_says_so(tmp_path: Path, content: bytes):
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(aoti_logs.LoadError, match="cannot be read"):
        aoti_logs.saved_tensor(tmp_path / "x.pt")


def test_a_file_that_is_not_there_says_so():
    with pytest.raises(aoti_logs.LoadError, match="there is no file"):
        aoti_logs.saved_tensor("nowhere.pt")


def test_without_torch_the_error_says_how_to_have_it(tmp_path: Path):
    (tmp_path / "x.pt").write_bytes(b"x")
    code = (
        "import sys; sys.modules['torch'] = None\nimport aoti_logs\n"
        "try: aoti_logs.saved_tensor(sys.argv[1])\nexcept aoti_logs.LoadError as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.pt")], capture_output=True, text=True, check=True
    )
    assert "not installed: pip install" in done.stdout
