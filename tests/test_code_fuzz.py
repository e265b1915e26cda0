"""Damaged code: whatever happened to a wrapper, reading it never raises and never binds an argument wrongly."""

import re
import shutil
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs import tables
from aoti_logs.code.codebase import CodeBase
from aoti_logs.code.view import ModelView
from aoti_logs.sources.source import Kind, Source
from tests.code_damage import damaged

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CODE = {
    "aoti cuda": "gpu_code/gather/aoti",
    "aoti cuda custom": "gpu_code/custom_op/aoti",
    "aoti cuda cond": "gpu_code/cond/aoti",
    "aoti cuda user": "gpu_code/user_kernel/aoti",
    "aoti cpu": "cpu_two_kernels_same_assert",
    "compile cuda": "gpu_code/custom_op/compile",
    "compile cuda cond": "gpu_code/cond/compile",
    "compile cuda user": "gpu_code/user_kernel/compile",
    "compile cpu": "cpu_compile_gather",
}
TABLES = (
    "kernels",
    "launches",
    "launch_arguments",
    "buffers",
    "sizes",
    "checks",
    "constants",
    "inputs",
    "triton_kernels",
)
FEW = settings(max_examples=12, suppress_health_check=list(HealthCheck))
"""For what takes longer; reading alone is tried more often."""


@lru_cache
def texts(name: str) -> tuple[Kind, str]:
    """The wrapper of a fixture."""
    folder = FIXTURES / CODE[name] / "sources"
    if name.startswith("aoti"):
        (path,) = folder.rglob("*.wrapper.cpp")
        return Kind.WRAPPER_CPP, path.read_text()
    (path,) = [p for p in folder.rglob("*.py") if "def call(" in p.read_text()]
    return Kind.OUTPUT_CODE, path.read_text()


def view_of(kind: Kind, data: bytes) -> ModelView | None:
    base = CodeBase([Source("wrapper", kind, lambda: data)])
    wrapper = base.codes[0].wrapper if base.codes else None
    return None if wrapper is None else ModelView(wrapper, base, {})


def bound(view: ModelView) -> list[tuple[str, str, tuple[str, ...], tuple[tuple[str, str | None], ...]]]:
    """(kernel, text of the call, the kernel's parameters, (text, parameter) of each argument)."""
    found = []
    for launch in view.wrapper.launches:
        kernel = view.wrapper.kernel(launch.kernel)
        params = () if kernel is None else tuple(p.name for p in kernel.params)
        arguments = tuple((a.text, a.param) for a in launch.arguments)
        found.append((launch.kernel, launch.text, params, arguments))
    return found


def definitions(text: str, kernel: str) -> list[str]:
    """Everything that says what parameters a kernel or its launcher has, with what follows on the same lines."""
    heads = re.findall(rf"^[^\n]*\bvoid +(?:call_)?{kernel}\([^)]*\)[^\n]*$", text, re.MULTILINE)
    blocks = re.findall(r"^[^\n]*async_compile\.\w+\(.*?^ *'''[^\n]*$", text, re.MULTILINE | re.DOTALL)
    quoted = (f"'{kernel}'", f"'{kernel.rpartition('_')[0]}'", f"{kernel} = ")
    return heads + [block for block in blocks if any(q in block.partition("\n")[0] for q in quoted)]


@lru_cache
def before(name: str) -> dict[tuple[str, str], tuple[tuple[str, ...], tuple[tuple[str, str | None], ...]]]:
    kind, text = texts(name)
    view = view_of(kind, text.encode())
    assert view is not None
    return {(kernel, text): (params, arguments) for kernel, text, params, arguments in bound(view)}


def ask_everything(view: ModelView) -> None:
    """Ask all questions that rules and tables ask."""
    wrapper = view.wrapper
    assert wrapper.model.launches == wrapper.launches
    for launch in wrapper.launches:
        assert wrapper.launch(launch.index) == launch
        for name in view.written_by(launch):
            view.read_by(launch, name)
        for argument in launch.arguments:
            view.tensor(argument)
            if argument.name:
                view.producer(argument.name, launch.index)
                view.roots(argument.name, launch.index)
                view.size_chain(argument.name)
    for name in wrapper.kernel_names:
        view.body(name)
        wrapper.launches_of(name)
    for entry in wrapper.inputs:
        view.limits(entry.name, 0)
    assert view.layouts.keys() >= view.strides.keys()
    for line, _ in wrapper.unread:
        wrapper.source.place(line)


@pytest.mark.parametrize("name", CODE)
def test_the_undamaged_code_is_bound(name):
    assert any(param for _, arguments in before(name).values() for _, param in arguments)


@pytest.mark.parametrize("name", CODE)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_never_binds_an_argument_wrongly(name, data):
    """A call that is as it was, of a kernel that is as it was, is bound as it was; else as it was or not at all.

    Where the damage left a kernel with other parameters, as many as are given, the code itself says something else.
    """
    kind, text = texts(name)
    after = data.draw(damaged(text))
    view = view_of(kind, after.data)
    if view is None:
        return
    for kernel, call, params, arguments in bound(view):
        old = before(name).get((kernel, call))
        if old is None:
            continue
        old_params, old_arguments = old
        assert len(arguments) == len(old_arguments)
        for (now, param), (then, old_param) in zip(arguments, old_arguments, strict=True):
            if now != then:
                continue
            if definitions(after.text, kernel) == definitions(text, kernel):
                assert param == old_param, (kernel, call, now)
            elif params == old_params or len(params) != len(old_params):
                assert param in {None, old_param}, (kernel, call, now, params)


@pytest.mark.parametrize("name", CODE)
@FEW
@given(data=st.data())
def test_damage_never_makes_a_question_raise(name, data):
    kind, text = texts(name)
    view = view_of(kind, data.draw(damaged(text)).data)
    if view is not None:
        ask_everything(view)


@pytest.mark.parametrize("name", ["aoti cpu", "aoti cuda custom", "compile cuda cond", "compile cpu"])
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damage_never_makes_a_table_raise(name, data, tmp_path_factory):
    kind, text = texts(name)
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / ("x.wrapper.cpp" if kind is Kind.WRAPPER_CPP else "output_code.py")
    path.write_bytes(data.draw(damaged(text)).data)
    run = aoti_logs.load(folder)
    for table in TABLES:
        assert getattr(run, table).height >= 0


@pytest.mark.parametrize(
    "name",
    [
        "cpu_gather_empty_table",
        "cpu_two_kernels_same_assert",
        "gpu_gather_dynamic_bound",
        "gpu_compile_gather",
    ],
)
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_log_is_explained_whatever_happened_to_the_code_beside_it(name, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged") / name
    shutil.copytree(FIXTURES / name, folder, ignore=shutil.ignore_patterns("trace", "*.pt2", "fixture.json"))
    for path in [p for p in (folder / "sources").rglob("*") if p.suffix in {".cpp", ".py"}]:
        text = path.read_text()
        path.write_bytes(data.draw(damaged(text)).data)
    answer = aoti_logs.load(folder).explain()
    assert answer.findings


def test_the_tables_are_all_that_show_code():
    assert set(TABLES) <= set(tables.NAMES)
