"""The table of torch's C functions: what it says of a call, and that it is what torch's headers say."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from aoti_logs.code.wrapper.shims import Shim, shim

ROOT = Path(__file__).resolve().parent.parent


def known(name: str) -> Shim:
    found = shim(name)
    assert found is not None
    return found


def test_parameters_have_the_names_of_the_header():
    found = known("aoti_torch_cuda_addmm_out")
    assert [p.name for p in found.params] == ["out", "self", "mat1", "mat2", "beta", "alpha"]


def test_function_that_returns_an_error_code_can_fail():
    assert known("aoti_torch_cpu_scatter_reduce_two_out").can_fail
    assert known("aoti_torch_index_put_out").can_fail


def test_printing_function_returns_nothing_and_cannot_fail():
    assert not known("aoti_torch_print_tensor_handle").can_fail


@pytest.mark.parametrize(
    "name", ["aoti_torch_cpu_no_such_op", "at::addmm_out", "", "aoti_torch_xpu_scatter_src_out"]
)
def test_unknown_function_is_none(name):
    assert shim(name) is None


def test_outputs_are_told_by_their_names():
    found = known("aoti_torch_cpu_sort_stable")
    assert [found.params[i].name for i in found.outputs] == ["ret0", "ret1"]


@pytest.mark.live
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_table_is_what_the_installed_headers_declare():
    import importlib.metadata

    if not importlib.metadata.version("torch").startswith("2.13"):
        pytest.skip("the table was written from torch 2.13")
    assert not subprocess.run(
        [sys.executable, "fixtures/record/shims.py", "--check"], cwd=ROOT, check=False
    ).returncode
