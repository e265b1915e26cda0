"""Buffers of every model of the fixtures, and of generated code that was damaged."""

import os
import random
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aoti_logs
from aoti_logs.code.buffers.access import Access
from aoti_logs.code.codebase import CodeBase
from aoti_logs.code.view import ModelView
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.code.wrapper_python.file import OutputCode
from aoti_logs.sources.source import Kind, Source

BUFFERS = Path(__file__).parent / "buffers"
CORPUS = os.environ.get("AOTI_LOGS_CORPUS")
"""A folder with more recorded runs, for machines that have one."""

# Read although nothing wrote it before: (kernel, buffer) patterns and why.
UNWRITTEN = {
    (
        r"cpp_fused_cat_\w+",
        r"buf\d+",
    ): "torch.cat in one kernel: it wrote the parts itself, under other names",
    (
        r"triton_tem_fused_\w*flex_attention\w*",
        r"buf8",
    ): "arrays for full blocks are passed empty when there are none",
    (r"Tensor\.clone", r"buf0"): "the stack of a scan begins uninitialised; a loop without rounds copies it",
}


def views() -> Iterator[ModelView]:
    fixtures = Path(__file__).resolve().parent.parent / "fixtures"
    folders = [*sorted(fixtures.iterdir()), *sorted(BUFFERS.glob("*.zip"))]
    if CORPUS:
        folders += sorted(Path(CORPUS).glob("*/*"))
    for folder in folders:
        if folder.is_file() and folder.suffix != ".zip":
            continue
        try:
            run = aoti_logs.load(folder)
        except aoti_logs.LoadError:
            continue
        yield from run.models


@lru_cache(maxsize=1)
def models() -> tuple[ModelView, ...]:
    """Each distinct wrapper once."""
    return tuple({bytes(v.wrapper.source.data): v for v in views()}.values())


def reads(view: ModelView) -> Iterator[tuple[int, Access]]:
    """What launches certainly read."""
    uses = view._buffer_uses
    for index in range(len(view.wrapper.calls)):
        for access in uses.accesses(index):
            seen = uses.meaning(access, index).seen
            if seen and uses.refined(access, index, seen[0]).read:
                yield index, access


def test_what_a_launch_reads_was_written_or_given_or_is_told_as_unknown():
    count, wrong = 0, []
    for view in models():
        for index, access in reads(view):
            found = view.last_writer(access.name, index)
            kernel = view.wrapper.calls[index].kernel
            count += 1
            known = found.writers or found.given or found.unknown
            excused = any(re.fullmatch(k, kernel) and re.fullmatch(n, access.name) for k, n in UNWRITTEN)
            if not known and not excused:
                wrong.append((view.wrapper.source.name, index, kernel, access.name, access.param))
    assert count > 800
    assert not wrong


def simulated(view: ModelView) -> Iterator[tuple[int, str, int | None]]:
    """Run a wrapper without branches: yield (launch, name, launch that wrote its storage last)."""
    storage: dict[str, int] = {}
    written: dict[int, int] = {}
    births = sorted(enumerate(view.wrapper.buffers), key=lambda b: (b[1].at, b[0]))
    fresh = iter(range(10**9))
    for index, launch in enumerate(view.wrapper.launches):
        while births and births[0][1].at <= index:
            _, buffer = births.pop(0)
            shared = buffer.alias_of is not None and buffer.item is None
            storage[buffer.name] = storage.get(buffer.alias_of or "", next(fresh)) if shared else next(fresh)
        arguments = [a for a in launch.arguments if a.name and a.kind in {"buffer", "input", "constant"}]
        for argument in arguments:
            name = argument.name or ""
            storage.setdefault(name, next(fresh))
            yield index, name, written.get(storage[name])
        out = {a.name or "" for a in arguments if re.match(r"(?:in_)?out_ptr", a.param or "")}
        passed = {a.name for a in arguments if not a.text.startswith("&")}
        for made in out | set(launch.outputs):
            if made not in passed:
                storage[made] = next(fresh)
                births = [b for b in births if (b[1].at, b[1].name) != (index + 1, made)]
            written[storage[made]] = index


def test_a_plain_simulation_names_the_same_last_writer():
    compared = 0
    for view in models():
        buffers = view.wrapper.buffers
        if any(c.within for c in view.wrapper.calls) or any(b.within for b in buffers):
            continue
        if any(b.item or (b.alias_of or "").startswith("pool") for b in buffers):
            continue
        for index, name, expected in simulated(view):
            found = view.last_writer(name, index)
            life = view.buffer(name)
            if not found.certain or life is None or life.views:
                continue
            assert found.launch == expected, (view.wrapper.source.name, index, name)
            compared += 1
    assert compared > 250


def test_an_answer_names_launches_only_that_mention_the_memory():
    seen = 0
    for view in models():
        for name in dict.fromkeys(b.name for b in view.wrapper.buffers):
            for writer in view.last_writer(name).writers:
                assert writer.launch in view.wrapper.mentioning({writer.name})
                life = view.buffer(name)
                assert life is not None
                assert writer.name in {*life.names, *life.reuses} or writer.launch in {
                    u.launch for u in life.uses
                }
                seen += 1
    assert seen > 300


def test_lives_end_where_the_code_ends_the_name():
    ended = 0
    for view in models():
        for number, buffer in enumerate(view.wrapper.buffers):
            end = view.lives.end(number)
            if end is not None:
                assert (end.name, end.at >= buffer.at) == (buffer.name, True)
                ended += 1
    assert ended > 100


def test_the_tables_of_buffers_agree_with_the_answers():
    run = aoti_logs.load(BUFFERS / "jit.zip")
    uses = run.tables["buffer_uses"]
    for view in run.models:
        rows = uses.filter(uses["wrapper"] == view.wrapper.source.name).to_dicts()
        for row in rows:
            if row["writes"] and row["certain"] and row["sets_all"] and not row["view"]:
                found = view.last_writer(row["buffer"], row["launch"] + 1)
                assert found.writers[0].launch == row["launch"]
    buffers = run.tables["buffers"]
    assert buffers["returned_as"].list.len().sum() > 8
    assert buffers.filter(buffers["reuse"])["alias_of"].null_count() == 0


# ------------------------------------------------------------ damaged code


@lru_cache(maxsize=1)
def texts() -> tuple[tuple[str, list[str]], ...]:
    return tuple(
        (name, bytes(view.wrapper.source.data).decode().split("\n"))
        for name in ("jit", "aoti")
        for view in aoti_logs.load(BUFFERS / f"{name}.zip").models
    )


def read(flavour: str, text: str) -> ModelView:
    if flavour == "jit":
        wrapper: Any = OutputCode(Source("output_code.py", Kind.OUTPUT_CODE, text.encode))
    else:
        wrapper = WrapperFile(Source("m.wrapper.cpp", Kind.WRAPPER_CPP, text.encode))
    return ModelView(wrapper, CodeBase(()), {})


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 11), st.integers(0, 2**32), st.sampled_from(["cut", "shuffle", "double", "rename", "drop"])
)
def test_damaged_wrappers_never_raise_and_never_name_a_launch_that_does_not_mention_the_name(
    which, seed, how
):
    flavour, lines = texts()[which % len(texts())]
    rng = random.Random(seed)
    start = next(n for n, line in enumerate(lines) if "def call(" in line or "::run_impl(" in line)
    body = lines[start + 1 :]
    place = rng.randrange(1, len(body))
    match how:
        case "cut":
            body = body[:place]
        case "shuffle":
            body = (
                body[:place]
                + rng.sample(body[place : place + 12], len(body[place : place + 12]))
                + body[place + 12 :]
            )
        case "double":
            body = body[:place] + body[place - 1 :]
        case "rename":
            body = [re.sub(rf"\bbuf{rng.randrange(6)}\b", f"buf{rng.randrange(6)}", line) for line in body]
        case "drop":
            body = [line for line in body if rng.random() > 0.1]
    view = read(flavour, "\n".join([*lines[: start + 1], *body]))
    count = len(view.wrapper.calls)
    for name in dict.fromkeys([*(b.name for b in view.wrapper.buffers), *view.wrapper.outputs, "nothing"]):
        view.buffer(name)
        view.inputs_reaching(name)
        for index in {0, count // 2, count}:
            for writer in view.last_writer(name, index).writers:
                assert writer.launch in view.wrapper.mentioning({writer.name})
    assert list(view.lives.arguments()) is not None


@pytest.mark.parametrize("flavour", ["jit", "aoti"])
def test_a_chain_of_renames_is_followed_without_recursion(flavour):
    if flavour == "jit":
        steps = "\n".join(f"    buf{n} = buf{n - 1}; del buf{n - 1}  # reuse" for n in range(1, 3000))
        text = (
            "def call(args):\n    arg0_1, = args\n    args.clear()\n"
            "    buf0 = empty_strided_cpu((4, ), (1, ), torch.float32)\n"
            f"    extern_kernels.mm(arg0_1, arg0_1, out=buf0)\n{steps}\n    return (buf2999, )\n"
        )
    else:
        steps = "\n".join(f"    auto buf{n} = std::move(buf{n - 1});  // reuse" for n in range(1, 3000))
        text = (
            "void AOTInductorModel::run_impl(\n) {\n    auto arg0_1 = std::move(inputs[0]);\n"
            "    AtenTensorHandle buf0_handle;\n"
            "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, a, a, cached_torch_dtype_float32, "
            "cached_torch_device_type_cpu, 0, &buf0_handle));\n    RAIIAtenTensorHandle buf0(buf0_handle);\n"
            f"    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, arg0_1));\n{steps}\n"
            "    output_handles[0] = buf2999.release();\n} // AOTInductorModel::run_impl\n"
        )
    view = read(flavour, text)
    assert view.last_writer("buf2999").launch == 0
    assert [r.name for r in view.inputs_reaching("buf2999").inputs] == ["arg0_1"]
    life = view.buffer("buf2999")
    assert life is not None and len(life.reuses) == 2999 and life.returned_as == (0,)
