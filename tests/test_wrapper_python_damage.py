"""Damaged Python wrappers: never an error, never an argument at a wrong parameter, and the rest stays as it was."""

import re
from functools import lru_cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.code.wrapper_python.file import OutputCode
from tests.python_wrapper_text import output_code

RECORDED = Path(__file__).parent.parent / "fixtures" / "python_wrappers"
NAMES = ["cpu/regions", "cpu/cond_nested", "cpu/from_data", "cpu/operators", "cpu/while_loop"]
SIMPLE = re.compile(r"\s+(?:[\w.\[\], ()]+ = )?[\w.]+\(.*\)$|\s+del |\s+\w+ = \w+; del |\s+#")
"""Statements of one line, with no block under them."""


@lru_cache(maxsize=16)
def recorded(name: str) -> tuple[str, int]:
    """Return a text and where its functions begin, behind the kernels."""
    text = (RECORDED / f"{name}.py").read_text()
    return text, text.index("async_compile.wait(")


def bindings(code: OutputCode) -> dict[str, list[tuple[str | None, str]]]:
    return {c.text: [(a.param, a.text) for a in c.arguments] for c in code.launches}


def damaged(text: str, start: int, draw) -> str:
    lines = text[start:].split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        what = draw(
            st.sampled_from(["cut", "lost", "twice", "moved", "renamed", "comment", "quote", "bytes"])
        )
        match what:
            case "cut":
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case "lost":
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "moved":
                lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
            case "renamed":
                lines[at] = lines[at].replace(
                    "buf", draw(st.sampled_from(["arg", "s", "\u00e9", "class ", ""]))
                )
            case "comment":
                lines.insert(
                    at, draw(st.sampled_from(["# [Provenance debug handles] x:7", "    # subgraph: y", "#"]))
                )
            case "quote":
                lines.insert(at, draw(st.sampled_from(["'''", '"""', "'", "(", ")", "\\"])))
            case "bytes":
                lines[at] += draw(st.text(max_size=5))
        if not lines:
            break
    return text[:start] + "\n".join(lines)


@given(st.data(), st.sampled_from(NAMES))
def test_damage_binds_no_argument_to_another_parameter(data, name):
    text, start = recorded(name)
    before = bindings(output_code(text))
    code = output_code(damaged(text, start, data.draw))
    for launch in code.launches:
        if launch.text in before and launch.unbound is None:
            assert [(a.param, a.text) for a in launch.arguments] == before[launch.text]


@given(st.data(), st.sampled_from(NAMES))
def test_damage_of_the_kernels_never_raises_and_keeps_the_numbers(data, name):
    text, _ = recorded(name)
    code = output_code(damaged(text, 0, data.draw))
    assert code.model.source.text
    for launch in code.launches:
        kernel = code.kernel(launch.kernel)
        if kernel is not None and launch.unbound is None:
            names = [a.param for a in launch.arguments if a.param is not None]
            assert names == [p.name for p in kernel.params][: len(names)]


@given(st.data(), st.sampled_from(NAMES))
@settings(max_examples=60)
def test_one_lost_line_takes_no_other_launch_away(data, name):
    text, start = recorded(name)
    whole = output_code(text)
    lines = text.split("\n")
    first = text.count("\n", 0, start)
    # Lines of `call` only: a line of a subgraph is read once for every call of it.
    first = max(i for i, line in enumerate(lines) if "def call(" in line)
    last = next(i for i, line in enumerate(lines) if i > first and line.startswith(("runner", "def ")))
    simple = [
        i
        for i in range(first + 3, last)
        if SIMPLE.match(lines[i]) and "_graph" not in lines[i] and "subgraph" not in lines[i]
    ]
    at = data.draw(st.sampled_from(simple))
    lost = lines[at]
    lines[at] = lost[: len(lost) - len(lost.lstrip())] + "(" * data.draw(st.integers(0, 2))
    code = output_code("\n".join(lines))
    expected = [c.text for c in whole.launches if c.line != at + 1]
    assert [c.text for c in code.launches] == expected
    assert {c.text: bindings(whole)[c.text] for c in code.launches} == bindings(code)


@given(st.binary(max_size=300), st.floats(0, 1))
def test_bytes_that_are_no_text_never_raise(junk, where):
    text, _ = recorded("cpu/regions")
    data = text.encode()
    at = int(where * len(data))
    from aoti_logs.sources.source import Kind, Source

    damaged_data = data[:at] + junk + data[at:]
    assert OutputCode(Source("x.py", Kind.OUTPUT_CODE, lambda: damaged_data)).model is not None
