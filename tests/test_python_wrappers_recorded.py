"""Recorded Python wrappers of many forms: nothing is unread, every kernel's arguments fit its parameters."""

from pathlib import Path

import pytest

from aoti_logs.code.model import ArgumentKind
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

FOLDER = Path(__file__).parent.parent / "fixtures" / "python_wrappers"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.py"))
TENSORS = {ArgumentKind.BUFFER, ArgumentKind.INPUT, ArgumentKind.CONSTANT}
SHOWN = ["cond_nested", "while_loop", "regions", "planned", "operators", "scattered"]


def code_of(name: str) -> OutputCode:
    path = FOLDER / name
    return OutputCode(Source(path.name, Kind.OUTPUT_CODE, path.read_bytes))


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_unread(name):
    assert code_of(name).unread == ()


@pytest.mark.parametrize("name", FILES)
def test_every_launch_of_a_kernel_is_bound(name):
    code = code_of(name)
    choices = {n for n in code.kernel_names if n.startswith("multi_kernel")}
    assert [(c.line, c.unbound) for c in code.launches if c.unbound and c.kernel not in choices] == []


@pytest.mark.parametrize("name", FILES)
def test_pointers_get_tensors_and_numbers_get_numbers(name):
    code = code_of(name)
    for launch in code.launches:
        kernel = code.kernel(launch.kernel)
        params = {} if kernel is None else {p.name: p for p in kernel.params}
        for a in launch.arguments:
            if a.param in params and params[a.param].dtype:
                pointer = params[a.param].pointer or params[a.param].dtype.startswith("tensordesc")
                assert pointer == (a.kind in TENSORS and ".item()" not in a.text), (launch.line, a)


@pytest.mark.parametrize("name", FILES)
def test_every_buffer_that_a_launch_reads_was_born_before(name):
    code = code_of(name)
    born = {i.name: -1 for i in code.inputs} | {c.name: -1 for c in code.constants}
    for buffer in code.buffers:
        born.setdefault(buffer.name, buffer.at)
    made = {name for launch in code.launches for name in launch.outputs}
    for launch in code.launches:
        for a in launch.arguments:
            if a.name and a.kind in TENSORS and a.name not in made:
                assert born[a.name] <= launch.index, (launch.line, a.text)


@pytest.mark.parametrize("name", SHOWN)
def test_launches_in_program_order(name, golden):
    """The listing of a recorded wrapper: number, kernel, arguments, results, branch, subgraph."""
    lines = []
    for c in code_of(f"cpu/{name}.py").launches:
        given = ", ".join(f"{a.param}={a.text}" if a.param else a.text for a in c.arguments)
        where = " / ".join([*c.branch, *([c.subgraph] if c.subgraph else [])])
        lines.append(f"{c.index} {c.kernel}({given}) -> {', '.join(c.outputs) or '-'}  [{where}]")
    golden(f"python_wrappers/{name}.txt", "\n".join(lines) + "\n")
