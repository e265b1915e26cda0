"""TORCH_LOGS messages and notes about the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log_text import ACCELERATOR, TORCH_LOGS, read


def test_lines_with_one_prefix_are_one_message():
    first, second = read("other\n" + TORCH_LOGS).messages
    assert (first.level, first.time, first.process, first.module, first.module_line) == (
        "DEBUG", "1129 12:26:30.819000", 20962, "torch/_inductor/graph.py", 2722,
    )  # fmt: skip
    assert (first.compile_id, first.artifact, list(first.lines)) == ("0/0", "output_code", [2, 3, 4])
    assert first.text.splitlines()[0] == "Output code:"
    assert second.text == "Output code written to: /tmp/demo/x.py"


def test_source_printed_by_a_logger_is_no_failure():
    events = read(TORCH_LOGS)
    assert not events.assertions
    assert not events.errors


def test_messages_of_ranks_that_interleave_are_told_apart():
    lines = TORCH_LOGS.splitlines(keepends=True)[:3]
    text = "".join(f"[rank{r}]:{line}" for line in lines for r in (0, 1))
    messages = read(text).messages
    assert [(m.rank, list(m.lines)) for m in messages] == [(0, [1, 3, 5]), (1, [2, 4, 6])]


def test_short_form_goes_on_until_something_else_begins():
    text = (
        "DEBUG:torch._inductor.codecache.__output_code:Output code: \nimport torch\n\ndef call(args):\nINFO:torch.x:done\n"
        + ACCELERATOR
    )
    events = read(text)
    code, done = events.messages
    assert (code.module, code.artifact, code.text) == (
        "torch._inductor.codecache",
        "output_code",
        "Output code: \nimport torch\n\ndef call(args):",
    )
    assert done.text == "done"
    assert len(events.errors) == 2


def test_form_of_torch_2_1():
    text = "[2024-04-30 17:13:04,191] [0/0] torch._dynamo.output_graph.__graph_code: [DEBUG] TRACED GRAPH\n"
    (message,) = read(text).messages
    assert (message.level, message.compile_id, message.artifact, message.text) == (
        "DEBUG",
        "0/0",
        "graph_code",
        "TRACED GRAPH",
    )


@given(
    st.sampled_from("VIWEC"),
    st.from_regex(r"(torch|[a-z]{1,5})/[a-z_/]{0,20}[a-z]\.py", fullmatch=True),
    st.integers(0, 10**15),
    st.one_of(st.none(), st.from_regex(r"!?[0-9]{1,2}(/[0-9]{1,2}){0,2}(_[0-9])?", fullmatch=True)),
    st.one_of(st.none(), st.sampled_from(["guards", "output_code", "ir_post_fusion"])),
    st.lists(
        st.from_regex(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,20}", fullmatch=True), min_size=1, max_size=3
    ),
)
def test_any_message_gives_back_its_parts(level, module, process, compile_id, artifact, lines):
    prefix = f"{level}1129 12:26:30.819000 {process} {module}:12]"
    prefix += f" [{compile_id}]" if compile_id else ""
    prefix += f" [__{artifact}]" if artifact else ""
    if not compile_id and not artifact and lines[0].startswith("["):
        return
    (message,) = read("".join(f"{prefix} {line}\n" for line in lines)).messages
    assert (message.module, message.process, message.compile_id, message.artifact) == (
        module,
        process,
        compile_id,
        artifact,
    )
    assert message.text == "\n".join(lines)


def notes(text):
    return [(n.kind, dict(n.facts)) for n in read(text).notes]


def test_command_line_and_its_environment():
    text = "$ CUDA_LAUNCH_BLOCKING=1 TMPDIR='/tmp/a b' python run.py x\n"
    assert notes(text) == [
        ("command", {"CUDA_LAUNCH_BLOCKING": "1", "TMPDIR": "/tmp/a b", "command": "python run.py x"})
    ]


@pytest.mark.parametrize(
    "line",
    [
        "exit code 134",
        "Process exited with code 134",
        'Script done on 2026-11-29 12:25:51+00:00 [COMMAND_EXIT_CODE="134"]',
    ],
)
def test_exit_codes(line):
    assert notes(f"{line}\n") == [("exit", {"code": "134"})]


def test_shapes_printed_by_the_caller():
    assert notes("=== RUN empty_table: ids=(5,) offsets=(6,) table=(0, 4)\n") == [
        ("shapes", {"ids": "(5,)", "offsets": "(6,)", "table": "(0, 4)"})
    ]
    assert notes("table: torch.Size([0, 4])\nx.shape=torch.Size([2])\n") == [
        ("shapes", {"table": "[0, 4]"}),
        ("shapes", {"x": "[2]"}),
    ]


@pytest.mark.parametrize(
    "line",
    ["f(size=(4, 4))", "    buf0 = empty_strided(size=(4, 4))", "RESULT torch.Size([9])", "def f(a=(1, 2)):"],
)
def test_other_text_is_no_shape(line):
    assert notes(line + "\n") == []
