"""Graph breaks: where, why, what to do, in every version's words."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.compiles.graph_break import GraphBreak, read_graph_break, read_restart_reason

PAYLOADS = Path(__file__).parent / "payloads"


def read(name: str) -> GraphBreak:
    return read_graph_break((PAYLOADS / f"graph_break_{name}.txt").read_text())


def test_torch_2_13_says_where_why_and_what_to_do():
    found = read("printing_2.13")
    assert (found.file, found.line, found.function) == ("/srv/demo/graph_breaks.py", 13, "f")
    assert found.kind == "Failed to trace builtin operator"
    assert found.reason is not None
    assert found.reason.startswith("Encountered graph break when attempting to trace CALL: a function call")
    assert found.reason.endswith("\n\nFailed to trace builtin operator")
    assert found.explanation is not None
    assert found.explanation.startswith("Dynamo does not know how to trace builtin operator `print`")
    assert len(found.hints) == 3
    assert found.hints[2] == "Please report an issue to PyTorch."
    assert (
        found.context == "builtin print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False"
    )
    assert found.url == "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html"
    assert found.gb_id == "gb0059"
    assert not found.skipped


def test_the_users_stack_and_the_compilers_are_told_apart():
    found = read("printing_2.13")
    assert [f[2] for f in found.user_frames] == ["<module>", "printing", "f"]
    assert [f[1] for f in found.user_frames][1:] == [16, 13]
    assert found.user_frames[-1][3] == 'print("a")'
    assert found.n_compiler_frames == 9
    assert found.exception_type == "torch._dynamo.exc.Unsupported"
    assert "Traceback (most recent call last)" not in found.text


def test_a_graph_break_without_exception_has_no_compiler_frames():
    found = read("branch_2.13")
    assert (found.kind, found.n_compiler_frames, found.exception_type) == (
        "Data-dependent branching",
        0,
        None,
    )
    assert found.explanation is not None
    assert "The branch condition involves a tensor" in found.explanation
    assert len(found.user_frames) == 3


def test_a_second_graph_break_while_handling_the_first_is_behind_it():
    found = read("loop_2.13")
    assert found.skipped
    assert found.kind == "Call to `torch._dynamo.graph_break()`"
    assert found.reason is not None
    assert found.reason.splitlines()[-1] == "graph break in loop"
    assert found.gb_id == "gb0025"
    assert len(found.hints) == 2
    assert found.context is not None
    assert found.context.splitlines()[-1] == "frame skipped: f (/srv/demo/graph_breaks.py line 29)"
    assert found.line == 32
    assert [f[1] for f in found.user_frames][1:] == [35, 32]


def test_a_message_of_several_lines_stays_whole():
    assert read("message_2.13").explanation == "User-inserted graph break. Message: why\nnot  # two"


def test_a_higher_order_operator_is_named():
    found = read("operator_2.13")
    assert found.operator == "torch.utils.checkpoint.checkpoint"
    assert found.function == "inner"


def test_the_note_of_verbose_mode_is_no_code_of_a_frame():
    found = read("verbose_2.13")
    assert found.user_frames[-1][3] == "if x.sum() > 0:"
    assert [f[2] for f in found.user_frames] == ["<module>", "verbose", "branch", "f"]


def test_torch_2_6_gives_a_reason_alone():
    found = read("2.6")
    assert (found.file, found.line, found.function) == ("/srv/demo/torch26/scenarios.py", 272, "head")
    assert (
        found.reason
        == "Unsupported: builtin: print [<class 'torch._dynamo.variables.constant.ConstantVariable'>] False"
    )
    assert (found.kind, found.explanation, found.hints, found.url) == (None, None, (), None)
    assert found.n_compiler_frames == 7


def test_torch_2_9_gives_hints_and_has_no_page_for_this_kind():
    found = read("2.9")
    assert (found.kind, found.url, found.line) == ("Data-dependent branching", None, 273)
    assert len(found.hints) == 2


def test_a_skipped_frame_takes_its_reason_from_the_exception():
    """Lines of torch/_dynamo/convert_frame.py around the exception of a recorded graph break."""
    exception = (PAYLOADS / "graph_break_message_2.13.txt").read_text().partition("\nTraceback")[2]
    found = read_graph_break(
        "Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.\n"
        "torch.compile will skip tracing the frame f (/srv/demo/a.py line 3) and fall back to eager.\n"
        "The graph break occurred in the following user code:\n"
        '  File "/srv/demo/a.py", line 5, in f\n    graph_break()\n\nTraceback' + exception
    )
    assert found.skipped
    assert (found.file, found.line, found.function) == ("/srv/demo/a.py", 5, "f")
    assert found.reason == found.kind == "Call to `torch._dynamo.graph_break()`"
    assert found.explanation == "User-inserted graph break. Message: why\nnot  # two"
    assert found.n_compiler_frames == 7


def test_a_failing_backend_names_the_function_and_its_exception():
    found = read("not_converted_2.13")
    assert (found.file, found.line, found.function) == ("/srv/demo/graph_breaks.py", None, "f")
    assert found.reason == "aten::item"
    assert found.exception_type == "torch._subclasses.fake_tensor.DataDependentOutputException"
    assert not found.skipped


def test_a_traceback_in_the_developers_context_is_not_the_compilers():
    found = read("backend_2.13")
    assert (found.kind, found.gb_id, found.skipped) == ("Backend compiler exception", "gb0219", True)
    assert found.context is not None
    assert found.context.splitlines()[-1].strip() == "return x + 1"
    assert found.n_compiler_frames == 15
    assert found.function is None


def test_a_restart_reason_has_no_place():
    text = "'skip function graph_break in file /opt/torch24/lib/python3.11/site-packages/torch/_dynamo/decorators.py'"
    found = read_restart_reason(text)
    assert (found.reason, found.file, found.text) == (text, None, text)
    message = (
        (PAYLOADS / "graph_break_2.9.txt").read_text().split("Graph Break Reason: ")[1].split("\n\nUser")[0]
    )
    found = read_restart_reason(message)
    assert found.kind == "Data-dependent branching"
    assert len(found.hints) == 2


LINES = sorted({line for path in PAYLOADS.glob("graph_break_*") for line in path.read_text().split("\n")})


@given(st.lists(st.sampled_from(LINES) | st.text(max_size=20), max_size=12).map("\n".join))
def test_no_text_raises_whatever_the_order_of_its_lines(text):
    found = read_graph_break(text)
    assert found.n_compiler_frames <= text.count("File")
    assert all(line in text for line in found.text.split("\n"))
    read_restart_reason(text)


@given(
    st.from_regex(r"/[a-z /]{1,20}\.py", fullmatch=True),
    st.integers(1, 10**6),
    st.text(st.characters(codec="ascii", categories=["L", "P"]), min_size=1, max_size=30),
)
def test_place_reason_and_hint_are_those_printed(file, line, words):
    found = read_graph_break(
        f"Graph break in user code at {file}:{line}\nGraph Break Reason: {words}\n  Explanation: {words}\n  Hint: {words}\n"
        f"  Hint: two\n\n  Developer debug context: {words}\n\nUser code traceback:\n"
        f'  File "{file}", line {line}, in f\n    x = 1\n\nNoneType: None\n'
    )  # fmt: skip
    assert (found.file, found.line, found.function) == (file, line, "f")
    assert (found.reason, found.kind, found.explanation, found.context) == (words, words, words, words)
    assert found.hints == (words, "two")


@pytest.mark.corpus
def test_every_graph_break_of_the_corpus_has_place_and_reason(corpus_dir):
    from aoti_logs.records.trace import TraceIndex
    from aoti_logs.sources.source import Kind, Source

    seen = 0
    for path in sorted(corpus_dir.rglob("*.log")):
        data = path.read_bytes()
        if b'"dynamo_graph_break_reason"' not in data:
            continue
        trace = TraceIndex(Source(path.name, Kind.TORCH_TRACE, partial(bytes, data)))
        for record in trace.find("artifact:dynamo_graph_break_reason"):
            found = read_graph_break(record.text)
            assert found.file is not None
            assert found.reason
            assert found.function
            assert found.user_frames[-1][1] == found.line
            seen += 1
    assert seen > 10
