"""Wrappers that fixtures/record/wrapper_forms.py recorded (torch 2.11 on CUDA, 2.13 on a CPU): every statement is read."""

from pathlib import Path

import pytest

from aoti_logs.code.model import Backend
from aoti_logs.code.wrapper.argument_text import passed
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

FORMS = sorted(p for p in (Path(__file__).parent / "wrapper_forms").iterdir() if p.suffix != ".md")


def wrapper(name: str) -> WrapperFile | OutputCode:
    path = next(p for p in FORMS if p.name.startswith(name))
    if path.suffix == ".cpp":
        return WrapperFile(Source(path.name, Kind.WRAPPER_CPP, path.read_bytes))
    return OutputCode(Source(path.name, Kind.OUTPUT_CODE, path.read_bytes))


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.name)
def test_every_statement_is_read_and_every_call_of_a_kernel_is_bound(path):
    file = wrapper(path.name)
    assert file.unread == ()
    assert file.launches
    assert [k.kernel for k in file.launches if k.unbound is not None] == []
    assert all(k.stream and len(k.grid) == 3 for k in file.launches if k.backend is Backend.TRITON)


def test_kernel_that_a_user_wrote_gets_its_grid_from_the_call():
    scaled = wrapper("cuda_user_kernel").launches[0]
    assert passed(scaled, cpp=True) == ["arg2_1", "arg3_1", "buf0", "s27*s77", "0.5"]
    assert scaled.grid[1:] == ("1L", "1L") and "div_floor_integer" in scaled.grid[0]


def test_scalar_that_is_a_tensor_reaches_the_device_as_a_number():
    (started,) = wrapper("cuda_scalar_tensor").launchers
    assert started.passed == ("in_ptr0", "in_ptr1", "in_ptr2", "out_ptr0", "out_ptr1", "xnumel")


def test_graph_that_folds_constants_keeps_its_buffers_apart():
    found = [(k.subgraph, passed(k, cpp=True)[0]) for k in wrapper("cuda_folded").launches]
    assert {graph for graph, _ in found} == {"_const_run_impl", None}


def test_loop_over_array_references_has_its_subgraphs_and_outputs():
    file = wrapper("cpu_while_loop")
    assert {k.subgraph for k in file.launches} == {None, "while_loop_cond_graph_0", "while_loop_body_graph_0"}
    assert len(file.outputs) == 2


def test_custom_ops_are_named_with_what_they_are_given():
    found = {k.kernel: passed(k, cpp=True) for k in wrapper("cpu_custom_op").launches}
    assert any("::" in name for name in found)
    assert not any("PyList_New" in text for given in found.values() for text in given)
