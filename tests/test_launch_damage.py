"""Damaged C++ wrappers: nothing raises, and a call that is whole is bound as before or not at all."""

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.code.model import Launch
from aoti_logs.code.wrapper_cpp.file import WrapperFile
from aoti_logs.sources.source import Kind, Source

ROOT = Path(__file__).parent.parent / "fixtures"
NAMES = sorted(
    {p.parent.name: p for p in ROOT.rglob("*.cpp") if b"::run_impl(" in p.read_bytes()}.values(),
    key=lambda p: p.stat().st_size,
)[:12]


def wrapper(text: str) -> WrapperFile:
    return WrapperFile(Source("model.wrapper.cpp", Kind.WRAPPER_CPP, text.encode))


@cache
def whole(path: Path) -> tuple[str, dict[str, set[tuple[tuple[str | None, str], ...]]]]:
    """Return a wrapper's text and, by the text of a call, its bindings."""
    text = path.read_text()
    found: dict[str, set[tuple[tuple[str | None, str], ...]]] = {}
    for launch in wrapper(text).launches:
        found.setdefault(launch.text, set()).add(bindings(launch))
    return text, found


def bindings(launch: Launch) -> tuple[tuple[str | None, str], ...]:
    return tuple((a.param, a.text) for a in launch.arguments)


DAMAGE = st.tuples(
    st.sampled_from(["cut_line", "drop", "double", "swap", "rename", "comment", "string", "brace", "tail"]),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)


def damaged(text: str, kind: str, one: int, other: int) -> tuple[str, set[str]]:
    """Return the text with one damage, and the names that it made."""
    lines = text.split("\n")
    at, to = one % len(lines), other % len(lines)
    line = lines[at]
    made: set[str] = set()
    match kind:
        case "cut_line":
            lines[at] = line[: other % (len(line) + 1)]
        case "drop":
            del lines[at]
        case "double":
            lines.insert(at, line)
        case "swap":
            lines[at], lines[to] = lines[to], lines[at]
        case "rename":
            words = re.findall(r"[A-Za-z_]\w*", line)
            if words:
                word = words[other % len(words)]
                made.add(f"{word}_x")
                lines[at] = line.replace(word, f"{word}_x", 1)
        case "comment":
            lines.insert(at, ("// call_(a, b)", "/*", "*/", "// [Provenance debug handles] k:3")[other % 4])
        case "string":
            lines.insert(at, ('"', 'R"(', ')"', 'printf("call_k(a);");', "'")[other % 5])
        case "brace":
            lines.insert(at, "{}();,"[other % 6])
        case _:
            del lines[at:]
    return "\n".join(lines), made


@pytest.mark.parametrize("path", NAMES, ids=lambda p: p.parent.name)
@settings(max_examples=12)
@given(damage=DAMAGE)
def test_no_damage_binds_an_argument_to_another_parameter(path, damage):
    text, before = whole(path)
    broken, made = damaged(text, *damage)
    for launch in wrapper(broken).launches:
        known = before.get(launch.text)
        if known is None or launch.unbound is not None:
            continue
        now = tuple((None if p in made else p, t) for p, t in bindings(launch))
        assert any(all(p in {None, q} for (p, _), (q, _) in zip(now, was, strict=True)) for was in known), (
            damage
        )


@given(st.lists(DAMAGE, min_size=1, max_size=6))
def test_much_damage_never_raises(damages):
    text, _ = whole(NAMES[0])
    for damage in damages:
        text, _ = damaged(text, *damage)
    model = wrapper(text).model
    for launch in model.launches:
        assert launch.unbound is None or all(a.param is None for a in launch.arguments)


def test_a_call_that_lost_its_end_keeps_its_place_and_hides_no_other():
    text = (
        'extern "C" void k(float* out_ptr0, const int64_t ks0);\n'
        "void AOTInductorModel::run_impl(\n    int a // x\n) {\n"
        "    k((float*)(buf0.data_ptr()), s0);\n    k((float*)(buf1.data_\n    k((float*)(buf2.data_ptr()), s1);\n"
        "} // AOTInductorModel::run_impl\n"
    )
    first, lost, last = wrapper(text).launches
    assert [a.param for a in first.arguments] == ["out_ptr0", "ks0"]
    assert lost.unbound == "the call is damaged"
    assert [(a.param, a.name) for a in last.arguments] == [("out_ptr0", "buf2"), ("ks0", "s1")]
    assert [line for line, _ in wrapper(text).unread] == [6]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("k((float*)(buf0.data_ptr()));", "1 argument, 2 parameters"),
        ("k((float*)(buf0.data_ptr()), s0, s1);", "3 arguments, 2 parameters"),
        (
            "k((int64_t*)(buf0.data_ptr()), s0);",
            "`(int64_t*)(buf0.data_ptr())` is no `float*`, which `out_ptr0` is",
        ),
        ("k(s0, s1);", "`s0` is no pointer, which `out_ptr0` is"),
    ],
)
def test_arguments_that_do_not_fit_are_not_bound_and_the_launch_says_why(call, why):
    (launch,) = wrapper(
        'extern "C" void k(float* out_ptr0, const int64_t ks0);\n'
        f"void AOTInductorModel::run_impl(\n    int a // x\n) {{\n    {call}\n}} // AOTInductorModel::run_impl\n"
    ).launches
    assert launch.unbound == why
    assert {a.param for a in launch.arguments} == {None}
