"""Prefixes of launchers: the patterns that read logs and the grammar that says what they look like agree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lark.exceptions import LarkError

from aoti_logs._grammar import grammar_folder, parser
from aoti_logs.parse.logs.peel import Wrapping, peel
from aoti_logs.parse.logs.prefix_kinds import BY_NAME, sender_of
from aoti_logs.parse.logs.sender import Sender
from tests.test_grammar_samples import rules_of, samples

SAMPLES = samples(grammar_folder() / "launcher_prefix.lark")
TIMES = ("UTC", "DATE", "US_DATE", "SHORT_DATE", "SYSLOG_TIME", "CLOCK", "UPTIME_SECONDS")
WORKERS = ("PROCESS_NAME", "RAY_NAME", "UNIT", "APP", "POD", "JOB_NAME", "SERVICE", "HOST")
PIPES = {"O": "stdout", "E": "stderr"}


def by_grammar(rule: str, text: str) -> Sender | None:
    """Return what the grammar reads in a whole prefix."""
    try:
        tree = parser("launcher_prefix", rules_of("launcher_prefix")).parse(text, start=rule)
    except LarkError:
        return None
    found: dict[str, str] = {}
    for token in tree.scan_values(lambda value: value is not None):
        found.setdefault(token.type, str(token))
    rank, pipe = found.get("RANK"), found.get("PIPE") or found.get("GITLAB_PIPE")
    worker = next((found[name] for name in WORKERS if name in found), None)
    if rule in {"torchrun", "tee"}:
        worker = (found.get("ROLE") or found["OWN_ROLE"]) + found["RANK"]
    if rule == "stern":
        worker = f"{found['POD_NAME']} {found['CONTAINER']}"
    if rule in {"journal", "journal_iso", "syslog"}:
        worker = found.get("UNIT") or found["APP"]
    axes = found.get("PARALLEL") or (worker if rule == "process" else None) or ""
    if rank is None and "TP" in axes and not any(axis in axes for axis in ("DP", "PP")):
        rank = axes.partition("TP")[2].partition(" ")[0].partition("_")[0]
    return Sender(
        rank=int(rank) if rank else None,
        worker=worker,
        process=int(found["PROCESS"]) if "PROCESS" in found else None,
        pipe=PIPES.get(pipe, pipe) if pipe else None,
        time=next((found[name] for name in TIMES if name in found), None),
        level=found.get("LEVEL"),
    )


def by_pattern(rule: str, text: str) -> Sender | None:
    """Return what the pattern reads in it."""
    tails = {
        "gh_run": "2024-01-01T00:00:00.0000000Z ",
        "stamp_us": "- INFO - ",
        "fence": "",
        "rank_of_c10": "[E1129 12:00:00.000000000 ProcessGroupNCCL.cpp:621] x",
    }
    line = text + tails.get(rule, "x")
    found = BY_NAME[rule].regex.match(line.encode())
    return sender_of(BY_NAME[rule], found) if found and found.end() == len(text.encode()) else None


@pytest.mark.parametrize(("rule", "text"), SAMPLES)
def test_pattern_and_grammar_read_the_same(rule, text):
    assert by_pattern(rule, text) == by_grammar(rule, text)
    assert by_grammar(rule, text) is not None


@given(st.sampled_from(SAMPLES), st.data())
@settings(deadline=None, max_examples=300)
def test_other_numbers_change_nothing_of_that(sample, data):
    rule, text = sample
    if rule == "gh_run":
        return
    digits = [n for n, char in enumerate(text) if char.isdigit()]
    changed = list(text)
    for at in digits:
        changed[at] = data.draw(st.sampled_from("0123456789"))
    assert by_pattern(rule, "".join(changed)) == by_grammar(rule, "".join(changed))


def test_every_kind_has_a_sample():
    assert {rule for rule, _ in SAMPLES} == BY_NAME.keys() - {"mark"}


TOLD = [
    ("[rank0]: x", "x", {"rank": 0}),
    ("[rank0]:[rank0]: x", "x", {"rank": 0}),
    ("[default3]:[rank11]:   File", "  File", {"rank": 11, "worker": "default3"}),
    ("[default3]:  File", "  File", {"rank": 3, "worker": "default3"}),
    ("(VllmWorker rank=2 pid=295) ERROR 06-18 08:08:25 [multiproc_executor.py:522]   File", "  File",
     {"rank": 2, "worker": "VllmWorker", "process": 295, "time": "06-18 08:08:25", "level": "ERROR"}),
    ("\x1b[1;36m(Worker_TP1 pid=77)\x1b[0;0m \x1b[31mERROR\x1b[0m 11-29 12:00:00 [core.py:1] x", "x",
     {"rank": 1, "worker": "Worker_TP1", "process": 77, "time": "11-29 12:00:00", "level": "ERROR"}),
    ("(Worker_PP1_TP1 pid=77) x", "x", {"worker": "Worker_PP1_TP1", "process": 77}),
    ("\x1b[36m(train_fn pid=123, ip=10.0.0.1)\x1b[0m x\x1b[32m [repeated 3x across cluster]\x1b[0m", "x",
     {"worker": "train_fn", "process": 123}),
    ("[2025-01-01 12:00:00 TP3] x", "x", {"rank": 3, "time": "2025-01-01 12:00:00"}),
    ("2024-11-29T12:00:00.1Z stderr F (EngineCore_0 pid=5) x", "x",
     {"worker": "EngineCore_0", "process": 5, "pipe": "stderr", "time": "2024-11-29T12:00:00.1Z"}),
    ('{"log":"a \\u003cb\\u003e \\"c\\" \\u2502\\n","stream":"stderr","time":"2024-11-29T12:00:00Z"}', 'a <b> "c" │',
     {"pipe": "stderr", "time": "2024-11-29T12:00:00Z"}),
    ("[pod/serve-abc-12/main] x", "x", {"worker": "serve-abc-12/main"}),
    ("build\tRun tests\t2024-01-01T00:00:00.0000000Z ##[error]x", "x",
     {"worker": "build", "time": "2024-01-01T00:00:00.0000000Z"}),
    ("2024-01-01 12:00:00,123 ERROR my.module: x", "x", {"time": "2024-01-01 12:00:00,123", "level": "ERROR"}),
    ("2024-01-01 12:00:00,123 - my.module - ERROR - x", "x", {"time": "2024-01-01 12:00:00,123", "level": "ERROR"}),
    ("2024-01-01 12:00:00.123 | ERROR    | my.module:run:12 - x", "x", {"time": "2024-01-01 12:00:00.123", "level": "ERROR"}),
    ("2024-01-01 12:00:00 | ERROR | fairseq.trainer | x", "x", {"time": "2024-01-01 12:00:00", "level": "ERROR"}),
    ("11/29/2024 12:00:00 - INFO - __main__ - x", "x", {"time": "11/29/2024 12:00:00", "level": "INFO"}),
    ("[2024-01-01 12:00:00,123] [INFO] [engine.py:12:step] x", "x", {"time": "2024-01-01 12:00:00,123", "level": "INFO"}),
    ("[2024-01-01 12:00:00,123][__main__][ERROR] - x", "x", {"time": "2024-01-01 12:00:00,123", "level": "ERROR"}),
    ("2024-01-01 12:00:00,123 ERROR RuntimeError: x", "RuntimeError: x", {"time": "2024-01-01 12:00:00,123", "level": "ERROR"}),
    ("2024-01-01 12:00:00,123 ERROR torch.AcceleratorError: x", "torch.AcceleratorError: x",
     {"time": "2024-01-01 12:00:00,123", "level": "ERROR"}),
    ("│ ERROR 09-27 06:46:46 engine.py:157] x      │", "x", {"time": "09-27 06:46:46", "level": "ERROR"}),
    ("\x1b]8;;http://x\x07x\x1b]8;;\x07", "x", {}),
    ("\x1b_bk;t=1700000000000\x07x", "x", {}),
    ("```python", "", {}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "text", "told"), TOLD)
def test_line_is_peeled(line, text, told):
    peeled = peel(line.encode())
    assert peeled.text.decode() == text
    assert peeled.sender == Sender(**told)


@pytest.mark.parametrize(
    "line",
    [
        "(see below) x", "[rank] x", "[0] x", "0: x", "loss: 3", "a | b", "> x", ">>> x = 3", "(pid 12) x", "12:00 x",
        "[Rank 0] Watchdog caught collective operation timeout", "[W1129 12:00:00.000000000 Module.cpp:206] x",
        "V1129 12:26:30.819000 20962 torch/_inductor/graph.py:2722] [0/0] [__output_code] x",
        "[2024-01-17 13:55:29,864] [0/0] torch._dynamo.symbolic_convert: [DEBUG] x",
        "2024-01-01 12:00:00,123 DEBUG torch._inductor.graph: x", "[2024-01-01 12:00:00,123] DEBUG torch._dynamo.x - x",
        "ERROR:root:x", "ERROR: x", "INFO 3 steps", "Nov 29 was a good day", "[  before_launch - k - arg  ]:",
        "frame #0: f() + 0x1 (0x2 in lib.so)", "{'log': 3}", "tensor([0.1])", "[stepa1]: x",
        "/tmp/a.py:3: unknown: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.",
    ],
)  # fmt: skip
def test_text_that_only_looks_like_a_prefix_stays(line):
    peeled = peel(line.encode())
    assert peeled.text.decode() == line
    assert peeled.sender == Sender()


PIECES = [text for _, text in SAMPLES] + ["\x1b[31m", "\x1b", "{\"log\":\"", "\\n\",\"stream\":\"stderr\",\"time\":\"2024\"}",
          "&lt;", "│", "\r", "x", " ", "\\u00e9", "\\ud83d\\ude00", "é", "```", ">", "\t20", "ERROR "]  # fmt: skip


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=10).map("".join),
    st.sets(st.sampled_from(sorted(BY_NAME))),
    st.integers(0, 3),
    st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_parts_stand_in_the_line_in_order(line, names, indent, escaped):
    """Nothing is made up: what is left stands in the line, and only escapes are written in another way."""
    raw = line.encode("utf-8", "replace")
    peeled = peel(raw, Wrapping(frozenset(names), indent, escaped))
    at = 0
    for part, offset in peeled.parts:
        assert at <= offset <= offset + len(part) <= len(raw)
        if not escaped and b'{"log"' not in raw:
            assert raw[offset : offset + len(part)] == part
        at = offset + len(part)
