"""Which lines tlparse could take for records: never fewer than it takes."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aoti_logs.report.heads import heads, usual_prefix
from tests.report_text import PREFIX, recorded

# The pattern of tlparse 0.4.3 (src/lib.rs), in which \d is a digit of any script.
TLPARSE = re.compile(r"[VIWEC]\d{4} \d\d:\d\d:\d\d.\d{6} \d+[^:]+:\d+\] (?P<payload>.)")
WORDS = [
    "V1129 12:10:21.164000 4741 torch/_x.py:1] ",
    "V1129 12:10:21.164000 4741 torch/_x.py",
    "V1129 12:10:21.164000 1",
    "W1129 12:10:21x164000 12:1] ",
    "V112\u0663 12:10:21.164000 4741 a:1] ",
    "V1129 12:10:21.164000 47\u0664 a:1] ",
    "C:/torch/_x.py:12] ",
    ":12] ",
    '{"artifact": {}}',
    "{",
    "}",
    "\t",
    " ",
    "\r",
    "\n",
    "9" * 25,
    "\u00e4",
    "[rank0]:",
]


def taken_by_tlparse(text: str) -> list[tuple[int, str]]:
    """Return (line number, what it reads as JSON) of the lines that it reads as a record with an object."""
    found = []
    for number, line in enumerate(text.split("\n")):
        line = line.removesuffix("\r")  # noqa: PLW2901 as Rust's lines() does
        match = TLPARSE.search(line)
        if match and line[match.start("payload") :].lstrip(" \t\r").startswith("{"):
            found.append((number, line[match.start("payload") :]))
    return found


@given(st.lists(st.sampled_from(WORDS)).map("".join))
@example("junk V1 " + "".join(WORDS[1:3]) + WORDS[0] + '{"a": 1}')
@example(WORDS[0] + ' \t{"a": 1}')
def test_every_line_that_tlparse_takes_is_a_head(text):
    data = text.encode()
    ours = {
        data.count(b"\n", 0, head.start): data[head.env : head.end].decode()
        for head in heads(data)
        if head.taken
    }
    for number, payload in taken_by_tlparse(text):
        assert ours[number] == payload


def test_heads_of_a_recorded_trace_are_its_records(fixtures_dir):
    data = recorded(fixtures_dir)
    starts = [m.start() for m in re.finditer(rb"(?m)^V\d{4} ", data)]
    assert [head.start for head in heads(data)] == starts
    assert all(head.taken and head.plain for head in heads(data))


@pytest.mark.parametrize(
    "prefix",
    [
        PREFIX.replace(b"4741", b"9" * 20),
        PREFIX.replace(b":1345]", b":" + b"9" * 20 + b"]"),
        PREFIX.replace(b"4741", "47\u0664".encode()),
    ],
)
def test_numbers_that_tlparse_stops_at_are_told(prefix):
    (head,) = heads(prefix + b"{}")
    assert head.taken and not head.plain


@pytest.mark.parametrize(
    ("prefix", "usual"),
    [
        (PREFIX.replace(b"torch/", b"C:/torch/"), PREFIX.replace(b"torch/", b"C_/torch/")),
        (PREFIX.replace(b"V1129", b"DEBUG1129"), PREFIX),
        (PREFIX.replace(b"164000", b"164"), PREFIX),
    ],
)
def test_a_prefix_that_only_we_know_is_written_as_torch_writes_it(prefix, usual):
    data = prefix + b"{}"
    (head,) = heads(data)
    assert not head.taken
    assert usual_prefix(data, head) == usual
