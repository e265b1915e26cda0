"""Which lines are one message: several processes, launchers, styles, and messages with one prefix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoti_logs.parse.logs.log_prefix import default_prefix, prefix_by_grammar
from tests.log_text import CUDA, TORCH_LOGS, assert_partition, read

CODE = "V1129 12:26:30.819000 {} torch/_inductor/graph.py:2722] [0/0] [__output_code] {}\n"


def code(process: int, *rows: str, rank: int | None = None) -> list[str]:
    """Lines of one message as a process prints it."""
    lead = "" if rank is None else f"[rank{rank}]:"
    return [lead + CODE.format(process, row) for row in rows]


def texts(text: str) -> list[str]:
    return [m.text for m in read(text).messages]


def test_processes_without_ranks_that_interleave_are_told_apart():
    one, two = code(11, "Output code:", "a = 1"), code(12, "Output code:", "b = 2")
    assert texts("".join([one[0], two[0], one[1], two[1]])) == ["Output code:\na = 1", "Output code:\nb = 2"]


def test_a_message_goes_on_behind_many_lines_of_another_process():
    one, two = code(11, "Output code:", "a = 1"), code(12, *["x"] * 500)
    assert texts("".join([one[0], *two, one[1]])) == ["Output code:\na = 1", "\n".join(["x"] * 500)]


def test_text_without_prefix_ends_a_message():
    one = code(11, "Output code:", "a = 1")
    assert texts("".join([one[0], "printed\n", one[1]])) == ["Output code:", "a = 1"]


def test_other_output_of_another_rank_does_not_end_a_message():
    one = code(11, "Output code:", "a = 1", rank=0)
    assert texts("".join([one[0], "[rank1]: Traceback (most recent call last):\n", one[1]]))[0] == (
        "Output code:\na = 1"
    )


def test_the_same_beginning_in_one_place_of_torch_is_another_message():
    line = "V1129 12:26:30.819000 11 torch/_inductor/scheduler.py:5748] [0/0] [__fusion] fusing {}\n"
    found = read(line.format("op1 with op2") + line.format("op3 with op4")).messages
    assert [(m.text, list(m.lines)) for m in found] == [
        ("fusing op1 with op2", [1]),
        ("fusing op3 with op4", [2]),
    ]
    assert [m.span.line for m in found] == [1, 2]


def test_lines_that_begin_alike_within_a_message_do_not_split_it():
    assert texts("".join(code(1, "Output code:", "fusing a with b", "fusing c with d"))) == [
        "Output code:\nfusing a with b\nfusing c with d"
    ]


def test_what_a_launcher_wrote_before_the_prefix_is_taken_off():
    lines = code(11, "Output code:", "a = 1")
    found = read("".join(f"(VllmWorker rank=2 pid=295) {line}" for line in lines)).messages
    assert [(m.rank, m.text) for m in found] == [(2, "Output code:\na = 1")]


def test_a_quoted_log_has_messages():
    found = read("".join(f"> {line}" for line in code(11, "Output code:", "a = 1"))).messages
    assert [m.text for m in found] == ["Output code:\na = 1"]


def test_a_message_behind_other_output_on_its_line():
    (message,) = read("tests/test_a.py::test_b " + code(11, "GUARDS:")[0]).messages
    assert (message.text, list(message.lines)) == ("GUARDS:", [1])


@pytest.mark.parametrize("quote", ['raise E("', "b'", "\\n"])
def test_a_line_of_a_log_inside_of_a_string_is_no_message(quote):
    assert not read(f"{quote}{code(11, 'GUARDS:')[0]}").messages


def test_a_path_of_windows():
    line = r"V1129 12:26:30.819000 11 C:\Py\Lib\site-packages\torch\_dynamo\guards.py:12] [0/1] [__guards] GUARDS:"
    (message,) = read(line + "\r\n").messages
    assert (message.module, message.compile_id, message.text) == (
        r"C:\Py\Lib\site-packages\torch\_dynamo\guards.py",
        "0/1",
        "GUARDS:",
    )


def test_a_thread_id_of_torch_2_4():
    (message,) = read("V1129 13:43:32.873000 140618484116352 torch/_dynamo/guards.py:2] [0/0] x\n").messages
    assert message.process == 140618484116352


@pytest.mark.parametrize(
    ("line", "level", "module"),
    [
        (
            "[I1129 12:31:06.209030623 ProcessGroupNCCL.cpp:881] [PG 0 Rank 0] starts\n",
            "INFO",
            "ProcessGroupNCCL.cpp",
        ),
        ("[rank3]:[V1129 12:31:06.209030623 socket.cpp:12] x\n", "DEBUG", "socket.cpp"),
    ],
)
def test_what_c10_logs_is_a_message_of_one_line(line, level, module):
    (message,) = read(line + "printed\n").messages
    assert (message.level, message.module, message.style) == (level, module, "cpp")


# torch 2.2 writes the prefix in every line, torch 2.0 in the first
BRACKET = "[2024-02-08 11:23:34,944] [0/0] torch._dynamo.output_graph.__graph_code: [DEBUG] {}\n"


@pytest.mark.parametrize("lead", ["", "[rank1]:", "> "])
def test_the_prefix_in_brackets_stands_in_every_line_or_in_the_first(lead):
    whole = "".join(lead + BRACKET.format(t) for t in ("TRACED GRAPH", " ===== f =====", "    return (fn,)"))
    first = lead + BRACKET.format("TRACED GRAPH") + " ===== f =====\n    return (fn,)\n"
    for text in (whole, first) if lead == "" else (whole,):
        (message,) = read(text).messages
        assert (message.text, message.artifact, message.style) == (
            "TRACED GRAPH\n ===== f =====\n    return (fn,)",
            "graph_code",
            "bracket",
        )


def test_bytes_that_are_no_text_stay_in_their_message():
    data = b"V1129 12:26:30.819000 11 torch/a.py:1] autograd_config: \x00\xff\n" + TORCH_LOGS.encode()
    events = read(data)
    assert events.messages[0].text == "autograd_config: \x00\ufffd"
    assert_partition(events, len(data))


def test_an_assertion_within_a_message_is_one_all_the_same():
    one = code(11, "Output code:", "a = 1")
    events = read(one[0] + CUDA + one[1])
    assert len(events.assertions) == 1
    assert [m.text for m in events.messages] == ["Output code:", "a = 1"]


@given(
    st.none() | st.integers(0, 10**6),
    st.sampled_from("VIWECF"),
    st.from_regex(r"\d{4} \d\d:\d\d:\d\d\.\d{1,9}", fullmatch=True),
    st.integers(0, 10**15),
    st.from_regex(r"[A-Za-z.\\/_:0-9 ()-]{1,30}\.(?:py|cpp|cc)", fullmatch=True).filter(
        lambda p: p[0] != " " and "]" not in p
    ),
    st.integers(1, 99999),
    st.none() | st.from_regex(r"!?\d{1,3}(/\d{1,3}){0,3}(_\d)?", fullmatch=True),
    st.none() | st.from_regex(r"\w{1,20}", fullmatch=True).filter(str.isascii),
)
def test_pattern_and_grammar_read_the_same_prefix(rank, level, time, process, file, line, trace, artifact):
    text = "" if rank is None else f"[rank{rank}]:"
    text += f"{level}{time} {process} {file}:{line}]"
    text += f" [{trace}]" if trace else ""
    text += f" [__{artifact}]" if artifact else ""
    assert default_prefix(text) == prefix_by_grammar("default", text)


@given(st.lists(st.sampled_from(code(1, "Output code:", "x", "fusing a with b") + code(2, "y", "Output code:") + [
    "free\n", "> quoted\n", CUDA, "[rank0]:" + code(1, "z")[0], "(W rank=1 pid=2) " + code(3, "w")[0],
    "INFO:torch._dynamo.guards:text\n", "[I1129 12:31:06.2 a.cpp:1] x\n", "2025-11-29 12:30:19,301 torch._dynamo.x INFO m\n",
]), max_size=25), st.integers(0, 400), st.binary(max_size=3))  # fmt: skip
def test_messages_in_any_order_cut_anywhere_lose_no_byte(lines, cut, damage):
    whole = "".join(lines).encode()
    data = whole[: max(0, len(whole) - cut)] + damage + whole[len(whole) - cut :]
    events = read(data)
    assert_partition(events, len(data))
    for message in events.messages:
        assert len(message.lines) == len(message.text.split("\n"))
