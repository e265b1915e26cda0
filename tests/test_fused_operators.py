"""The operators in a kernel's name: where generated code lists them beside it, the name is read as it says."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.code.names.fused_operators import fused_operators

ROOT = Path(__file__).resolve().parent.parent
LISTED = re.compile(
    r"# Topologically Sorted Source Nodes: [^\n]*Original ATen: \[([^\]\n]*)\]\n"
    r"(?: *#[^\n]*\n)* *((?:triton_\w{3}|cpp)_fused_\w+?_\d+) = async_compile"
)


def test_names_are_read_as_the_comment_above_the_kernel_lists_them(fixtures_dir: Path):
    """torch/_inductor/utils.py `get_kernel_metadata` writes `Original ATen: [aten.add, ...]` above each kernel."""
    read = 0
    for path in fixtures_dir.rglob("*.py"):
        for listed, kernel in LISTED.findall(path.read_text("utf-8", "replace")):
            told = fused_operators(kernel)
            if told is not None:
                operators = {
                    re.sub(r"^(?:aten|prims)\.", "", part).partition(".")[0] for part in listed.split(", ")
                }
                assert set(told) == operators, (path, kernel)
                read += 1
    assert read


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        ("cpp_fused_index_index_put_stack_zeros_4", ("index", "index_put", "stack", "zeros")),
        ("triton_per_fused__softmax_add_0", ("_softmax", "add")),
        ("triton_poi_fused_index_put_2", None),  # index and put are operators as well
        ("triton_poi_fused_add_my_own_op_1", None),
        ("triton_poi_fused_0", None),
        ("at::_ops::cumsum::call", None),
        ("kernel", None),
    ],
)
def test_a_name_with_one_reading_is_read(kernel, told):
    assert fused_operators(kernel) == told


@given(
    st.lists(
        st.sampled_from(["add", "index_put", "_softmax", "mul", "where", "put", "index"]),
        min_size=1,
        unique=True,
    )
)
def test_a_name_is_read_as_it_was_put_together_or_not_at_all(names):
    operators = tuple(sorted(names))
    assert fused_operators(f"triton_red_fused_{'_'.join(operators)}_7") in {operators, None}


@given(st.text("_ad", max_size=400))
def test_any_name_is_read_in_time(name):
    fused_operators(f"cpp_fused_{name}_0")


@pytest.mark.live
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_operators_are_those_of_the_installed_torch():
    import importlib.metadata

    if not importlib.metadata.version("torch").startswith("2.13"):
        pytest.skip("the names were written from torch 2.13")
    script = ROOT / "fixtures" / "record" / "operator_names.py"
    assert not subprocess.run([sys.executable, script, "--check"], check=False).returncode
