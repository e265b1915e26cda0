"""Formats of a user's own (TORCH_LOGS_FORMAT), told from what Python's logging wrote with them."""

import io
import logging

import pytest

from aoti_logs.parse.logs.log_format import log_format
from tests.log_text import read

RECORDS = [
    ("torch._inductor.graph.__output_code", "DEBUG", "Output code: \nimport torch\n\ndef call(args):"),
    ("torch._dynamo.guards", "INFO", "3 guards"),
    ("torch.fx.experimental.symbolic_shapes", "INFO", "create_env"),
    ("root", "INFO", "step 1"),
    ("torch._inductor.scheduler.__fusion", "DEBUG", "fusing op1 with op2"),
]


def written(form: str) -> str:
    """What a handler with a format writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter(form))
    for name, level, text in RECORDS:
        handler.emit(logging.LogRecord(name, getattr(logging, level), "/x/graph.py", 12, text, (), None))
    return stream.getvalue()


@pytest.mark.parametrize(
    "form",
    [
        "%(asctime)s %(name)s %(levelname)s %(message)s",
        "%(asctime)s - %(name)s - %(levelname)s - %(message)s",
        "[%(asctime)s] [%(levelname)s] %(name)s: %(message)s",
        "%(levelname)-8s %(name)s %(message)s",
        "%(asctime)s %(levelname)s [%(process)d] %(name)s %(filename)s:%(lineno)d - %(message)s",
        "%(levelname)s %(asctime)s %(filename)s:%(lineno)d] %(name)s: %(message)s",
        "%(asctime)s|%(levelname)s|%(name)s|%(message)s",
        "%(name)s: %(levelname)s: %(message)s",
        "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s",
    ],
)
def test_messages_are_read_back_whatever_the_format(form):
    found = read(written(form) + "epoch 1\n").messages
    assert [(m.module, m.artifact) for m in found] == [
        ("torch._inductor.graph", "output_code"),
        ("torch._dynamo.guards", None),
        ("torch.fx.experimental.symbolic_shapes", None),
        ("torch._inductor.scheduler", "fusion"),
    ]
    own = [r for r in RECORDS if r[0] != "root"]
    assert [m.text for m in found[:-1]] == [text for _, _, text in own[:-1]]
    assert [m.level for m in found] == [level for _, level, _ in own]


def test_what_another_logger_writes_in_the_format_is_free_text():
    events = read(written("%(asctime)s %(name)s %(levelname)s %(message)s"))
    assert [(u.expected, u.span.text.split()[-2:]) for u in events.unparsed] == [("text", ["step", "1"])]


def test_another_logger_in_the_short_form_has_messages_of_one_line():
    events = read(written("%(levelname)s:%(name)s:%(message)s").replace("step 1\n", "step 1\nprinted\n"))
    assert ("root", "step 1") in [(m.module, m.text) for m in events.messages]


@pytest.mark.parametrize(
    "text",
    [
        "INFO torch.compile takes 3 s\nINFO torch.compile takes 4 s\n",  # a function of torch, no logger
        "torch._inductor.graph: text\n" * 3,  # neither level nor time
        "2025-11-29 12:30:19,301 torch._dynamo.guards INFO once\n",  # no second line that agrees
    ],
)
def test_no_format_is_told_where_none_is_certain(text):
    assert log_format(text.encode()) is None
