"""Wrapped logs: what is inside is read as if it stood alone, and every byte stays accounted for."""

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aoti_logs.parse.events import LogEvents
from aoti_logs.parse.logs.peel import PLAIN, Wrapping, peel
from aoti_logs.parse.logs.sender import NOBODY, Sender
from aoti_logs.parse.logs.unwrapped import Unwrapped, Unwrapper
from aoti_logs.parse.logs.wrapping import wrapping_of
from tests.log_text import ACCELERATOR, CPU, CUDA, PIECES, TORCH_LOGS, assert_partition, read

Wrap = Callable[[int, str], str]


def _utc(n: int, digits: int = 9) -> str:
    """Return a time as Go's RFC3339Nano prints it: without zeros at its end."""
    return (
        f"2024-11-29T12:{n // 60 % 60:02}:{n % 60:02}.{n * 7919 % 10**digits:0{digits}}".rstrip("0").rstrip(
            "."
        )
        + "Z"
    )


WRAPS: dict[str, tuple[Wrap, dict[str, object]]] = {
    "rank": (lambda _, s: f"[rank3]: {s}", {"rank": 3}),
    "rank twice": (lambda _, s: f"[rank3]:[rank3]: {s}", {"rank": 3}),
    "torchrun": (lambda _, s: f"[default3]:{s}", {"rank": 3, "worker": "default3"}),
    "vllm": (
        lambda n, s: f"(VllmWorker rank=2 pid=295) ERROR 06-18 08:{n // 60 % 60:02}:{n % 60:02} [multiproc_executor.py:522] {s}",
        {"rank": 2, "worker": "VllmWorker", "process": 295},
    ),
    "vllm coloured": (
        lambda _, s: f"\x1b[1;36m(EngineCore_0 pid=99)\x1b[0;0m \x1b[31mERROR\x1b[0m 11-29 12:00:00 [core.py:1] {s}",
        {"worker": "EngineCore_0", "process": 99},
    ),
    "ray": (lambda _, s: f"\x1b[36m(train pid=12, ip=10.0.0.1)\x1b[0m {s}", {"worker": "train", "process": 12}),
    "docker logs -t": (lambda n, s: f"2024-11-29T12:{n // 60 % 60:02}:{n % 60:02}.{n:09}Z {s}", {}),
    "docker": (
        lambda n, s: json.dumps({"log": s + "\n", "stream": "stderr", "time": _utc(n)}, separators=(",", ":")),
        {"pipe": "stderr"},
    ),
    "compose": (lambda _, s: f"serve-1  | {s}", {"worker": "serve-1"}),
    "cri": (lambda n, s: f"{_utc(n)} stderr F {s}", {"pipe": "stderr"}),
    "kubectl": (lambda _, s: f"[pod/serve-7d9-x2/main] {s}", {"worker": "serve-7d9-x2/main"}),
    "stern": (lambda _, s: f"serve-7d9f8-x2x4z main {s}", {"worker": "serve-7d9f8-x2x4z main"}),
    "journal": (lambda n, s: f"Nov 29 12:00:{n % 60:02} host serve[77]: {s}", {"worker": "serve", "process": 77}),
    "actions": (lambda n, s: f"2024-01-01T00:00:{n % 60:02}.0000000Z {s}", {}),
    "gh run view": (lambda n, s: f"build\tRun tests\t2024-01-01T00:00:{n % 60:02}.0000000Z {s}", {"worker": "build"}),
    "gitlab": (lambda n, s: f"2024-05-22T12:43:{n % 60:02}.962646Z 01E {s}", {"pipe": "stderr"}),
    "jenkins": (lambda n, s: f"[2024-01-01T12:00:{n % 60:02}.123Z] {s}", {}),
    "ts": (lambda n, s: f"[2024-01-01 00:00:{n % 60:02}] {s}", {}),
    "clock": (lambda n, s: f"12:00:{n % 60:02}  {s}", {}),
    "srun": (lambda _, s: f" 12: {s}", {"rank": 12}),
    "mpirun": (lambda _, s: f"[1,4]<stderr>:{s}", {"rank": 4, "pipe": "stderr"}),
    "box": (lambda _, s: f"│ {s:<150} │", {}),
    "quote": (lambda _, s: f"> {s}", {}),
    "mail": (lambda _, s: f">> {s}", {}),
    "colour": (lambda _, s: f"\x1b[31m{s}\x1b[0m", {}),
    "kubernetes of ranks": (lambda n, s: f"{_utc(n)} stdout F [rank5]: {s}", {"rank": 5, "pipe": "stdout"}),
}  # fmt: skip
ENDS = [*sorted(set(PIECES) - {CUDA}), CUDA * 3]


def wrapped(text: str, wrap: Wrap, start: int = 0) -> list[str]:
    return [wrap(start + n, line) + "\n" for n, line in enumerate(text.removesuffix("\n").split("\n"))]


def told(events: LogEvents, lines: bool = True):
    """Return what a log says, without byte offsets and senders."""

    def place(span):
        return (span.line, span.end_line) if lines else None

    return {
        "errors": [
            (e.form, e.exception_type, e.message, e.text, e.signal, place(e.span), e.raised_from and e.raised_from.line,
             [(f.file, f.line, f.function, f.code, place(f.span)) for f in e.python_frames]) for e in events.errors
        ],
        "assertions": [(a.message, a.file, a.line, a.count, a.blocks, a.threads, place(a.first), place(a.last)) for a in events.assertions],
        "messages": [(m.level, m.time, m.process, m.module, m.compile_id, m.artifact, m.text, list(m.lines) if lines else 0) for m in events.messages],
        "stacks": [(s.format, [(f.number, f.symbol, f.library, f.offset, place(f.span)) for f in s.frames]) for s in events.stacks],
        "dumps": [(d.format, d.phase, d.kernel, d.argument, d.dtype, d.shape, d.min, d.value, place(d.span)) for d in events.dumps],
        "notes": [(n.kind, n.facts) for n in events.notes],
    }  # fmt: skip


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("text", ENDS, ids=lambda text: text[:20])
def test_what_is_wrapped_is_read_as_if_it_stood_alone(name, text):
    wrap, facts = WRAPS[name]
    text = "starting\n" * 3 + text
    data = "".join(wrapped(text, wrap)).encode()
    events = read(data)
    assert_partition(events, len(data))
    assert str(told(events)) == str(told(read(text)))
    rows: list[Any] = [*events.errors, *events.assertions, *events.messages, *events.dumps, *events.stacks]
    for row in rows:
        assert row.sender is not None
        assert {key: getattr(row.sender, key) for key in facts} == facts
        if "rank" in facts and hasattr(row, "rank"):
            assert row.rank == facts["rank"]


@given(
    st.lists(
        st.tuples(st.sampled_from(ENDS), st.sampled_from(["rank", "ray", "compose", "cri", "bare"])),
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
@settings(deadline=None, max_examples=100)
def test_streams_interleaved_line_by_line_are_read_as_if_each_stood_alone(pieces, random):
    formats: dict[str, Callable[[int, int, str], str]] = {
        "rank": lambda k, _, s: f"[rank{k}]: {s}",
        "ray": lambda k, _, s: f"(f pid={k}) {s}",
        "compose": lambda k, _, s: f"2024-11-29T12:00:00.1Z stderr F (g pid={k}) {s}",
        "cri": lambda k, n, s: f"{_utc(n)} stderr F [rank{k}]: {s}",
        "bare": lambda k, _, s: f"[rank{k}]:{s}" if s[:1].strip() else f"[rank{k}]: {s}",
    }
    queues = [
        wrapped("starting\n" + text, partial(formats[form], k)) for k, (text, form) in enumerate(pieces)
    ]
    whole = list(queues)
    queues = [list(queue) for queue in queues]
    out = []
    while any(queues):
        out.append(random.choice([q for q in queues if q]).pop(0))
    data = "".join(out).encode()
    events = read(data)
    assert_partition(events, len(data))
    found, alone = told(events, lines=False), [told(read("".join(q)), lines=False) for q in whole]
    for kind, rows in found.items():
        if kind != "notes":
            assert sorted(map(str, rows)) == sorted(str(row) for one in alone for row in one[kind])


def test_tracebacks_of_eight_ranks_line_by_line_are_eight():
    lines = [[f"[rank{k}]: {line}" for line in ACCELERATOR.splitlines(keepends=True)] for k in range(8)]
    events = read("".join(line for row in zip(*lines, strict=True) for line in row))
    errors = [e for e in events.errors if e.python_frames]
    assert [(e.rank, e.exception_type, len(e.python_frames)) for e in errors] == [
        (k, "torch.AcceleratorError", 1) for k in range(8)
    ]
    assert [e.python_frames[0].span.line for e in errors] == [9 + k for k in range(8)]


def test_processes_of_one_name_are_told_apart_by_their_ids():
    lines = [
        [f"(Trainer pid={k}) {line}" for line in ACCELERATOR.splitlines(keepends=True)] for k in (11, 12)
    ]
    events = read("".join(line for row in zip(*lines, strict=True) for line in row))
    assert [(e.sender, len(e.python_frames)) for e in events.errors if e.python_frames] == [
        (Sender(worker="Trainer", process=k), 1) for k in (11, 12)
    ]


def test_storms_of_workers_are_one_assertion_each():
    text = "".join(f"(Worker_TP{k % 2} pid=7{k % 2}) {CUDA}" for k in range(200))
    assert [(a.rank, a.count, a.sender) for a in read(text).assertions] == [
        (k, 100, Sender(k, f"Worker_TP{k}", 70 + k)) for k in (0, 1)
    ]


def test_partial_lines_of_a_container_runtime_are_joined():
    text = (
        f"2024-11-29T12:00:00.1Z stderr P {CUDA[:70]}\n2024-11-29T12:00:00.1Z stdout F step 3\n"
        f"2024-11-29T12:00:00.2Z stderr P {CUDA[70:150]}\n2024-11-29T12:00:00.3Z stderr F {CUDA[150:]}"
    )
    (got,) = read(text).assertions
    assert (got.message, got.first.line, got.first.end_line) == ("index out of bounds: 0 <= tmp4 < ks0", 1, 4)
    assert_partition(read(text), len(text))


def test_lines_that_gitlab_continues_are_joined():
    text = f"2024-05-22T12:43:46.962646Z 01E {CUDA[:70]}\n2024-05-22T12:43:46.962646Z 01E+{CUDA[70:]}"
    (got,) = read(text).assertions
    assert got.message == "index out of bounds: 0 <= tmp4 < ks0"
    assert_partition(read(text), len(text))


def test_long_line_that_docker_split_is_joined():
    def record(part: str) -> str:
        return (
            json.dumps(
                {"log": part, "stream": "stderr", "time": "2024-11-29T12:00:00Z"}, separators=(",", ":")
            )
            + "\n"
        )

    text = record(CUDA[:80]) + record(CUDA[80:])
    (got,) = read(text).assertions
    assert got.message == "index out of bounds: 0 <= tmp4 < ks0"
    assert_partition(read(text), len(text))


def test_log_with_html_escapes_is_read():
    text = CUDA.replace("<", "&lt;") + "std::vector&lt;int&gt;\n" + "RuntimeError: a &amp; b &lt; c\n"
    events = read(text)
    assert events.assertions[0].message == "index out of bounds: 0 <= tmp4 < ks0"
    assert events.errors[0].message == "a & b < c"
    assert_partition(events, len(text))


def test_entities_in_a_log_with_real_brackets_stay():
    (error,) = read("a < b\nRuntimeError: &lt;x&gt;\n").errors
    assert error.message == "&lt;x&gt;"


def test_log_that_is_indented_is_read():
    text = "".join(f"    {line}" for line in TORCH_LOGS.splitlines(keepends=True))
    assert [m.text for m in read(text).messages] == [m.text for m in read(TORCH_LOGS).messages]


def test_traceback_behind_a_progress_bar_is_read():
    text = "  0%|          | 0/10\r 10%|█         | 1/10 [00:01<00:09]\r" + ACCELERATOR
    (first, *_) = read(text).errors
    assert first.exception_type == "torch.AcceleratorError"
    assert len(first.python_frames) == 1
    assert_partition(read(text), len(text.encode()))


def test_blank_lines_that_the_excepthook_leaves_bare_belong_to_the_rank_above():
    """torch/distributed/distributed_c10d.py puts `[rank0]: ` before every line but the empty ones."""
    text = (
        "ValueError: x\n\nThe above exception was the direct cause of the following exception:\n\n"
        + ACCELERATOR
    )
    bare = "".join(f"[rank0]: {line}" if line.strip() else line for line in text.splitlines(keepends=True))
    assert told(read(bare)) == told(read(text))


LOOK_ALIKES = {
    "numbers": "0: a\n1: b\nloss 3\n",
    "table": "name | loss\nstep | 3\nRuntimeError: x\n",
    "compiler": "a.cpp:3:1: error: x\n  3 |   int a;\n    |   ^\n",
    "words": "loss: 3\nacc: 4\nRuntimeError: x\n",
    "frames": '  File "/a.py", line 3, in f\n    x()\n  File "/b.py", line 4, in g\n    y()\n',
    "doctest": ">>> x\n>>> y\nRuntimeError: x\n",
    "pytest": ">       raise RuntimeError('x')\nE       RuntimeError: x\n\na.py:3: RuntimeError\n",
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_logs_that_only_look_wrapped_are_not(name):
    assert wrapping_of(LOOK_ALIKES[name].encode()) is None


def by_line(data: bytes, wrapping: Wrapping) -> dict[Sender, bytes]:
    """Take every line apart by itself."""
    streams: dict[Sender, bytes] = {}
    last = None
    for line in data.split(b"\n"):
        one = peel(line, wrapping)
        stream = last if last is not None and not line.strip() else one.stream
        last = stream
        streams[stream] = streams.get(stream, b"") + one.text + b"\n"
    return streams


def by_stream(text: Unwrapped) -> dict[Sender, bytes]:
    ends = [*(at for at in text.borders), text.size]
    return {s: bytes(text.data[a:b]) for s, a, b in zip(text.senders, text.starts, ends, strict=True)}


LINES = [
    "[rank0]: x", "[rank1]:y", "[rank1]:[rank1]: z", "", " ", "step 3", "(w pid=3) a", "(w pid=4) ERROR 11-29 12:00:00 [c.py:1] b",
    "2024-11-29T12:00:00.5Z q", "2024-11-29T12:00:01.7Z [rank0]: q", "2024-11-29T12:00:01.7Z (x", "[rank0]: Nov 29 12:00:00 h u[3]: v",
    "2024-01-01 12:00:00,123 ERROR a: b", "I see", "[rank0]: INFO 3", "[rank0]: ERROR 11-29 12:00:00 x.py:1] c", "0", "[0]",
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(LINES), st.integers(1, 40)), min_size=1, max_size=12))
@settings(deadline=None, max_examples=200)
def test_lines_told_by_their_beginnings_are_those_taken_apart_one_by_one(rows):
    data = "".join(f"{line}\n" * times for line, times in rows).encode()
    text = Unwrapper(PLAIN).read(data)
    expected = by_line(data[:-1], PLAIN)
    assert {s: t for s, t in by_stream(text).items() if t} == expected
    covered = sorted(
        r
        for a, b in zip(text.starts, [*text.borders, text.size], strict=True)
        for r in text.ranges(a, b)
        if a < b
    )
    assert covered[0][0] == 0 and covered[-1][1] == len(data)
    assert all(one[1] == two[0] for one, two in pairwise(covered))


@given(
    st.lists(st.tuples(st.sampled_from(sorted(WRAPS)), st.sampled_from(ENDS)), min_size=1, max_size=4),
    st.integers(0, 3000),
    st.integers(0, 3000),
    st.binary(max_size=3),
)
@settings(deadline=None, max_examples=150)
def test_damaged_wrappings_lose_no_byte(pieces, start, end, noise):
    data = "".join("".join(wrapped(text, WRAPS[name][0])) for name, text in pieces).encode()
    data = data[start:][:end] + noise + data[end:]
    assert_partition(read(data), len(data))


def test_log_without_wrapping_has_no_senders():
    assert {e.sender for e in read(CPU).errors} == {None}
    assert wrapping_of(CPU.encode()) is None
    assert peel(b"x").sender == NOBODY


def test_a_byte_that_is_no_utf_8_in_a_record_of_docker_is_read():
    record = b'{"log":"hello\\n","stream":"stdout","time":"2026-11-29T12:00:00.000000000Z"}\n'
    log = record.replace(b"stdout", b"std\x80out") + record.replace(b"2026", b"\x802026") + record * 3
    assert_partition(read(log), len(log))
